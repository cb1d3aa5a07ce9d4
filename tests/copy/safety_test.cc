// copy(): no failure loses what existed at the destination, and a copy can be resumed after any failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <functional>

#include "base/checksum.hpp"
#include "tests/copy/copy_testing.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace safety_test {

using namespace copy_testing;

TEST(Copy, AnExistingDestinationIsAConflictUnlessOverwritten) {
  auto source = memory_store();
  auto destination = memory_store();
  filled(source, "", {.chunks = {6, 4}});
  filled(destination, "", {.chunks = {5, 5}, .shards = {10, 10}});
  const auto refused = copy(source, destination);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  copy(source, destination, {.overwrite = true}).value();
  EXPECT_EQ(tree_of(*destination), tree_of(*source));
}

TEST(Copy, ACopyIntoItselfIsRefused) {
  auto store = memory_store();
  filled(store, "a", {.chunks = {6, 4}});
  for (const char* to : {"", "a", "a/b"}) {
    const auto refused = copy(store, store, {.overwrite = true, .source_path = "a", .destination_path = to});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  }
  copy(store, store, {.source_path = "a", .destination_path = "b/ab"}).value();
  EXPECT_EQ(elements(open_array(store, {.path = "b/ab"}).value()), elements(open_array(store, {.path = "a"}).value()));
  EXPECT_TRUE(check(store).value().faults.empty()) << "the group between is made";
}

TEST(Copy, WithChunksOnAnUnmountedDiskIsAnErrorNotAnEmptyArray) {
  const TempDir folder;
  const auto source = file_store(folder / "a").value();
  const auto destination = file_store(folder / "b").value();
  filled(source, "", {.chunks = {6, 4}});
  copy(source, destination).value();
  const auto before = tree_of(*destination);
  for (const char* part : {"c/0", "c"}) {
    std::filesystem::rename(folder / ("a/" + std::string(part)), folder / "disk");
    std::filesystem::create_directory_symlink(folder / "nowhere", folder / ("a/" + std::string(part)));
    for (const auto& to : {destination, memory_store()}) {
      const auto refused = copy(source, to, {.overwrite = true});
      ASSERT_FALSE(refused) << part;
      EXPECT_EQ(refused.error().code(), ErrorCode::io);
      EXPECT_THAT(refused.error().text(), testing::HasSubstr("is a broken symbolic link"));
    }
    EXPECT_EQ(tree_of(*destination), before);
    std::filesystem::remove(folder / ("a/" + std::string(part)));
    std::filesystem::rename(folder / "disk", folder / ("a/" + std::string(part)));
  }
}

TEST(Copy, ACopyOntoAnotherNameOfItsSourceIsRefused) {
  const TempDir folder;
  filled(file_store(folder / "a").value(), "", {.chunks = {6, 4}});
  const auto before = elements(open_array(folder / "a").value());
  std::filesystem::create_directory_symlink(folder / "a", folder / "link");
  std::filesystem::create_directory(folder / "d");
  const std::string names[][2] = {{folder / "a", folder / "link"},
                                  {folder / "link", folder / "a"},
                                  {folder / "d/../a", folder / "a"},
                                  {folder / "a", folder / "link/sub"},
                                  {folder / "a", folder / "d/../a/sub"}};
  for (const auto& [from, to] : names) {
    const auto refused = copy(from, to, {.overwrite = true});
    ASSERT_FALSE(refused) << from << " to " << to;
    EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(elements(open_array(folder / "a").value()), before);
  }
}

TEST(Copy, OverwritingRemovesANodeButNoForeignFiles) {
  auto source = memory_store();
  filled(source, "", {.chunks = {6, 4}});
  auto destination = memory_store();
  destination->set("sub/letter.txt", "dear").value();
  const auto refused = copy(source, destination, {.overwrite = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(tree_of(*destination), (Tree{{"sub/letter.txt", "dear"}}));
}

TEST(Copy, AFailureKeepsTheExistingNode) {
  auto source = memory_store();
  filled(source, "", {.chunks = {6, 4}});
  source->set("c/1/1", "no chunk").value();
  auto destination = memory_store();
  filled(destination, "", {.chunks = {12, 8}});
  const Tree before = tree_of(*destination);
  const auto failed = copy(source, destination, {.chunks = Shape{5, 5}, .overwrite = true});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(tree_of(*destination), before);
}

TEST(Copy, OfAnArrayThatIsErasedMeanwhileIsAConflict) {
  for (const bool while_listed : {true, false})
    for (const Shape& chunks : {Shape{6, 4}, Shape{5, 5}}) {  // moved, and encoded again
      const auto shared = std::make_shared<TestStore>(memory_store());
      filled(shared, "a", {.chunks = {6, 4}});
      shared->of = while_listed ? Op::visit : Op::open;
      shared->keys = [&](const std::string& key) { return while_listed || key.starts_with("a/c/"); };
      shared->at(0, [&] { erase(shared, {.path = "a"}).value(); });
      const auto destination = memory_store();
      const auto copied = copy(shared, destination, {.chunks = chunks, .source_path = "a"});
      ASSERT_FALSE(copied);
      EXPECT_EQ(copied.error().code(), ErrorCode::conflict) << copied.error().text();
      EXPECT_FALSE(open(destination));
    }
}

TEST(Copy, OfAnArrayThatIsReplacedWhileItIsListedHasAllChunksOfTheNewOne) {
  const auto shared = std::make_shared<TestStore>(memory_store());
  const Array old = filled(shared, "a", {.chunks = {6, 4}});
  shared->of = Op::visit;
  shared->at(0, [&] { filled(shared, "a", {.chunks = {6, 4}, .overwrite = true}); });
  const auto destination = memory_store();
  copy(shared, destination, {.source_path = "a"}).value();
  EXPECT_EQ(elements(open_array(destination).value()), elements(open_array(shared, {.path = "a"}).value()));
}

TEST(Copy, LeftoversOfAnInterruptedCopyDoNoHarm) {
  auto source = memory_store();
  filled(source, "", {.chunks = {6, 4}});
  const auto cut_off = [&] {
    auto beneath = memory_store();
    create_group(beneath, "").value();
    auto failing = std::make_shared<TestStore>(beneath);
    failing->fail_from(5);
    EXPECT_FALSE(copy(source, failing, {.destination_path = "new"}));
    EXPECT_GT(tree_of(*beneath).size(), 4U);
    EXPECT_TRUE(check(beneath, {.data = true}).value().faults.empty());
    EXPECT_TRUE(open_group(beneath).value().members().value().empty());
    return beneath;
  };
  const auto again = cut_off();
  EXPECT_EQ(copy(source, again, {.destination_path = "new"}).value().shards_skipped, 0U) << "begun again";
  EXPECT_EQ(tree_of(*again).size(), tree_of(*source).size() + 1);
  const auto created = cut_off();
  create_array(created, "new", {.shape = {5}, .dtype = DType::uint8, .chunks = {5}}).value();
  EXPECT_EQ(tree_of(*created).size(), 2U);
}

TEST(Copy, ObjectsAddedAfterAnInterruptionAreKept) {
  auto source = memory_store();
  filled(source, "", {.chunks = {6, 4}});
  auto beneath = memory_store();
  auto failing = std::make_shared<TestStore>(beneath);
  failing->fail_from(5);
  EXPECT_FALSE(copy(source, failing));
  beneath->set("letter.txt", "dear").value();
  for (const bool resume : {true, false}) {
    const auto refused = copy(source, beneath, {.resume = resume, .overwrite = true});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
    EXPECT_EQ(beneath->get("letter.txt").value(), "dear");
  }
}

TEST(Copy, InterruptedWhileMovingIntoPlaceCanBeRepeatedOrResumed) {
  auto source = memory_store();
  filled(source, "", {.chunks = {6, 4}});
  for (const bool resume : {true, false}) {
    auto beneath = memory_store();
    const auto moving = std::make_shared<TestStore>(beneath);
    moving->of = Op::move_all;
    moving->refuse = [&](const Asked& asked) -> Result<void> {  // the chunks are moved, but not the document
      SHERD_TRY(ForwardingStore(beneath).move_all(asked.key + "c/", asked.to + "c/"));
      return io_error("the disk is gone");
    };
    const auto failed = copy(source, moving);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code(), ErrorCode::io);
    EXPECT_TRUE(beneath->get("c/1/1").value().has_value());
    EXPECT_FALSE(open(beneath));
    copy(source, beneath, {.resume = resume}).value();
    EXPECT_EQ(tree_of(*beneath), tree_of(*source));
  }
}

TEST(Copy, ToAUrlJoinsTheEnclosingHierarchyAndItsFormat) {
  const TempDir folder;
  filled(file_store(folder / "a").value(), "", {.chunks = {6, 4}});
  create_group(folder / "draft.zarr", {}, false, {}, "draft2022").value();
  copy(folder / "a", folder / "draft.zarr/x").value();
  EXPECT_EQ(open_array(folder / "draft.zarr", {.path = "x"}).value().format(), "draft2022");
  copy(folder / "a", folder / "new.zarr/g/x").value();
  EXPECT_EQ(open_array(folder / "new.zarr", {.path = "g/x"}).value().format(), "zarr3");
  open_group(folder / "new.zarr", {.writable = true}).value().consolidate().value();
  copy(folder / "a", folder / "new.zarr/g/y").value();
  const Json metadata = open_group(folder / "new.zarr").value().metadata();
  EXPECT_NE(metadata.find("consolidated_metadata")->find("metadata")->find("g/y"), nullptr);
  const auto refused = copy(folder / "a", folder / "draft.zarr/y", {.format = "zarr3"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
}

class CopyResume : public ::testing::TestWithParam<CopyOptions> {};

TEST_P(CopyResume, AfterAFailureAtAnyCommitMakesTheSameTree) {
  auto source = memory_store();
  create_group(source, "").value();
  filled(source, "a", {.chunks = {6, 4}, .shards = {12, 8}});
  filled(source, "g/b", {.chunks = {12, 8}});
  CopyOptions options = GetParam();
  auto whole = memory_store();
  copy(source, whole, options).value();
  const Tree expected = tree_of(*whole);
  for (int commits = 0;; ++commits) {
    auto beneath = memory_store();
    auto failing = std::make_shared<TestStore>(beneath);
    failing->fail_from(commits);
    if (copy(source, failing, options)) {
      EXPECT_GT(commits, 5);
      break;
    }
    EXPECT_FALSE(open(beneath)) << "what is not whole cannot be opened";
    if (commits > 0) {
      CopyOptions other = options;
      other.chunks = Shape{7, 7};
      other.shards = Shape{};
      other.resume = true;
      const auto changed = copy(source, beneath, other);
      ASSERT_FALSE(changed);
      EXPECT_EQ(changed.error().code(), ErrorCode::conflict);
    }
    CopyOptions resumed = options;
    resumed.resume = true;
    const CopyReport report = copy(source, beneath, resumed).value();
    EXPECT_GE(report.shards_skipped + 2, static_cast<std::uint64_t>(std::max(0, commits - 4)));
    EXPECT_TRUE(tree_of(*beneath) == expected) << "after " << commits << " commits";
    const CopyReport idle = copy(source, beneath, resumed).value();
    EXPECT_EQ(idle.shards, 0U) << "all of it exists there";
    EXPECT_TRUE(tree_of(*beneath) == expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, CopyResume,
                         ::testing::Values(CopyOptions{}, CopyOptions{.chunks = Shape{6, 4}, .shards = Shape{18, 8}},
                                           CopyOptions{.chunks = Shape{5, 5}, .shards = Shape{10, 10}}));

TEST(Copy, ProgressEndsAtTheTotalAndInterruptionLeavesSomethingToResume) {
  auto source = memory_store();
  filled(source, "", {.chunks = {6, 4}});
  auto destination = memory_store();
  CopyOptions options;
  options.config.threads = 1;
  options.config.interrupted = [&] { return tree_of(*destination).size() > 4; };
  const auto stopped = copy(source, destination, options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code(), ErrorCode::unavailable);
  const Tree unfinished = tree_of(*destination);
  EXPECT_GT(unfinished.size(), 2U);
  for (const auto& [key, bytes] : unfinished) EXPECT_FALSE(key.ends_with("a/zarr.json")) << key;
  options.config.interrupted = nullptr;
  options.resume = true;
  Progress last;
  options.config.progress = [&](const Progress& progress) { last = progress; };
  EXPECT_GT(copy(source, destination, options).value().shards_skipped, 0U);
  EXPECT_EQ(last.done, last.total);
  EXPECT_GT(last.total, 0U);
  EXPECT_EQ(tree_of(*destination), tree_of(*source));
}

TEST(Copy, ASourceThatIsDamagedFailsWithItsKey) {
  auto source = memory_store();
  auto destination = memory_store();
  filled(source, "", {.chunks = {6, 4}, .shards = {12, 8}});
  source->set("c/1/1", std::string_view("short")).value();
  const auto failed = copy(source, destination, {.chunks = Shape{5, 5}, .shards = Shape{}});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(failed.error().key(), "c/1/1");
}

TEST(LocklessCopy, IsResumedFromWhatAnInterruptedOneLeft) {
  const auto source = memory_store();
  filled(source, "", {.chunks = {6, 4}});
  const auto destination = lockless();
  CopyOptions options{.destination_path = "a"};
  options.config.threads = 1;
  options.config.interrupted = [&] { return tree_of(*destination).size() > 4; };
  EXPECT_EQ(copy(source, destination, options).error().code(), ErrorCode::unavailable);
  const auto unfinished = tree_of(*destination);
  EXPECT_FALSE(unfinished.empty());
  for (const auto& [key, bytes] : unfinished) EXPECT_FALSE(key.ends_with("a/zarr.json")) << key;
  options.config.interrupted = nullptr;
  options.resume = true;
  options.chunks = Shape{5, 5};
  EXPECT_EQ(copy(source, destination, options).error().code(), ErrorCode::conflict) << "of something else";
  options.chunks.reset();
  const auto report = copy(source, destination, options).value();
  EXPECT_GT(report.shards_skipped, 0u);
  EXPECT_EQ(elements(open_array(destination, {.path = "a"}).value()), elements(open_array(source).value()));
  for (const auto& [key, bytes] : tree_of(*destination)) EXPECT_FALSE(key.starts_with(".sherd-new-")) << key;
}

}  // namespace safety_test
}  // namespace sherd
