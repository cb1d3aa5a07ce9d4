// Nodes that replace others or are erased: what a failure or a kill leaves behind is neither taken for an array nor
// lost, and the next attempt succeeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <future>
#include <numeric>
#include <thread>

#include "array/hierarchy.hpp"
#include "sherd/sherd.hpp"
#include "store/forwarding.hpp"
#include "tests/array/withdrawn_notes.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::vector<std::uint8_t> bytes_from(std::uint8_t first) {
  std::vector<std::uint8_t> bytes(4);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

CreateOptions filled_with(std::uint8_t first, bool overwrite) {
  return {.shape = {4},
          .dtype = DType::uint8,
          .chunks = {2},
          .overwrite = overwrite,
          .contents = [first](const Array& array) {
            return array.write(Box{{0}, {4}}, std::span<const std::uint8_t>(bytes_from(first)));
          }};
}

std::vector<std::uint8_t> elements(const std::shared_ptr<Store>& store, const std::string& path) {
  std::vector<std::uint8_t> bytes(4);
  open_array(store, {.path = path}).value().read(Box{{0}, {4}}, std::span(bytes)).value();
  return bytes;
}

// Ends at the n-th call that erases or moves something.
class EndingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  int calls_left = 1 << 30;

  Result<bool> erase(const std::string& key, const Condition& condition) override {
    if (calls_left-- <= 0) return io_error("the disk is gone");
    return store_->erase(key, condition);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    if (calls_left-- <= 0) return io_error("the disk is gone");
    return store_->erase_prefix(prefix);
  }
  Result<void> move_prefix(const std::string& from, const std::string& to) override {
    if (calls_left-- <= 0) return io_error("the disk is gone");
    return store_->move_prefix(from, to);
  }
};

// Calls `before_write`, `before_erase` and `before_open` before that is done with an object, and `before_move` before a
// node is moved.
class PausedStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  std::function<void(const std::string& key)> before_write = [](const std::string&) {};
  std::function<void()> before_move = [] {};
  std::function<void(const std::string& key)> before_erase = [](const std::string&) {};
  std::function<void(const std::string& key)> before_open = [](const std::string&) {};

  Result<std::shared_ptr<ByteSource>> open(const std::string& key) override {
    before_open(key);
    return store_->open(key);
  }
  Result<bool> erase(const std::string& key, const Condition& condition) override {
    before_erase(key);
    return store_->erase(key, condition);
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, std::uint64_t size) override {
    before_write(key);
    return store_->write(key, size);
  }
  Result<void> move_prefix(const std::string& from, const std::string& to) override {
    before_move();
    return store_->move_prefix(from, to);
  }
};

// Runs `attempt` with a store that holds the old array at "a" and fails at its first such call, then at its second …,
// until it succeeds; after each failure, calls `look` with the underlying store.
template <class Attempt, class Look>
void end_at_each_call(const Attempt& attempt, const Look& look) {
  for (int calls = 0;; ++calls) {
    const auto beneath = memory_store();
    create_array(beneath, "a", filled_with(1, false)).value();
    const auto ending = std::make_shared<EndingStore>(beneath);
    ending->calls_left = calls;
    const auto done = attempt(ending);
    if (done) return;
    look(beneath, done.error());
  }
}

// "a" contains the whole old array or none; returns whether there is one.
bool is_old_or_nothing(const std::shared_ptr<Store>& store) {
  if (!open(store, {.path = "a"})) return false;
  EXPECT_EQ(elements(store, "a"), bytes_from(1));
  return true;
}

TEST(StagedNode, IsNotLostIfItCannotBeMovedIntoPlace) {
  bool failed_on_the_way = false;
  const auto attempt = [](const auto& store) { return create_array(store, "a", filled_with(11, true)); };
  end_at_each_call(attempt, [&](const std::shared_ptr<Store>& beneath, const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    if (open(beneath, {.path = "a"}) && elements(beneath, "a") == bytes_from(11)) return;  // only tidying up failed
    if (!is_old_or_nothing(beneath)) {
      failed_on_the_way = true;
      EXPECT_THAT(error.text(), HasSubstr("is below '.sherd-new-"));
      EXPECT_THAT(keys_of(*beneath),
                  testing::IsSupersetOf({testing::EndsWith("/node/a/c/0"), testing::EndsWith("/node/a/c/1"),
                                         testing::EndsWith("/node/a/zarr.json")}));
    }
    attempt(beneath).value();
    EXPECT_EQ(elements(beneath, "a"), bytes_from(11));
    EXPECT_THAT(keys_of(*beneath), ElementsAre("a/c/0", "a/c/1", "a/zarr.json", "zarr.json"));
  });
  EXPECT_TRUE(failed_on_the_way);
}

TEST(CreateArray, WaitsForTheMakerOfANodeAtThatPathAndLeavesItsObjects) {
  const auto store = memory_store();
  create_group(store, "").value();
  CreateOptions options = filled_with(11, false);
  options.contents = [&, write = options.contents](const Array& array) -> Result<void> {
    if (auto written = write(array); !written) return written;
    std::thread([&] {
      const auto other =
          create_array(store, "a", {.shape = {8}, .dtype = DType::uint8, .chunks = {8}, .config = {.lock_timeout = 0}});
      EXPECT_EQ(other.error().code(), ErrorCode::unavailable);
    }).join();
    return {};
  };
  create_array(store, "a", options).value();
  EXPECT_EQ(elements(store, "a"), bytes_from(11));
}

TEST(CreateArray, OfTwoCallsThatFindNothingAtThePathOneIsAConflict) {
  for (const bool overwrite : {false, true}) {
    const auto store = memory_store();
    create_group(store, "").value();
    const auto first = std::make_shared<PausedStore>(store), second = std::make_shared<PausedStore>(store);
    std::promise<void> is_moving, may_move;
    first->before_move = [&] {
      is_moving.set_value();
      may_move.get_future().wait();
    };
    std::thread maker;
    second->before_write = [&](const std::string& key) {
      if (key != "a/zarr.json") return;
      maker = std::thread([&] { create_array(first, "a", filled_with(11, overwrite)).value(); });
      is_moving.get_future().wait();
    };
    const auto created = create_array(second, "a", {.shape = {8}, .dtype = DType::uint8, .chunks = {8}});
    may_move.set_value();
    maker.join();
    EXPECT_EQ(created.error().code(), ErrorCode::conflict);
    EXPECT_EQ(elements(store, "a"), bytes_from(11));
    EXPECT_THAT(keys_of(*store), ElementsAre("a/c/0", "a/c/1", "a/zarr.json", "zarr.json"));
  }
}

TEST(CreateArray, InterruptedWhileOverwritingLeavesNoArrayOfFillValues) {
  bool cut_off = false;
  const CreateOptions other{.shape = {8}, .dtype = DType::uint8, .chunks = {4}, .overwrite = true};
  const auto attempt = [&](const auto& store) { return create_array(store, "a", other); };
  end_at_each_call(attempt, [&](const std::shared_ptr<Store>& beneath, const Error&) {
    const auto now = open_array(beneath, {.path = "a"});
    if (now && now->shape() == Shape{8}) return;  // only tidying up failed
    const bool exists = is_old_or_nothing(beneath);
    cut_off = cut_off || !exists;
    CreateOptions again = other;
    again.overwrite = exists;
    create_array(beneath, "a", again).value();
    EXPECT_THAT(keys_of(*beneath), ElementsAre("a/zarr.json", "zarr.json"));
  });
  EXPECT_TRUE(cut_off);
}

TEST(Erasing, InterruptedLeavesNoArrayOfFillValuesAndCanBeRepeated) {
  bool cut_off = false;
  const auto attempt = [](const auto& store) { return open_group(store, {.writable = true}).value().erase("a"); };
  end_at_each_call(attempt, [&](const std::shared_ptr<Store>& beneath, const Error&) {
    cut_off = !is_old_or_nothing(beneath) || cut_off;
    attempt(beneath).value();
    EXPECT_THAT(keys_of(*beneath), ElementsAre("zarr.json"));
    EXPECT_EQ(attempt(beneath).error().code(), ErrorCode::not_found);
  });
  EXPECT_TRUE(cut_off);
}

TEST(Erasing, OfAGroupByItsPathCanBeRepeatedAfterAnInterruption) {
  const OpenOptions group{.path = "g"};
  bool cut_off = false;
  for (int calls = 0;; ++calls) {
    const auto beneath = memory_store();
    for (const char* path : {"g/a", "g/c"}) create_array(beneath, path, filled_with(1, false)).value();
    const auto ending = std::make_shared<EndingStore>(beneath);
    ending->calls_left = calls;
    if (erase(ending, group)) break;
    cut_off = cut_off || !open(beneath, {.path = "g/a"});
    erase(beneath, group).value();
    EXPECT_THAT(keys_of(*beneath), ElementsAre("zarr.json"));
    EXPECT_EQ(erase(beneath, group).error().code(), ErrorCode::not_found);
  }
  EXPECT_TRUE(cut_off);
}

TEST(StagedNode, FollowsADirectoryLinkAlsoToAnotherFileSystem) {
  const TempDir folder;
  const auto device = [](const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_dev;
  };
  const bool is_in_memory = device(folder.path()) == device("/dev/shm");
  std::string other = std::string(is_in_memory ? "/var/tmp" : "/dev/shm") + "/sherd-test-XXXXXX";
  ASSERT_NE(device(folder.path()), device(is_in_memory ? "/var/tmp" : "/dev/shm")) << "one file system has it all";
  ASSERT_NE(::mkdtemp(other.data()), nullptr);
  fs::create_directory(folder / "disk");
  const auto store = file_store(folder / "h").value();
  for (const std::string& target : {folder / "disk", other}) {
    fs::remove(folder / "h/a");
    create_group(store, "", {}, true).value();
    fs::create_directory_symlink(target, folder / "h/a");
    for (const std::uint8_t first : {1, 11}) {
      create_array(store, "a", filled_with(first, true)).value();
      EXPECT_EQ(elements(store, "a"), bytes_from(first));
      EXPECT_TRUE(fs::is_symlink(folder / "h/a"));
      EXPECT_THAT(keys_of(*store), ElementsAre("a/c/0", "a/c/1", "a/zarr.json", "zarr.json"));
    }
  }
  fs::remove_all(other);
  EXPECT_FALSE(create_array(store, "a", filled_with(21, true))) << "the link leads nowhere";
  fs::remove(folder / "h/a");
  EXPECT_THAT(keys_of(*store), ElementsAre("zarr.json"));
}

// Two processes that create a node at the same path in a store without locks, and so do not wait for each other.
class LocklessMakers : public testing::TestWithParam<bool> {
 protected:
  LocklessMakers() { create_group(store_, "").value(); }

  /// The array at "a" has these elements, and nothing else is stored.
  void expect_alone(std::uint8_t first) const {
    EXPECT_EQ(elements(store_, "a"), bytes_from(first));
    EXPECT_THAT(keys_without_withdrawn_notes(*store_), ElementsAre("a/c/0", "a/c/1", "a/zarr.json", "zarr.json"));
  }

  const std::shared_ptr<Store> store_ = lockless(GetParam());
};
INSTANTIATE_TEST_SUITE_P(ErasesOnConditions, LocklessMakers, testing::Bool(), testing::PrintToStringParamName());

TEST_P(LocklessMakers, OfTwoTheOneThatIsWholeFirstSucceedsAndTheOtherIsAConflict) {
  for (const bool overwrite : {false, true}) {
    if (overwrite) create_array(store_, "a", filled_with(1, true)).value();
    CreateOptions slower = filled_with(11, overwrite);
    slower.contents = [&, write = slower.contents](const Array& array) {
      create_array(store_, "a", filled_with(21, overwrite)).value();
      return write(array);
    };
    EXPECT_EQ(create_array(store_, "a", slower).error().code(), ErrorCode::conflict);
    expect_alone(21);
  }
}

TEST_P(LocklessMakers, NeitherAnotherMakerNorACreatorDisturbsTheOneThatMovesItsNode) {
  for (const bool overwrite : {false, true}) {
    if (overwrite) create_array(store_, "a", filled_with(1, true)).value();
    const auto paused = std::make_shared<PausedStore>(store_);
    paused->before_move = [&] {
      const auto other = create_array(store_, "a", filled_with(21, overwrite));
      EXPECT_EQ(other.error().code(), ErrorCode::conflict);
      const auto empty =
          create_array(store_, "a", {.shape = {8}, .dtype = DType::uint8, .chunks = {8}, .overwrite = overwrite});
      EXPECT_EQ(empty.error().code(), ErrorCode::conflict);
    };
    create_array(paused, "a", filled_with(11, overwrite)).value();
    expect_alone(11);
    open_group(store_, {.writable = true}).value().erase("a").value();
  }
}

// The creator finds the note of a maker after it has stored its document, and withdraws that while the maker moves its
// node to the path.
TEST_P(LocklessMakers, DoNotLoseTheirDocumentToACreatorThatWithdrawsItsOwn) {
  const auto moving = std::make_shared<PausedStore>(store_), creating = std::make_shared<PausedStore>(store_);
  std::promise<void> is_moving, may_move;
  moving->before_move = [&] {
    is_moving.set_value();
    may_move.get_future().wait();
  };
  std::thread maker;
  int writes = 0;
  creating->before_write = [&](const std::string& key) {
    if (key != "a/zarr.json" || ++writes != 1) return;
    maker = std::thread([&] { create_array(moving, "a", filled_with(11, true)).value(); });
    is_moving.get_future().wait();
  };
  const auto let_it_move = [&] {
    if (!maker.joinable()) return;
    may_move.set_value();
    maker.join();
  };
  creating->before_erase = [&](const std::string& key) {
    if (key == "a/zarr.json") let_it_move();
  };
  creating->before_open = [&](const std::string& key) {
    if (key.ends_with("/moving") && writes > 1) let_it_move();
  };
  const auto created = create_array(creating, "a", {.shape = {8}, .dtype = DType::uint8, .chunks = {8}});
  let_it_move();
  EXPECT_EQ(created.error().code(), ErrorCode::conflict);
  expect_alone(11);
}

// The maker finds a node that was created after it had stored its note, and withdraws.
TEST_P(LocklessMakers, ThatWithdrawLeaveTheNoteOfAProcessThatTookThePathOver) {
  const std::string note = staging_name("a") + "/moving";
  for (const bool is_taken_over : {true, false}) {
    const auto paused = std::make_shared<PausedStore>(store_);
    paused->before_open = [&, is_done = false](const std::string& key) mutable {
      if (key != "a/zarr.json" || is_done || !store_->get(note).value()) return;
      is_done = true;
      store_->set("a/zarr.json", R"({"zarr_format": 3, "node_type": "group"})").value();
      if (is_taken_over) store_->set(note, "maker-of-another").value();
    };
    EXPECT_EQ(create_array(paused, "a", filled_with(11, false)).error().code(), ErrorCode::conflict);
    EXPECT_EQ(store_->get(note).value() == "maker-of-another", is_taken_over);
    open_group(store_, {.writable = true}).value().erase("a").value();
    EXPECT_THAT(keys_of(*store_), ElementsAre("zarr.json"));
  }
}

TEST_P(LocklessMakers, ThatWithdrewDoNotExposeForeignObjects) {
  const auto paused = std::make_shared<PausedStore>(store_);
  const std::string note = staging_name("a") + "/moving";
  paused->before_open = [&, is_done = false](const std::string& key) mutable {
    if (key != "a/zarr.json" || is_done || !store_->get(note).value()) return;
    is_done = true;
    store_->set("a/zarr.json", R"({"zarr_format": 3, "node_type": "group"})").value();
  };
  EXPECT_EQ(create_array(paused, "a", filled_with(11, false)).error().code(), ErrorCode::conflict);
  store_->erase("a/zarr.json").value();
  store_->set("a/readme.txt", "x").value();
  EXPECT_EQ(erase(store_, {.path = "a"}).error().code(), ErrorCode::not_found);
  EXPECT_EQ(create_array(store_, "a", filled_with(21, true)).error().code(), ErrorCode::conflict);
  EXPECT_EQ(store_->get("a/readme.txt").value(), "x");
  store_->erase("a/readme.txt").value();
  create_array(store_, "a", filled_with(21, false)).value();
  expect_alone(21);
}

TEST_P(LocklessMakers, AreAConflictIfTheNodeIsErasedMeanwhile) {
  create_array(store_, "a", filled_with(1, false)).value();
  CreateOptions options = filled_with(11, true);
  options.contents = [&, write = options.contents](const Array& array) {
    auto written = write(array);
    open_group(store_, {.writable = true}).value().erase("a").value();
    return written;
  };
  EXPECT_EQ(create_array(store_, "a", options).error().code(), ErrorCode::conflict);
  EXPECT_THAT(keys_without_withdrawn_notes(*store_), ElementsAre("zarr.json"));
}

// Does nothing once it is cut off, as if the process had been killed.
class KilledStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  bool is_cut_off = false;
  bool dies_at_move = false;

  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, std::uint64_t size) override {
    if (is_cut_off) return io_error("killed");
    return store_->write(key, size);
  }
  Result<bool> erase(const std::string& key, const Condition& condition) override {
    if (is_cut_off) return io_error("killed");
    return store_->erase(key, condition);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    if (is_cut_off) return io_error("killed");
    return store_->erase_prefix(prefix);
  }
  Result<void> move_prefix(const std::string& from, const std::string& to) override {
    is_cut_off = is_cut_off || dies_at_move;
    return Store::move_prefix(from, to);
  }
};

TEST_P(LocklessMakers, ThatWereKilledBeforeTheyMovedLeaveWhatTheNextOneErases) {
  const auto killed = std::make_shared<KilledStore>(store_);
  CreateOptions options = filled_with(11, false);
  options.contents = [&, write = options.contents](const Array& array) {
    auto written = write(array);
    killed->is_cut_off = true;
    return written;
  };
  EXPECT_EQ(create_array(killed, "a", options).error().code(), ErrorCode::io);
  EXPECT_GT(keys_of(*store_).size(), 1u);
  create_array(store_, "a", filled_with(21, false)).value();
  expect_alone(21);
}

TEST_P(LocklessMakers, ThatWereKilledWhileTheyMovedExcludeOthersUntilTheNodeIsErased) {
  create_array(store_, "a", filled_with(1, false)).value();
  const auto killed = std::make_shared<KilledStore>(store_);
  killed->dies_at_move = true;
  EXPECT_EQ(create_array(killed, "a", filled_with(11, true)).error().code(), ErrorCode::io);
  for (const auto& options :
       {filled_with(21, true), CreateOptions{.shape = {4}, .dtype = DType::uint8, .chunks = {2}, .overwrite = true}}) {
    const auto refused = create_array(store_, "a", options);
    EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
    EXPECT_THAT(refused.error().text(), HasSubstr("if none is at work, erase the node"));
  }
  open_group(store_, {.writable = true}).value().erase("a").value();
  EXPECT_THAT(keys_of(*store_), ElementsAre("zarr.json"));
  create_array(store_, "a", filled_with(21, false)).value();
  expect_alone(21);
}

TEST_P(LocklessMakers, AreNotErasedByACreatorThatLookedBeforeTheyWereDone) {
  create_array(store_, "a", filled_with(1, false)).value();
  const auto ending = std::make_shared<EndingStore>(store_);
  ending->calls_left = 1;  // leaves chunks that have no document
  EXPECT_EQ(create_array(ending, "a", filled_with(11, true)).error().code(), ErrorCode::io);
  const auto paused = std::make_shared<PausedStore>(store_);
  paused->before_write = [&, is_first = true](const std::string& key) mutable {
    if (key.ends_with("/moving") && std::exchange(is_first, false))
      create_array(store_, "a", filled_with(21, false)).value();
  };
  const auto created = create_array(paused, "a", {.shape = {8}, .dtype = DType::uint8, .chunks = {8}});
  EXPECT_EQ(created.error().code(), ErrorCode::conflict);
  expect_alone(21);
}

TEST_P(LocklessMakers, ThatFailedWhileTheyMovedDoNotExcludeOthers) {
  for (const bool with_contents : {false, true}) {
    create_array(store_, "a", filled_with(1, true)).value();
    const auto ending = std::make_shared<EndingStore>(store_);
    ending->calls_left = 1;  // the old document is erased, its chunks are not
    EXPECT_EQ(create_array(ending, "a", filled_with(11, true)).error().code(), ErrorCode::io);
    EXPECT_FALSE(open(store_, {.path = "a"}));
    CreateOptions options = filled_with(21, false);
    if (!with_contents) options.contents = nullptr;
    const Array array = create_array(store_, "a", options).value();
    array.write(Box{{0}, {4}}, std::span<const std::uint8_t>(bytes_from(21))).value();
    expect_alone(21);
  }
}

}  // namespace
}  // namespace sherd
