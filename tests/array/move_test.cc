// Nodes that are moved to another path of their store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/array/nodes_testing.hpp"

namespace sherd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<std::uint8_t> elements_of(const Array& array) {
  std::vector<std::uint8_t> values(4);
  array.read(Box{{0}, {4}}, std::span(values)).value();
  return values;
}

class Moved : public testing::Test {
 protected:
  void SetUp() override {
    root_.emplace(create_group(store_, "").value());
    Array array = create_array(store_, "g/a", bytes_array()).value();
    array.fill(Box{{0}, {4}}, std::vector{std::byte{7}}).value();
    create_array(store_, "g/b", bytes_array()).value();
  }

  std::shared_ptr<Store> store_ = memory_store();
  std::optional<Group> root_;
};

TEST_F(Moved, ArrayHasItsElementsAtTheNewPath) {
  root_->move("g/a", "h/i/c").value();
  EXPECT_THAT(elements_of(open_array(store_, {.path = "h/i/c"}).value()), ElementsAre(7, 7, 7, 7));
  EXPECT_EQ(code_of(open(store_, {.path = "g/a"})), ErrorCode::not_found);
  EXPECT_THAT(root_->members().value(), ElementsAre(Pair("g", NodeType::group), Pair("h", NodeType::group)));
}

TEST_F(Moved, GroupTakesItsMembersAlong) {
  root_->move("g", "h").value();
  EXPECT_THAT(open_group(store_, {.path = "h"})->members().value(),
              ElementsAre(Pair("a", NodeType::array), Pair("b", NodeType::array)));
  EXPECT_THAT(elements_of(open_array(store_, {.path = "h/a"}).value()), ElementsAre(7, 7, 7, 7));
}

TEST_F(Moved, PathsBeginAtTheGroupOrWithASlashAtTheRoot) {
  Group inner = writable(store_, "g");
  inner.move("a", "c").value();
  inner.move("b", "/d").value();
  EXPECT_TRUE(root_->contains("g/c").value());
  EXPECT_TRUE(root_->contains("d").value());
  rename(store_, "e", {.path = "g/c"}).value();
  EXPECT_TRUE(root_->contains("g/e").value());
}

TEST_F(Moved, NodeIsListedAtTheNewPathInConsolidatedMetadata) {
  root_->consolidate().value();
  root_->move("g", "h").value();
  const Group listed = open_group(store_).value();
  EXPECT_THAT(listed.members().value(), ElementsAre(Pair("h", NodeType::group)));
  const std::string text = text_at(*store_, "zarr.json");
  EXPECT_THAT(text, HasSubstr("h/a"));
  EXPECT_THAT(text, testing::Not(HasSubstr("g/a")));
}

TEST_F(Moved, NothingReplacesWhatIsAtTheNewPath) {
  EXPECT_EQ(code_of(root_->move("g/a", "g/b")), ErrorCode::conflict);
  store_->set("notes/readme.txt", "text").value();
  EXPECT_EQ(code_of(root_->move("g/a", "notes")), ErrorCode::conflict);
  EXPECT_EQ(code_of(root_->move("g/a", "g/b/c")), ErrorCode::conflict) << "an array has no members";
  EXPECT_THAT(elements_of(open_array(store_, {.path = "g/a"}).value()), ElementsAre(7, 7, 7, 7));
}

TEST_F(Moved, WrongPathsAreRefused) {
  EXPECT_EQ(code_of(root_->move("g/zz", "h")), ErrorCode::not_found);
  for (const char* to : {"", "g", "g/inside", "a/../b"})
    EXPECT_EQ(code_of(root_->move("g", to)), ErrorCode::invalid_argument) << to;
  EXPECT_EQ(code_of(root_->move("g", "__reserved")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(rename(store_, "x")), ErrorCode::invalid_argument) << "the root";
  EXPECT_EQ(code_of(open_group(store_).value().move("g", "h")), ErrorCode::invalid_argument) << "read-only";
}

TEST_F(Moved, HandleThatWasOpenedBeforeDoesNotWriteToTheOldPath) {
  const Array before = open_array(store_, {.path = "g/a", .writable = true}).value();
  root_->move("g/a", "g/c").value();
  EXPECT_EQ(code_of(before.fill(Box{{0}, {4}}, std::vector{std::byte{1}})), ErrorCode::conflict);
  EXPECT_THAT(elements_of(open_array(store_, {.path = "g/c"}).value()), ElementsAre(7, 7, 7, 7));
}

TEST(MovedNode, OfAFormatWithSeveralLocationsIsRefused) {
  const auto store = memory_store();
  CreateOptions options = bytes_array();
  options.format = "draft2022";
  create_array(store, "a", options).value();
  EXPECT_EQ(code_of(rename(store, "b", {.path = "a"})), ErrorCode::unsupported);
}

TEST(MovedNode, OfZarr2KeepsItsAttributes) {
  const auto store = memory_store();
  CreateOptions options = bytes_array();
  options.format = "zarr2";
  options.attributes = parsed(R"({"unit": "nm"})");
  create_array(store, "a", options).value();
  rename(store, "b", {.path = "a"}).value();
  EXPECT_EQ(open_array(store, {.path = "b"})->attributes(), parsed(R"({"unit": "nm"})"));
}

}  // namespace
}  // namespace sherd
