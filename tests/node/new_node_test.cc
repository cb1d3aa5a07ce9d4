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

#include "node/claim.hpp"
#include "sherd/sherd.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace new_node_test {

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

// Runs `attempt` with a store that holds the old array at "a" and fails at its first call that erases or moves, then
// at its second …,
// until it succeeds; after each failure, calls `look` with the underlying store.
template <class Attempt, class Look>
void end_at_each_call(const Attempt& attempt, const Look& look) {
  for (int calls = 0;; ++calls) {
    const auto beneath = memory_store();
    create_array(beneath, "a", filled_with(1, false)).value();
    const auto ending = std::make_shared<TestStore>(beneath);
    ending->fail_from(calls, Op::erase | Op::erase_prefix | Op::move_at_once | Op::move_all);
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

TEST(NewNode, IsNotLostIfItCannotBeMovedIntoPlace) {
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

/// `other` happens on another thread when the contents are written and the array is not yet visible.
CreateOptions filled_while(const std::function<void()>& other) {
  CreateOptions options = filled_with(11, false);
  options.contents = [other, write = options.contents](const Array& array) -> Result<void> {
    if (auto written = write(array); !written) return written;
    std::thread(other).join();
    return {};
  };
  return options;
}

TEST(CreateArray, WaitsForTheMakerOfANodeAtThatPathAndLeavesItsObjects) {
  const auto store = memory_store();
  create_group(store, "").value();
  const CreateOptions options = filled_while([&] {
    const auto other =
        create_array(store, "a", {.shape = {8}, .dtype = DType::uint8, .chunks = {8}, .config = {.lock_timeout = 0}});
    EXPECT_EQ(other.error().code(), ErrorCode::unavailable);
  });
  create_array(store, "a", options).value();
  EXPECT_EQ(elements(store, "a"), bytes_from(11));
}

TEST(Erasing, OfTheRootWaitsForTheMakersOfNodesInIt) {
  const auto store = memory_store();
  create_group(store, "").value();
  const CreateOptions options = filled_while(
      [&] { EXPECT_EQ(erase(store, {.config = {.lock_timeout = 0}}).error().code(), ErrorCode::unavailable); });
  create_array(store, "a", options).value();
  EXPECT_EQ(elements(store, "a"), bytes_from(11));
  erase(store, {}).value();
  EXPECT_THAT(keys_of(*store), testing::IsEmpty());
}

// A creator that looked before the other began, and stores the only document of its node, needs no lock of the node.
TEST(CreateArray, ThatComesBeforeTheMoveOfAnotherNodeIsNotLost) {
  for (const bool overwrite : {false, true}) {
    const auto store = memory_store();
    create_group(store, "").value();
    create_group(store, "other").value();
    const std::string document = store->get("other/zarr.json").value().value();
    erase(store, {.path = "other"}).value();
    const auto moving = std::make_shared<TestStore>(store);
    moving->of = Op::move_at_once;
    moving->at(0, [&] { store->set("a/zarr.json", document).value(); });
    const auto made = create_array(moving, "a", filled_with(11, overwrite));
    if (overwrite) {
      EXPECT_EQ(elements(store, "a"), bytes_from(11));
      EXPECT_THAT(keys_of(*store), ElementsAre("a/c/0", "a/c/1", "a/zarr.json", "zarr.json"));
    } else {
      EXPECT_EQ(made.error().code(), ErrorCode::conflict);
      EXPECT_THAT(keys_of(*store), ElementsAre("a/zarr.json", "zarr.json"));
    }
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
    const auto ending = std::make_shared<TestStore>(beneath);
    ending->fail_from(calls, Op::erase | Op::erase_prefix | Op::move_at_once | Op::move_all);
    if (erase(ending, group)) break;
    cut_off = cut_off || !open(beneath, {.path = "g/a"});
    erase(beneath, group).value();
    EXPECT_THAT(keys_of(*beneath), ElementsAre("zarr.json"));
    EXPECT_EQ(erase(beneath, group).error().code(), ErrorCode::not_found);
  }
  EXPECT_TRUE(cut_off);
}

TEST(Erasing, IsRefusedIfAnObjectOfAnotherProgramWouldBeErasedToo) {
  for (const bool is_claimed : {false, true}) {
    const auto store = memory_store();
    Group group = create_group(store, "").value();
    create_array(store, "a", filled_with(1, false)).value();
    store->set("a/notes.txt", "x").value();
    if (is_claimed) store->set(staging_name("a") + "/claim", "").value();
    EXPECT_EQ(erase(store, {.path = "a"}).error().code(), ErrorCode::conflict);
    EXPECT_EQ(group.erase("a").error().code(), ErrorCode::conflict);
    EXPECT_EQ(group.erase("a").error().key(), "a/notes.txt");
    store->erase("a/zarr.json").value();
    EXPECT_FALSE(create_array(store, "a", filled_with(11, false)));
    EXPECT_EQ(store->get("a/notes.txt").value(), "x");
    EXPECT_EQ(store->get("a/c/0").value().has_value(), true);
  }
}

TEST(Erasing, IsNotPreventedByADamagedGroupAroundTheNode) {
  const auto store = memory_store();
  create_array(store, "a", filled_with(1, false)).value();
  store->set("zarr.json", "{").value();
  store->set("a/notes.txt", "x").value();
  EXPECT_EQ(erase(store, {.path = "a"}).error().key(), "a/notes.txt");
  store->erase("a/notes.txt").value();
  erase(store, {.path = "a"}).value();
  EXPECT_THAT(keys_of(*store), ElementsAre("zarr.json"));
}

TEST(NewNode, FollowsADirectoryLinkAlsoToAnotherFileSystem) {
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

}  // namespace new_node_test
}  // namespace sherd
