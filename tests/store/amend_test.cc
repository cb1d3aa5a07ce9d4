// Objects that are amended: over every store, and what is special where the file itself is changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "base/buffer.hpp"
#include "tests/store/every_store.hpp"

namespace sherd {
namespace amend_test {

namespace fs = std::filesystem;
using testing::ElementsAre;

class EveryAmendableStore : public EveryStore {};
INSTANTIATE_TEST_SUITE_P(Stores, EveryAmendableStore, testing::ValuesIn(kinds_that_compare()),
                         [](const auto& instance) { return instance.param.name; });

class EveryStoreWithoutConditions : public EveryStore {};
INSTANTIATE_TEST_SUITE_P(Stores, EveryStoreWithoutConditions, testing::ValuesIn(kinds_that_compare(false)),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(EveryStoreWithoutConditions, RefusesToAmendAnObjectAndNamesTheOption) {
  set("k", "0123456789");
  EXPECT_TRUE(is_refused_by_name(amend(*store_, "k", {{10, "AB"}})));
  EXPECT_TRUE(is_refused_by_name(amend(*store_, "k", {{2, "xy"}})));
  EXPECT_EQ(get("k"), "0123456789");
  EXPECT_THAT(keys(), ElementsAre("k"));
}

TEST_P(EveryAmendableStore, AmendsAnObjectBeforeAndAfterItsEnd) {
  set("k", "0123456789");
  const auto before = generation("k");
  const auto amended = amend(*store_, "k", {{12, "CD"}, {2, "xy"}, {8, "z"}, {10, "AB"}}).value();
  EXPECT_EQ(get("k"), "01xy4567z9ABCD");
  EXPECT_NE(amended, before);
  EXPECT_EQ(amended, generation("k"));
  EXPECT_EQ(store_->amend("nothing", {.of = amended}).error().code(), ErrorCode::conflict);
  EXPECT_THAT(keys(), ElementsAre("k"));
}

TEST_P(EveryAmendableStore, AppendsAlignedBytesAfterZeros) {
  set("k", "0123456789");
  amend(*store_, "k", {{16, "01234567"}, {2, "xy"}, {24, "89ABCDEF"}}, 16).value();
  EXPECT_EQ(get("k"), "01xy456789" + std::string(6, '\0') + "0123456789ABCDEF");
  EXPECT_FALSE(amend(*store_, "k", {{32, "0123456"}}, 16)) << "the end is not aligned";
  EXPECT_FALSE(amend(*store_, "k", {{33, "0123456789ABCDE"}}, 16)) << "nor is the beginning";
}

TEST(AmendCost, IsThatOfTheStoreBelow) {
  const TempDir dir;
  const auto cost = [](const std::shared_ptr<Store>& store) { return store->traits().amend; };
  const auto files = file_store(dir.path()).value();
  EXPECT_EQ(cost(memory_store()), AmendCost::on_server);
  EXPECT_EQ(cost(files), AmendCost::at_once);
  EXPECT_EQ(cost(prefixed_store(files, "a/")), AmendCost::at_once);
  EXPECT_EQ(cost(recorded_store(files, std::make_shared<Recorder>())), AmendCost::at_once);
  EXPECT_EQ(cost(delayed_store(files, std::chrono::microseconds(1), 1)), AmendCost::at_once);
  EXPECT_EQ(StoreTraits().amend, AmendCost::copy);
}

TEST_P(EveryAmendableStore, RefusesAnAmendmentThatIsNotInsideTheObject) {
  set("k", "0123456789");
  const Generation of = generation("k");
  const auto text = as_bytes("xy");
  EXPECT_FALSE(store_->amend("k", {.of = of, .size = 10, .overwrites = {{9, text}}}));
  EXPECT_FALSE(store_->amend("k", {.of = of, .size = 10, .overwrites = {{3, text}, {4, text}}}));
  EXPECT_FALSE(amend(*store_, "k", {{11, "a gap"}}));
  EXPECT_EQ(get("k"), "0123456789");
  EXPECT_THAT(keys(), ElementsAre("k"));
}

TEST_P(EveryAmendableStore, CopiesOneVersionOfAnObjectOrNone) {
  set("k", "0123456789");
  auto source = store_->open("k").value();
  amend(*store_, "k", {{10, "AB"}, {3, "x"}}).value();
  auto to = store_->write("copy").value();
  auto copied = to->copy(*source, 0, 10, 0);
  if (copied) copied = to->commit();
  if (copied) {
    EXPECT_EQ(get("copy"), "0123456789");
  } else {
    EXPECT_EQ(copied.error().code(), ErrorCode::conflict);
    EXPECT_EQ(copied.error().key(), "k");
  }
}

TEST_P(EveryAmendableStore, AmendsTheVersionThatWasReadAndNoOther) {
  set("k", "0123456789");
  const auto first = generation("k");
  set("k", "9876543210");
  const auto refused = store_->amend("k", {.of = first, .size = 10});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(refused.error().key(), "k");
  EXPECT_EQ(get("k"), "9876543210");
}

TEST_P(EveryAmendableStore, LosesNoAmendmentOfManyThreads) {
  set("k", "");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) append("k", std::string(1, static_cast<char>('a' + t)));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(get("k")->size(), 40U);
}

class EveryAmendableStoreWithLocks : public EveryStore {};
INSTANTIATE_TEST_SUITE_P(Stores, EveryAmendableStoreWithLocks, testing::ValuesIn(kinds_with_locks()),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(EveryAmendableStoreWithLocks, HoldsTheLockWhileItAmends) {
  set("k", "");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const auto lock = store_->lock("k").value();
        const std::uint64_t end = store_->open("k").value()->size().value();
        amend(*store_, "k", {{end, std::string(1, static_cast<char>('a' + t))}}).value();
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(get("k")->size(), 40U);
}

TEST(FileStoreAmendments, AmendsInPlaceOnlyWhatHasNoOtherName) {
  const TempDir root;
  const auto store = file_store(root.path()).value();
  const auto inode = [&](const std::string& name) {
    struct stat status{};
    EXPECT_EQ(::stat((root / name).c_str(), &status), 0);
    return status.st_ino;
  };
  const auto append = [&](const std::string& key) {
    amend(*store, key, {{3, "new"}}).value();
    EXPECT_EQ(store->get(key).value(), "oldnew");
  };
  store->set("a", "old").value();
  const auto before = inode("a");
  append("a");
  EXPECT_EQ(inode("a"), before);
  store->set("b", "old").value();
  fs::create_hard_link(root / "b", root / "c");
  append("b");
  EXPECT_EQ(store->get("c").value(), "old");
  store->set("target", "old").value();
  fs::create_symlink("target", root / "d");
  append("d");
  EXPECT_EQ(store->get("target").value(), "old");
}

/// A file that is appended to in one step. Skips the test where the file system of temporary files cannot.
class AppendedFile : public testing::Test {
 protected:
  void SetUp() override {
    store_->set("a", std::string(5000, 'o')).value();
    if (const Appending appending = store_->open("a").value()->appending(); appending.alignment == 0)
      GTEST_SKIP() << appending.obstacle;
  }
  void append() { amend(*store_, "a", {{8192, std::string(4096, 'n')}}, 4096).value(); }
  static Result<std::string> read(ByteSource& source, std::uint64_t offset, std::uint64_t length) {
    std::string text(length, ' ');
    const RangeRead range{offset, std::as_writable_bytes(std::span(text))};
    SHERD_TRY(source.read({&range, 1}));
    return text;
  }

  const TempDir root_{TempDir::Where::disk};
  const std::shared_ptr<Store> store_ = file_store(root_.path()).value();
};

TEST_F(AppendedFile, IsTheSameFileWithItsNewEnd) {
  const auto before = store_->open("a").value();
  struct stat old{}, now{};
  ASSERT_EQ(::stat((root_ / "a").c_str(), &old), 0);
  append();
  ASSERT_EQ(::stat((root_ / "a").c_str(), &now), 0);
  EXPECT_EQ(now.st_ino, old.st_ino);
  EXPECT_EQ(store_->get("a").value(), std::string(5000, 'o') + std::string(3192, '\0') + std::string(4096, 'n'));
  EXPECT_NE(store_->open("a").value()->generation().value(), before->generation().value());
}

TEST_F(AppendedFile, IsReadInTheOldVersionAsLongAsThatIsIntact) {
  const auto source = store_->open("a").value();
  bool is_intact = true;
  source->outlive_appends([&](ByteSource& now) -> Result<bool> {
    EXPECT_EQ(read(now, 4999, 1).value(), "o");
    EXPECT_FALSE(read(now, 5000, 1)) << "it ends where it ended";
    return is_intact;
  });
  append();
  EXPECT_EQ(read(*source, 4990, 10).value(), "oooooooooo");
  EXPECT_EQ(source->size().value(), 5000U);
  amend(*store_, "a", {{12288, std::string(4096, 'm')}}, 4096).value();
  is_intact = false;
  EXPECT_EQ(read(*source, 0, 10).error().code(), ErrorCode::conflict);
}

TEST_F(AppendedFile, IsAConflictIfItHasBecomeShorterOrWasWrittenInto) {
  const auto source = store_->open("a").value();
  source->outlive_appends([](ByteSource&) -> Result<bool> { return true; });
  fs::resize_file(root_ / "a", 4999);
  EXPECT_EQ(read(*source, 0, 10).error().code(), ErrorCode::conflict);
  const auto next = store_->open("a").value();
  next->outlive_appends([](ByteSource&) -> Result<bool> { return true; });
  amend(*store_, "a", {{0, "x"}}).value();
  EXPECT_EQ(read(*next, 0, 10).error().code(), ErrorCode::conflict);
}

TEST(FileStoreAmendments, AreNoAppendsInOneStepOfFilesWithTwoNames) {
  const TempDir root(TempDir::Where::disk);
  const auto store = file_store(root.path()).value();
  store->set("a", "old").value();
  fs::create_hard_link(root / "a", root / "b");
  const Appending appending = store->open("a").value()->appending();
  EXPECT_EQ(appending.alignment, 0U);
  EXPECT_EQ(appending.obstacle, "the file has several names");
  amend(*store, "a", {{4096, std::string(4096, 'n')}}, 4096).value();
  EXPECT_EQ(store->get("a").value(), "old" + std::string(4093, '\0') + std::string(4096, 'n'));
  EXPECT_EQ(store->get("b").value(), "old");
}

TEST(FileStoreAmendments, AreReportedToReadersThatOpenedTheFileBefore) {
  const TempDir root;
  const auto store = file_store(root.path()).value();
  store->set("a", "old").value();
  const auto source = store->open("a").value();
  amend(*store, "a", {{3, "new"}}).value();
  std::byte byte{};
  const RangeRead range{0, {&byte, 1}};
  EXPECT_EQ(source->read({&range, 1}).error().code(), ErrorCode::conflict);
}

}  // namespace amend_test
}  // namespace sherd
