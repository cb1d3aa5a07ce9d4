// Nodes that are moved to another path of their store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "node/claim.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace move_test {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
namespace fs = std::filesystem;

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

TEST_F(Moved, NodeDoesNotReplaceAGroupThatContainsIt) {
  const auto tree = tree_of(*store_);
  const auto replaced = root_->move("g/a", "g");
  EXPECT_EQ(code_of(replaced), ErrorCode::conflict);
  EXPECT_THAT(replaced.error().text(), HasSubstr("'g', which contains it"));
  EXPECT_EQ(tree_of(*store_), tree);
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

/// Two renames. The second one runs from beginning to end between two requests of the first one.
class TwoMoves : public testing::TestWithParam<bool> {
 protected:
  struct Renamed {
    std::string from, to;
  };
  struct Outcome {
    std::shared_ptr<Store> store;
    Result<void> renamed, other;
  };

  /// Renames g/a to `to`; before each of its requests in turn, the `other` rename.
  void each(const Renamed& other, const std::string& to, const std::function<void(const Outcome&)>& expect) {
    bool interrupted = true;
    for (int requests = 0; interrupted; requests += is_on_files() ? 3 : 1) {  // files take longer
      SCOPED_TRACE("request " + std::to_string(requests));
      Outcome outcome{beneath(), {}, {}};
      create_group(outcome.store, "").value();
      create_array(outcome.store, "g/a", bytes_array()).value().fill(Box{{0}, {4}}, std::vector{std::byte{7}}).value();
      const auto store = std::make_shared<TestStore>(outcome.store);
      store->of =
          Op::lock | Op::open | Op::write | Op::erase | Op::erase_prefix | Op::wait | Op::move_at_once | Op::visit;
      store->at(requests, [&] { outcome.other = rename(outcome.store, "/" + other.to, {.path = other.from}); });
      store->after = [&](const Asked& asked) {  // the other one would wait later
        if (asked.op == Op::lock && other.from == "g/a") store->cancel();
      };
      outcome.renamed = rename(store, "/" + to, {.path = "g/a"});
      interrupted = store->has_acted();
      if (interrupted) expect(outcome);
      for (const std::string& key : keys_of(*outcome.store))
        EXPECT_FALSE(is_staging(key.substr(0, key.find('/')))) << key;
    }
  }
  static void expect_only_array(const std::shared_ptr<Store>& store, const std::string& path) {
    EXPECT_THAT(elements_of(open_array(store, {.path = path}).value()), ElementsAre(7, 7, 7, 7));
    int documents = 0, chunks = 0;
    for (const std::string& key : keys_of(*store)) {
      documents += text_at(*store, key).find("\"array\"") != std::string::npos ? 1 : 0;
      chunks += key.find("/c/") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(documents, 1);
    EXPECT_EQ(chunks, 2);
  }

 private:
  static bool is_on_files() { return GetParam(); }
  std::shared_ptr<Store> beneath() {
    if (!is_on_files()) return memory_store();
    return file_store(std::string(directory_.path()) + "/" + std::to_string(++stores_), {.durable = false}).value();
  }

  TempDir directory_;
  int stores_ = 0;
};

TEST_P(TwoMoves, OfANodeAndOfItsGroupLoseNothingAndReportTheTruth) {
  int refused = 0, found = 0;
  for (const std::string to : {"b", "g/b"}) {
    each({"g", "k"}, to, [&](const Outcome& outcome) {
      const bool group_was_moved = outcome.other.has_value();
      if (!outcome.renamed) {
        EXPECT_THAT(code_of(outcome.renamed), AnyOf(ErrorCode::not_found, ErrorCode::conflict));
        EXPECT_TRUE(group_was_moved);
      }
      if (!group_was_moved) {
        EXPECT_EQ(code_of(outcome.other), ErrorCode::conflict);
      }
      const bool is_in_group = !outcome.renamed || to == "g/b";
      const std::string group = !is_in_group ? "" : group_was_moved ? "k/" : "g/";
      expect_only_array(outcome.store, group + (outcome.renamed ? "b" : "a"));
      ++(outcome.renamed ? found : refused);
    });
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(found, 0);
}

TEST_P(TwoMoves, OfOneNodeToDifferentPathsAreNotBothMade) {
  int refused = 0;
  each({"g/a", "k"}, "b", [&](const Outcome& outcome) {
    EXPECT_NE(outcome.renamed.has_value(), outcome.other.has_value());
    if (!outcome.renamed) {
      EXPECT_THAT(code_of(outcome.renamed), AnyOf(ErrorCode::not_found, ErrorCode::conflict));
    }
    expect_only_array(outcome.store, outcome.renamed ? "b" : "k");
    refused += outcome.renamed ? 0 : 1;
  });
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(All, TwoMoves, testing::Bool(),
                         [](const auto& files) { return files.param ? "Files" : "Memory"; });

constexpr const char* kAdvice = "cannot rename a node; copy it ('sherd copy'), then remove it ('sherd rm')";

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
          ASSERT_EQ(code_of(written), ErrorCode::conflict) << written.error().text();
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

TEST(MoveAtOnce, LosesNothingThatOtherThreadsWrite) {
  const TempDir folder;
  write_while_renaming(file_store(folder.path(), {.durable = false}).value());
}

TEST(MoveAtOnce, LosesNothingThatOtherThreadsWriteInMemory) { write_while_renaming(memory_store()); }

TEST(MoveAtOnce, IsRefusedByAStoreThatCannotAndChangesNothing) {
  const auto store = lockless();
  create_group(store, "").value();
  create_array(store, "g/a", bytes_array()).value();
  open_group(store, {.writable = true})->consolidate().value();
  const auto tree = tree_of(*store);
  const auto renamed = rename(store, "/h/b", {.path = "g/a"});
  EXPECT_EQ(code_of(renamed), ErrorCode::unsupported);
  EXPECT_THAT(renamed.error().text(), HasSubstr(kAdvice));
  EXPECT_EQ(code_of(writable(store, "g").move("a", "b")), ErrorCode::unsupported);
  EXPECT_EQ(tree_of(*store), tree);
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

TEST_F(LinkedNode, IsRefusedIfTheLinkWouldLeadElsewhere) {
  link("../../disk");
  create_group(store_, "i").value();
  const auto tree = tree_of(*store_);
  for (const char* path : {"/i/a", "/i/j/k/a"}) {
    const auto renamed = rename(store_, path, {.path = "g/a"});
    EXPECT_EQ(code_of(renamed), ErrorCode::unsupported);
    EXPECT_THAT(renamed.error().text(), HasSubstr(kAdvice));
    EXPECT_EQ(tree_of(*store_), tree);
  }
  EXPECT_EQ(fs::read_symlink(folder_ / "h/g/a"), "../../disk");
}

TEST_F(LinkedNode, KeepsItsTextInTheSameDirectory) {
  link("../../disk");
  expect_moved_to("g/b");
  EXPECT_EQ(fs::read_symlink(folder_ / "h/g/b"), "../../disk");
}

TEST_F(LinkedNode, ReplacesAnEmptyDirectory) {
  link(folder_ / "disk");
  fs::create_directory(folder_ / "h/b");
  expect_moved_to("b");
}

TEST_F(LinkedNode, StaysIfTheDirectoryAtTheNewPathIsNotEmpty) {
  link(folder_ / "disk");
  fs::create_directories(folder_ / "h/b/c");
  const auto renamed = rename(store_, "/b", {.path = "g/a"});
  EXPECT_EQ(code_of(renamed), ErrorCode::conflict);
  EXPECT_EQ(fs::read_symlink(folder_ / "h/g/a"), folder_ / "disk");
  EXPECT_TRUE(fs::exists(folder_ / "h/b/c"));
}

TEST_F(LinkedNode, LosesNothingThatOtherThreadsWrite) {
  fs::create_directories(folder_ / "disk");
  fs::create_directories(folder_ / "h");
  fs::create_directory_symlink(folder_ / "disk", folder_ / "h/x0");
  write_while_renaming(store_);
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

}  // namespace move_test
}  // namespace sherd
