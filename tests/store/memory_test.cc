// What is special about the store in memory: its objects are blocks of memory that keep their version, and whole
// prefixes are renamed at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/buffer.hpp"
#include "sherd/store.hpp"
#include "store/capabilities.hpp"
#include "store/listing.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace memory_test {

using testing::ElementsAre;

RenamingStore& renaming_of(const std::shared_ptr<Store>& store) { return dynamic_cast<RenamingStore&>(*store); }

TEST(MemoryStore, SourcesShowTheBytesOfTheirVersionWithoutACopy) {
  const auto store = memory_store();
  store->set("a", "old").value();
  const auto source = store->open("a").value();
  store->set("a", "new").value();
  const auto old = source->view().value();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(old.data()), old.size()), "old");
  EXPECT_NE(source->generation().value(), store->open("a").value()->generation().value());
}

TEST(MemoryStore, BytesBetweenWritesAreZeros) {
  const auto store = memory_store();
  const auto writer = store->write("a", {.size = 2}).value();
  writer->write(6, as_bytes(std::string_view("z"))).value();
  writer->write(1, as_bytes(std::string_view("b"))).value();
  writer->commit().value();
  EXPECT_EQ(store->get("a").value(), std::string("\0b\0\0\0\0z", 7));
  EXPECT_EQ(writer->committed(), store->open("a").value()->generation().value());
}

TEST(MemoryStore, WritersMayOutliveIt) {
  auto store = memory_store();
  const auto writer = store->write("a").value();
  store.reset();
  writer->write(0, as_bytes(std::string_view("x"))).value();
  EXPECT_TRUE(writer->commit());
}

TEST(MemoryStore, MovesAPrefixAtOnceUnlessSomethingIsThereOrBeingWritten) {
  const auto store = memory_store();
  for (const char* key : {"a/x", "a/y/z", "b/x"}) store->set(key, key).value();
  RenamingStore& renaming = renaming_of(store);
  EXPECT_FALSE(renaming.move_at_once("a/", "b/").value());
  EXPECT_EQ(renaming.move_at_once("none/", "c/").error().code(), ErrorCode::not_found);
  {
    const auto writer = store->write("a/new").value();
    EXPECT_EQ(renaming.move_at_once("a/", "c/").error().code(), ErrorCode::conflict);
  }
  EXPECT_TRUE(renaming.move_at_once("a/", "c/").value());
  EXPECT_THAT(keys_of(*store), ElementsAre("b/x", "c/x", "c/y/z"));
  EXPECT_EQ(store->get("c/y/z").value(), "a/y/z");
}

TEST(MemoryStore, ListsInPagesBetweenWhichItMayBeChanged) {
  const auto store = memory_store();
  constexpr std::size_t kObjects = 2 * kListPage + 10;
  for (std::size_t i = 0; i < kObjects; ++i) store->set("a/" + std::to_string(100'000 + i), "").value();
  store->set("a/1/child", "").value();
  std::size_t listed = 0;
  store
      ->visit("a/", ListDepth::all,
              [&](const ListEntry& entry) -> Result<bool> {
                store->erase("a/" + std::string(entry.name)).value();
                return ++listed != 0;
              })
      .value();
  EXPECT_EQ(listed, kObjects + 1);
  EXPECT_THAT(keys_of(*store), ElementsAre());
}

}  // namespace memory_test
}  // namespace sherd
