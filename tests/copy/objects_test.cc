// Copies of objects as they are, between stores of several kinds.
#include "copy/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sherd/sherd.hpp"
#include "store/zip.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/tree.hpp"
#include "tests/store/zip_bytes.hpp"

namespace sherd {
namespace objects_test {

using testing::ElementsAre;
using testing::HasSubstr;

/// An array of four shards and objects that belong to nothing.
std::shared_ptr<Store> filled() {
  auto store = memory_store();
  auto array = create_array(store, "a", {.shape = {64}, .dtype = DType::uint16, .chunks = {4}, .shards = {16}}).value();
  std::vector<std::uint16_t> values(64, 7);
  array.write(Box{{0}, {64}}, std::span<const std::uint16_t>(values)).value();
  store->set("x/readme.txt", "text").value();
  store->set("empty", "").value();
  store->set("large", std::string(3'000'000, 'l')).value();
  return store;
}

const ObjectCopyOptions kOneThread{.config = {.threads = 1}};

TEST(CopyObjects, CopiesEveryObjectAsItIs) {
  const auto from = filled(), to = memory_store();
  const ObjectCopyReport report = copy_objects(from, to).value();
  EXPECT_EQ(keys_of(*to), keys_of(*from));
  EXPECT_EQ(report.objects, keys_of(*from).size());
  std::uint64_t bytes = 0;
  for (const std::string& key : keys_of(*from)) {
    EXPECT_EQ(to->get(key).value(), from->get(key).value()) << key;
    bytes += from->get(key).value()->size();
  }
  EXPECT_EQ(report.bytes, bytes);
  EXPECT_EQ(report.skipped, 0U);
}

TEST(CopyObjects, CopiesDocumentsLast) {
  const auto from = filled();
  const auto to = std::make_shared<TestStore>(memory_store());
  ASSERT_TRUE(copy_objects(from, to, kOneThread));
  const auto committed = to->log(Op::commit);
  ASSERT_GE(committed.size(), 2U);
  const std::vector<std::string> last(committed.end() - 2, committed.end());
  EXPECT_THAT(last, testing::UnorderedElementsAre("a/zarr.json", "zarr.json"));
}

TEST(CopyObjects, RefusesADestinationWithObjectsUnlessAsked) {
  const auto from = filled(), to = memory_store();
  to->set("other", "text").value();
  to->set("empty", "old").value();
  const auto refused = copy_objects(from, to);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_THAT(keys_of(*to), ElementsAre("empty", "other"));
  ASSERT_TRUE(copy_objects(from, to, {.overwrite = true}));
  EXPECT_EQ(to->get("empty").value(), "");
  EXPECT_EQ(to->get("other").value(), "text");
}

TEST(CopyObjects, RefusesToMixArrays) {
  for (const std::string other : {"a/c/0/0", "a/c/17", "a/.zarray"}) {
    const auto from = filled(), to = memory_store();
    to->set(other, "x").value();
    to->set("empty", "old").value();
    const auto mixed = copy_objects(from, to, {.overwrite = true});
    ASSERT_FALSE(mixed) << other;
    EXPECT_EQ(mixed.error().code(), ErrorCode::conflict);
    EXPECT_THAT(mixed.error().text(), HasSubstr("'" + other + "', which the source does not have"));
    EXPECT_EQ(to->get("empty").value(), "old");
  }
}

TEST(CopyObjects, LeavesOutProbes) {
  const auto from = filled(), to = memory_store();
  from->set("a/.sherd-probe-0123", "p").value();
  copy_objects(from, to).value();
  EXPECT_EQ(keys_of(*to), keys_of(*filled()));
}

TEST(CopyObjects, ResumesWithTheObjectsThatDiffer) {
  const auto from = filled(), to = memory_store();
  copy_objects(from, to).value();
  std::string changed = *to->get("large").value();
  changed[2'999'999] = 'x';
  to->set("large", changed).value();
  to->erase("empty").value();
  to->set("x/readme.txt", "longer text").value();
  const ObjectCopyReport report = copy_objects(from, to, {.resume = true}).value();
  EXPECT_EQ(report.objects, 3U);
  EXPECT_EQ(report.skipped, keys_of(*from).size() - 3);
  EXPECT_EQ(to->get("large").value(), from->get("large").value());
  EXPECT_EQ(to->get("x/readme.txt").value(), "text");
}

TEST(CopyObjects, ReportsAnObjectThatDoesNotReadBack) {
  const auto to = std::make_shared<TestStore>(memory_store());
  to->before = [](const Asked& asked) {
    if (asked.op == Op::commit && asked.key == "x/readme.txt") asked.writer->write(100, as_bytes("x")).value();
  };
  const auto copied = copy_objects(filled(), to, kOneThread);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(copied.error().key(), "x/readme.txt");
}

/// A version of an object that is not the present one.
class SupersededSource final : public ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;
  Result<void> read(std::span<const RangeRead>) override { return conflict("it was replaced"); }
};

/// A store that copies objects itself, in the versions that lists have shown.
class CopyingServer final : public TestStore {
 public:
  using TestStore::TestStore;

  [[nodiscard]] bool copies_itself(const ByteSource&) const override { return true; }
  [[nodiscard]] std::shared_ptr<ByteSource> listed(const std::string& key, std::uint64_t,
                                                   const Generation& generation) const override {
    auto present = store_->open(key).value();
    if (present->generation().value() == generation) return present;
    return std::make_shared<SupersededSource>(std::move(present));
  }
};

TEST(CopyObjects, CopiesAnObjectThatHasChangedSinceItWasListed) {
  const auto stored = filled();
  const auto from = std::make_shared<CopyingServer>(stored);
  const auto to = std::make_shared<CopyingServer>(memory_store());
  from->after = [&](const Asked& asked) {
    if (asked.op == Op::visit) stored->set("large", "changed").value();
  };
  from->forget();
  copy_objects(from, to, kOneThread).value();
  EXPECT_EQ(to->get("large").value(), "changed");
  EXPECT_EQ(keys_of(*to), keys_of(*stored));
  EXPECT_THAT(from->log(Op::open), ElementsAre("large")) << "others are copied as the list has shown them";
}

TEST(CopyObjects, ComparesTheChecksumsOfAnArchive) {
  const auto outer = memory_store();
  const std::string data = std::string(3'000'000, 'l');
  for (const bool is_delayed : {false, true}) {
    for (const bool is_damaged : {false, true}) {
      std::string archive = ZipBytes().add({"a", "1"}).add({"large", data}).finish();
      if (is_damaged) archive[archive.size() / 2] ^= 1;
      outer->set("a.zip", archive).value();
      auto from = zip_store(outer, "a.zip", {}).value();
      if (is_delayed)
        from = recorded_store(delayed_store(from, std::chrono::microseconds(1), 2), std::make_shared<Recorder>());
      const TempDir directory;
      const auto to = file_store(directory.path()).value();
      const auto copied = copy_objects(from, to, kOneThread);
      EXPECT_EQ(copied.has_value(), !is_damaged);
      if (copied) continue;
      EXPECT_EQ(copied.error().code(), ErrorCode::corrupt);
      EXPECT_EQ(copied.error().key(), "large");
      EXPECT_THAT(copied.error().text(), HasSubstr("the checksum of the zip archive's member is wrong"));
      EXPECT_EQ(to->get("large").value(), std::nullopt) << "it is not stored";
    }
  }
}

TEST(CopyObjects, RefusesACopyIntoItself) {
  const TempDir directory;
  const std::string path = directory / "a.zarr";
  ASSERT_TRUE(create_array(path, {.shape = {4}, .dtype = DType::uint8, .chunks = {4}}));
  for (const std::string& to : {path, path + "/b"}) {
    const auto copied = copy_objects(path, to, {.overwrite = true});
    ASSERT_FALSE(copied) << to;
    EXPECT_EQ(copied.error().code(), ErrorCode::invalid_argument);
    EXPECT_THAT(copied.error().text(), HasSubstr("one lies inside the other"));
  }
}

TEST(CopyObjects, StaysWithinItsMemoryAndReportsItsProgress) {
  const auto from = filled();
  const TempDir directory;
  std::uint64_t total = 0, done = 0;
  ObjectCopyOptions options{.config = {.threads = 2, .memory_budget = 1 << 20}};
  options.config.progress = [&](const Progress& progress) {
    total = progress.total;
    done = progress.done;
  };
  const ObjectCopyReport report = copy_objects(from, file_store(directory / "b").value(), options).value();
  EXPECT_EQ(total, report.bytes);
  EXPECT_LE(done, total);
}

}  // namespace objects_test
}  // namespace sherd
