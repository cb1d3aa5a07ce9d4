// Moves of nodes that cannot be renamed atomically, while others write into them, and moves that are interrupted:
// whatever a writer was told is stored can be found at the new path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "array/hierarchy.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/array/stepping_store.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// A document that cannot be erased conditionally is empty for a moment.
bool is_refusal(ErrorCode code) { return code == ErrorCode::conflict || code == ErrorCode::corrupt; }

struct Kind {
  std::string name;
  bool files = false;
  bool locks = true;
  bool conditional_erase = true;
};

class SlowMove : public testing::TestWithParam<Kind> {
 protected:
  std::shared_ptr<Store> beneath() {
    if (!GetParam().files) return memory_store();
    return file_store(directory_ / std::to_string(++stores_), {.durable = false}).value();
  }
  /// The stores used for moving and writing.
  static std::shared_ptr<Store> front(const std::shared_ptr<Store>& store) {
    if (GetParam().locks) return store;
    return std::make_shared<LocklessStore>(store, GetParam().conditional_erase);
  }
  static void make(const std::shared_ptr<Store>& store) {
    create_group(store, "").value();
    Array array = create_array(store, "g/a", options()).value();
    array.fill(Box{{0}, {8}}, std::vector{std::byte{7}}).value();
    create_array(store, "g/b", bytes_array()).value();
  }
  static CreateOptions options() {
    CreateOptions options = bytes_array();
    options.shape = {12};
    options.chunks = {4};
    return options;
  }
  static std::vector<std::uint8_t> elements(const std::shared_ptr<Store>& store, const std::string& path) {
    std::vector<std::uint8_t> values(12);
    open_array(store, {.path = path}).value().read(Box{{0}, {12}}, std::span(values)).value();
    return values;
  }

  /// Writes before each request of `move` in turn. `move` returns where the array is afterwards.
  void expect_kept(const std::function<std::string(const std::shared_ptr<Store>&, SteppingStore&)>& move) {
    struct Part {
      std::uint64_t begin, count;
      std::uint8_t value;
    };
    // A part of a chunk, a whole one, a new one, a part of a new one, and the fill value.
    for (const Part part : {Part{1, 2, 1}, {4, 4, 1}, {8, 4, 1}, {9, 2, 1}, {0, 4, 0}}) {
      bool refused = false, stored = false;
      for (int step = 0;; step += GetParam().files ? 5 : 1) {  // files take longer
        const auto stepping = std::make_shared<SteppingStore>(beneath());
        const auto store = front(stepping);
        make(store);
        const Array before = open_array(store, {.path = "g/a", .writable = true}).value();
        bool done = false;
        int left = step;
        Result<void> written;
        stepping->before = [&] {
          if (done || left-- > 0) return;
          done = true;
          written = before.fill(Box{{part.begin}, {part.count}}, std::vector{std::byte{part.value}});
        };
        const std::string path = move(store, *stepping);
        stepping->before = [] {};
        std::vector<std::uint8_t> expected(12, 7);
        std::fill(expected.begin() + 8, expected.end(), 0);
        const auto of_part = expected.begin() + static_cast<int>(part.begin);
        auto read = elements(store, path);
        if (done && written)
          std::fill_n(of_part, part.count, part.value);
        else if (path == "g/a")  // a refused write may be stored nevertheless
          std::copy_n(of_part, part.count, read.begin() + static_cast<int>(part.begin));
        EXPECT_EQ(read, expected) << "step " << step;
        if (!done) break;
        stored = stored || written;
        refused = refused || !written;
        if (!written) {
          EXPECT_TRUE(is_refusal(code_of(written))) << written.error().text();
        }
      }
      EXPECT_TRUE(stored);
      EXPECT_TRUE(refused);
    }
  }

  using Keys = std::vector<std::string>;
  static bool any_below(const Keys& keys, const std::string& prefix) {
    return std::ranges::any_of(keys, [&](const std::string& key) { return key.starts_with(prefix); });
  }
  static bool is_aside(const Keys& keys, const std::string& path) {
    return std::ranges::find(keys, staging_name(path) + "/documents/zarr.json") != keys.end() &&
           std::ranges::find(keys, path + "/zarr.json") == keys.end();
  }

  static constexpr const char* kDocumentOfCreator = R"({"zarr_format": 3, "node_type": "group"})";
  /// A creator that looked for notes before there were any stores its document as soon as the store is like this.
  struct Creator {
    std::string key;
    std::function<bool(const Keys& keys)> when;
    int withdraws_after = 1 << 30;  ///< requests of the rename
  };
  static Result<void> rename_beside_creator(const std::shared_ptr<Store>& beneath, const std::string& from,
                                            const std::string& to, const Creator& creator, bool fails_moving = false) {
    const auto stepping = std::make_shared<SteppingStore>(beneath);
    stepping->fails_moving = fails_moving;
    int requests = -1;
    std::thread withdrawing;  // waits for a lock that the request may hold
    stepping->before = [&] {
      if (requests < 0 && creator.when(keys_of(*beneath))) {
        requests = 0;
        beneath->set(creator.key, kDocumentOfCreator, Condition::absent()).value();
      } else if (requests >= 0 && ++requests == creator.withdraws_after) {
        withdrawing = std::thread([&] { EXPECT_TRUE(beneath->erase(creator.key).value()); });
      }
    };
    auto renamed = rename(front(stepping), to, {.path = from});
    EXPECT_GE(requests, 0);
    if (withdrawing.joinable()) withdrawing.join();
    return renamed;
  }

  TempDir directory_;
  int stores_ = 0;
};

TEST_P(SlowMove, KeepsWhatWasWrittenBeforeAnyOfItsRequests) {
  const auto rename_group = [](const std::shared_ptr<Store>& store, SteppingStore&) {
    rename(store, "h/i", {.path = "g"}).value();
    EXPECT_EQ(code_of(open(store, {.path = "g/a"})), ErrorCode::not_found);
    return "h/i/a";
  };
  expect_kept(rename_group);
}

TEST_P(SlowMove, KeepsWhatIsWrittenMeanwhileIfItIsTakenBack) {
  const auto fail_to_rename_group = [](const std::shared_ptr<Store>& store, SteppingStore& stepping) {
    stepping.fails_moving = true;
    const auto failed = rename(store, "i", {.path = "g"});
    EXPECT_TRUE(!failed && failed.error().code() == ErrorCode::io);
    return failed ? "i/a" : "g/a";
  };
  expect_kept(fail_to_rename_group);
}

TEST_P(SlowMove, ThatIsCutShortLosesNothingAndIsEndedByAnother) {
  bool in_place = false, cut_short = false;
  for (int changes = 0;; ++changes) {
    const auto stepping = std::make_shared<SteppingStore>(beneath());
    const auto store = front(stepping);
    make(store);
    const auto expected = elements(store, "g/a");
    stepping->changes_left = changes;
    const auto failed = rename(store, "h/i", {.path = "g"});
    stepping->changes_left = 1 << 30;
    if (failed) break;
    EXPECT_EQ(code_of(failed), ErrorCode::io);
    const bool is_old = open(store, {.path = "g"}).has_value();
    if (!is_old && !open(store, {.path = "h/i"})) {
      cut_short = true;
      EXPECT_THAT(failed.error().text(), HasSubstr("rename it again"));
      for (const char* path : {"g", "g/a", "g/c", "h/i", "h/i/c"}) {
        const auto made = create_array(store, path, bytes_array(true));
        ASSERT_FALSE(made) << path;
        EXPECT_THAT(made.error().text(), AnyOf(HasSubstr("rename it again"), HasSubstr("is empty"))) << path;
      }
    }
    in_place = in_place || is_old;
    const auto renamed = rename(store, "h/i", {.path = "g"});
    // The first move had finished, except for lists elsewhere.
    if (!renamed) {
      EXPECT_EQ(code_of(renamed), ErrorCode::not_found) << renamed.error().text();
    }
    EXPECT_EQ(elements(store, "h/i/a"), expected) << "change " << changes;
    EXPECT_THAT(keys_of(*store), ElementsAre("h/i/a/c/0", "h/i/a/c/1", "h/i/a/zarr.json", "h/i/b/zarr.json",
                                             "h/i/zarr.json", "h/zarr.json", "zarr.json"));
  }
  EXPECT_TRUE(in_place);
  EXPECT_TRUE(cut_short);
}

TEST_P(SlowMove, DoesNotTakeTheDocumentOfACreatorForItsOwn) {
  const auto store = beneath();
  make(front(store));
  const auto expected = elements(store, "g/a");
  const auto have_arrived = [](const auto& keys) { return any_below(keys, "h/") && !any_below(keys, "g/a/"); };
  rename_beside_creator(store, "g/a", "/h", {"h/zarr.json", have_arrived, 20}).value();
  EXPECT_EQ(elements(store, "h"), expected);
}

TEST_P(SlowMove, DoesNotPutTheDocumentOfACreatorAside) {
  const auto store = beneath();
  make(front(store));
  const auto expected = elements(store, "g/a");
  rename_beside_creator(store, "g/a", "/h",
                        {"g/a/zarr.json", [](const auto& keys) { return is_aside(keys, "g/a"); }, 8})
      .value();
  EXPECT_EQ(elements(store, "h"), expected);
}

TEST_P(SlowMove, LeavesTheDocumentOfACreatorAtTheNewPathIfItIsTakenBack) {
  const auto store = beneath();
  make(front(store));
  auto expected = tree_of(*store);
  const Creator killed{"i/zarr.json", [](const auto& keys) { return is_aside(keys, "g"); }};
  const auto failed = rename_beside_creator(store, "g", "i", killed, true);
  EXPECT_EQ(code_of(failed), ErrorCode::io);
  EXPECT_THAT(failed.error().text(), testing::Not(HasSubstr("rename it again")));
  expected["i/zarr.json"] = kDocumentOfCreator;
  EXPECT_EQ(tree_of(*store), expected);
}

TEST_P(SlowMove, IsTakenBackIfOneRequestFails) {
  const auto stepping = std::make_shared<SteppingStore>(beneath());
  const auto store = front(stepping);
  make(store);
  const auto tree = tree_of(*store);
  stepping->fails_moving = true;
  const auto failed = rename(store, "i", {.path = "g"});
  EXPECT_EQ(code_of(failed), ErrorCode::io);
  EXPECT_THAT(failed.error().text(), testing::Not(HasSubstr("rename it again")));
  EXPECT_EQ(tree_of(*store), tree);
}

/// Each thread sets elements of its own, and sets them again at the new path if it is refused.
void write_while_renaming(const std::shared_ptr<Store>& store) {
  std::atomic<int> at = 0;
  const auto open_there = [&] {
    for (;;)
      if (auto array = open_array(store, {.path = "x" + std::to_string(at) + "/a", .writable = true}))
        return *std::move(array);
  };
  constexpr std::uint64_t kThreads = 3, kElements = 4 * kThreads;
  CreateOptions options = bytes_array();
  options.shape = {kElements};
  options.chunks = {kThreads};
  create_group(store, "").value();
  create_array(store, "x0/a", options).value();
  std::atomic<bool> ended = false;
  std::array<std::array<std::uint8_t, 4>, kThreads> stored{};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Array array = open_there();
      for (std::uint64_t i = 0; !ended; ++i) {
        const std::uint64_t chunk = i / 3 % 4;
        const auto value = static_cast<std::uint8_t>(i);
        for (;;) {
          const auto written = array.fill(Box{{chunk * kThreads + t}, {1}}, std::vector{std::byte{value}});
          if (written) break;
          ASSERT_TRUE(is_refusal(code_of(written))) << written.error().text();
          array = open_there();  // a refused write may be stored nevertheless
        }
        stored.at(t).at(chunk) = value;
      }
    });
  for (int i = 0; i < 40; ++i, ++at) {
    // A refused write may be stored at the old path, so each value is used once.
    const auto moved = rename(store, "x" + std::to_string(i + 1), {.path = "x" + std::to_string(i)});
    EXPECT_TRUE(moved) << moved.error().text();
    if (!moved) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ended = true;
  for (auto& thread : threads) thread.join();
  std::vector<std::uint8_t> values(kElements);
  open_there().read(Box{{0}, {kElements}}, std::span(values)).value();
  for (std::uint64_t t = 0; t < kThreads; ++t)
    for (std::uint64_t chunk = 0; chunk < 4; ++chunk)
      EXPECT_EQ(values[chunk * kThreads + t], stored.at(t).at(chunk)) << t << " " << chunk;
}

TEST_P(SlowMove, LosesNothingThatOtherThreadsWrite) {
  write_while_renaming(front(std::make_shared<SteppingStore>(beneath())));
}

INSTANTIATE_TEST_SUITE_P(
    All, SlowMove,
    testing::Values(Kind{"Memory"}, Kind{.name = "Files", .files = true}, Kind{.name = "Lockless", .locks = false},
                    Kind{.name = "LocklessWithoutConditionalErase", .locks = false, .conditional_erase = false}),
    [](const auto& kind) { return kind.param.name; });

TEST(MoveAtOnce, LosesNothingThatOtherThreadsWrite) {
  const TempDir folder;
  write_while_renaming(file_store(folder.path(), {.durable = false}).value());
}

/// A group whose documents had been put aside when the disk failed.
class CutShortMove : public testing::Test {
 protected:
  void SetUp() override {
    create_group(store_, "").value();
    Array array = create_array(store_, "g/a", bytes_array()).value();
    array.fill(Box{{0}, {4}}, std::vector{std::byte{7}}).value();
    open_group(store_, {.writable = true})->consolidate().value();
  }
  /// Renames g to h/i.
  void cut_short() {
    for (int changes = 0; open(store_, {.path = "g"}); ++changes) {
      stepping_->changes_left = changes;
      ASSERT_FALSE(rename(store_, "h/i", {.path = "g"}));
      stepping_->changes_left = 1 << 30;
    }
    ASSERT_FALSE(open(store_, {.path = "h/i"}));
  }
  void expect_complete() {
    rename(store_, "h/i", {.path = "g"}).value();
    std::vector<std::uint8_t> values(4);
    open_array(store_, {.path = "h/i/a"}).value().read(Box{{0}, {4}}, std::span(values)).value();
    EXPECT_THAT(values, ElementsAre(7, 7, 7, 7));
    const std::string listed = text_at(*store_, "zarr.json");
    EXPECT_THAT(listed, HasSubstr("h/i/a"));
    EXPECT_THAT(listed, testing::Not(HasSubstr("g/a")));
  }

  std::shared_ptr<SteppingStore> stepping_ = std::make_shared<SteppingStore>(memory_store());
  std::shared_ptr<Store> store_ = stepping_;
};

TEST_F(CutShortMove, IsNotDisturbedByOtherOperations) {
  cut_short();
  for (const char* path : {"h/i", "h"}) {
    for (const auto& outcome : {erase(store_, {.path = path}), rename(store_, "/x", {.path = path})}) {
      ASSERT_FALSE(outcome) << path;
      EXPECT_THAT(outcome.error().text(), HasSubstr("'g' is being renamed to 'h/i'")) << path;
    }
  }
  EXPECT_THAT(erase(store_, {.path = "g"}).error().text(), HasSubstr("rename it again"));
  EXPECT_THAT(open_group(store_)->open("g").error().text(), HasSubstr("rename it again"));
  EXPECT_EQ(code_of(create_group(store_, "", {}, true)), ErrorCode::conflict);
  expect_complete();
}

TEST_F(CutShortMove, FailsWithoutALossIfACreatorWasKilledAtTheNewPath) {
  const std::string document = text_at(*store_, "g/zarr.json");
  cut_short();
  store_->set("h/i/zarr.json", R"({"zarr_format": 3, "node_type": "group"})", Condition::absent()).value();
  const auto failed = rename(store_, "h/i", {.path = "g"});
  ASSERT_TRUE(!failed && code_of(failed) == ErrorCode::conflict);
  const std::string aside = staging_name("g") + "/documents/zarr.json";
  EXPECT_THAT(failed.error().text(), testing::AllOf(HasSubstr("'h/i/zarr.json'"), HasSubstr(aside)));
  EXPECT_EQ(text_at(*store_, aside), document);
  EXPECT_TRUE(store_->erase("h/i/zarr.json").value());
  expect_complete();
}

TEST_F(CutShortMove, IsNotUndoneByACreatorThatWithdrawsTheSameDocument) {
  const std::string document = text_at(*store_, "g/zarr.json");
  cut_short();
  store_->set("h/i/zarr.json", document, Condition::absent()).value();
  const Generation created = store_->open("h/i/zarr.json").value()->generation().value();
  rename(store_, "h/i", {.path = "g"}).value();
  EXPECT_FALSE(store_->erase("h/i/zarr.json", Condition::matches(created)).has_value());
  EXPECT_TRUE(open_group(store_, {.path = "h/i"}));
}

TEST_F(CutShortMove, IsNotTakenToAnotherPathWhereItMayStillBeUnderWay) {
  cut_short();
  const auto lockless = std::make_shared<LocklessStore>(store_, true);
  const auto renamed = rename(lockless, "x", {.path = "g"});
  EXPECT_EQ(code_of(renamed), ErrorCode::conflict);
  EXPECT_THAT(renamed.error().text(), HasSubstr("'g' is being renamed to 'h/i'"));
  EXPECT_THAT(renamed.error().text(), HasSubstr("rename it to '/h/i' to complete it"));
  EXPECT_EQ(code_of(open_group(lockless, {.writable = true})->move("g", "x")), ErrorCode::conflict);
  rename(lockless, "h/i", {.path = "g"}).value();
  EXPECT_EQ(code_of(rename(store_, "h/i", {.path = "g"})), ErrorCode::not_found);
  EXPECT_TRUE(open_array(store_, {.path = "h/i/a"}));
}

TEST_F(CutShortMove, KeepsWhatAnotherMakerLeftAtItsPaths) {
  const auto left = [](const char* path) { return staging_name(path) + "/node/left"; };
  for (const char* path : {"g", "h/i"}) store_->set(left(path), "x").value();
  cut_short();
  expect_complete();
  EXPECT_THAT(keys_of(*store_), testing::IsSupersetOf({left("g"), left("h/i")}));
}

TEST_F(CutShortMove, OfADamagedNoteIsReported) {
  cut_short();
  const std::string key = staging_name("g") + "/rename.json", note = text_at(*store_, key);
  for (const char* damaged : {"", "[]", R"({"from": "g", "to": ""})", R"({"from": "g", "to": "g/x"})",
                              R"({"from": "g", "to": "../x"})", R"({"from": "", "to": "x"})"}) {
    store_->set(key, damaged).value();
    const auto renamed = rename(store_, "h/i", {.path = "g"});
    EXPECT_EQ(code_of(renamed), ErrorCode::corrupt) << damaged;
    EXPECT_THAT(renamed.error().text(), HasSubstr(key));
  }
  store_->set(key, note).value();
  expect_complete();
}

TEST_F(CutShortMove, HasNotBegunIfSomethingIsAtItsNewPath) {
  const std::string note = R"({"from": "g", "to": "h/i", "moved": false})";
  const auto tree = tree_of(*store_);
  for (const std::string at_new_path : {"", R"({"from": "y", "to": "h/i", "moved": false})", note.c_str()}) {
    store_->set(staging_name("g") + "/rename.json", note).value();
    const std::string key = staging_name("h/i") + "/rename.json";
    if (!at_new_path.empty()) store_->set(key, at_new_path).value();
    store_->set("h/i/c/0", "x").value();
    EXPECT_EQ(code_of(rename(store_, "h/i", {.path = "g"})), ErrorCode::conflict);
    EXPECT_EQ(store_->erase("h/i/c/0").value(), true);
    const bool is_of_another = at_new_path.find('y') != std::string::npos;
    EXPECT_EQ(store_->erase(key).value(), is_of_another);
    EXPECT_EQ(tree_of(*store_), tree);
  }
  expect_complete();
}

class LinkedNode : public testing::Test {
 protected:
  /// Makes the array g/a, whose directory is a link to another one.
  void link(const fs::path& text) {
    create_group(store_, "g").value();
    Array array = create_array(store_, "g/a", bytes_array()).value();
    array.fill(Box{{0}, {4}}, std::vector{std::byte{7}}).value();
    fs::rename(folder_ / "h/g/a", folder_ / "disk");
    fs::create_directory_symlink(text, folder_ / "h/g/a");
  }
  void expect_moved_to(const std::string& path) {
    rename(store_, "/" + path, {.path = "g/a"}).value();
    EXPECT_TRUE(fs::is_symlink(folder_ / "h" / path));
    EXPECT_TRUE(fs::equivalent(folder_ / "h" / path, folder_ / "disk"));
    EXPECT_FALSE(fs::is_symlink(folder_ / "h/g/a"));
    EXPECT_TRUE(fs::exists(folder_ / "disk/c/1"));
    std::vector<std::uint8_t> values(4);
    open_array(store_, {.path = path}).value().read(Box{{0}, {4}}, std::span(values)).value();
    EXPECT_THAT(values, ElementsAre(7, 7, 7, 7));
  }

  struct Folder : TempDir {
    fs::path operator/(const fs::path& name) const { return fs::path(path()) / name; }
  } folder_;
  std::shared_ptr<Store> store_ = file_store((folder_ / "h").string()).value();
};

TEST_F(LinkedNode, MovesAsALink) {
  link(folder_ / "disk");
  expect_moved_to("i/j/a");
  EXPECT_EQ(fs::read_symlink(folder_ / "h/i/j/a"), folder_ / "disk");
}

TEST_F(LinkedNode, IsMovedFromItsDirectoryIfTheLinkWouldLeadElsewhere) {
  link("../../disk");
  rename(store_, "/i/j/a", {.path = "g/a"}).value();
  EXPECT_TRUE(fs::exists(folder_ / "h/i/j/a/c/1"));
  EXPECT_FALSE(fs::is_symlink(folder_ / "h/i/j/a"));
  EXPECT_FALSE(fs::is_symlink(folder_ / "h/g/a"));
  EXPECT_TRUE(fs::is_empty(folder_ / "disk"));
  EXPECT_EQ(code_of(open(store_, {.path = "g/a"})), ErrorCode::not_found);
}

TEST_F(LinkedNode, KeepsItsTextInTheSameDirectory) {
  link("../../disk");
  expect_moved_to("g/b");
  EXPECT_EQ(fs::read_symlink(folder_ / "h/g/b"), "../../disk");
}

TEST_F(LinkedNode, MovesIntoADirectoryThatExists) {
  link(folder_ / "disk");
  fs::create_directory(folder_ / "h/b");
  rename(store_, "/b", {.path = "g/a"}).value();
  EXPECT_TRUE(fs::exists(folder_ / "h/b/c/1"));
  EXPECT_EQ(code_of(open(store_, {.path = "g/a"})), ErrorCode::not_found);
}

TEST_F(LinkedNode, LosesNothingThatOtherThreadsWrite) {
  fs::create_directories(folder_ / "disk");
  fs::create_directories(folder_ / "h");
  fs::create_directory_symlink(folder_ / "disk", folder_ / "h/x0");
  write_while_renaming(store_);
}

}  // namespace
}  // namespace sherd
