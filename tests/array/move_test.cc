// Nodes that are moved to another path of their store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "array/hierarchy.hpp"
#include "store/forwarding.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace {

using testing::AnyOf;
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

TEST_F(Moved, NodeDoesNotReplaceAGroupThatContainsIt) {
  const auto tree = tree_of(*store_);
  const auto replaced = root_->move("g/a", "g");
  EXPECT_EQ(code_of(replaced), ErrorCode::conflict);
  EXPECT_THAT(replaced.error().text(), HasSubstr("'g', which contains it"));
  EXPECT_EQ(tree_of(*store_), tree);
}

TEST_F(Moved, OthersAreNotDisturbedByADamagedNote) {
  const std::string key = staging_name("x/y") + "/rename.json";
  for (const char* note : {R"({"from": "x/y/z", "to": "x/y", "moved": false})", "[]", "{"}) {
    store_->set(key, note).value();
    root_->move("g", "h").value();
    create_array(store_, "x/z", bytes_array()).value();
    create_array(store_, "x/z", bytes_array(true)).value();
    const auto refused = create_array(store_, "x/y", bytes_array());
    EXPECT_EQ(code_of(refused), ErrorCode::corrupt) << note;
    EXPECT_THAT(refused.error().text(), HasSubstr("remove '" + key + "'")) << note;
    root_->erase("x").value();
    root_->move("h", "g").value();
    const auto faults = check(store_).value().faults;
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_THAT(faults.front().message, HasSubstr("remove '" + key + "'"));
    EXPECT_TRUE(store_->erase(key).value());
    create_array(store_, "x/y", bytes_array()).value();
    root_->erase("x").value();
  }
}

TEST_F(Moved, NodeThatExistsIsNotErasedWithADamagedNote) {
  const std::string key = staging_name("g/a") + "/rename.json";
  store_->set(key, "[]").value();
  for (const auto& refused : {root_->erase("g/a"), root_->move("g/a", "c")}) {
    EXPECT_EQ(code_of(refused), ErrorCode::corrupt);
    EXPECT_THAT(refused.error().text(), HasSubstr("remove '" + key + "'"));
  }
  EXPECT_EQ(code_of(create_array(store_, "g/a", bytes_array(true))), ErrorCode::corrupt);
  EXPECT_TRUE(store_->erase(key).value());
  root_->move("g/a", "c").value();
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

/// Calls `other` before one of its requests. Moves nodes at once or object by object.
class InterruptedStore final : public ForwardingStore {
 public:
  InterruptedStore(std::shared_ptr<Store> store, int requests, bool at_once, std::function<void()> other)
      : ForwardingStore(std::move(store)), left_(requests), at_once_(at_once), other_(std::move(other)) {}

  bool until_locked = false;  ///< `other` would wait later

  [[nodiscard]] bool interrupted() const { return interrupted_; }

  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override {
    auto lock = next().lock(key);
    if (until_locked) left_ = -1;
    return lock;
  }
  Result<std::shared_ptr<ByteSource>> open(const std::string& key) override { return next().open(key); }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, std::uint64_t size_hint) override {
    return next().write(key, size_hint);
  }
  Result<bool> erase(const std::string& key, const Condition& condition) override {
    return next().erase(key, condition);
  }
  Result<void> erase_prefix(const std::string& prefix) override { return next().erase_prefix(prefix); }
  Result<void> wait_for_writers(const std::string& prefix) override { return next().wait_for_writers(prefix); }
  Result<bool> move_at_once(const std::string& from, const std::string& to) override {
    return at_once_ ? next().move_at_once(from, to) : Result<bool>(false);
  }
  Result<void> move_prefix(const std::string& from, const std::string& to) override {
    return next().move_prefix(from, to);
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    return next().visit(prefix, depth, visit);
  }

 private:
  Store& next() {
    if (left_ >= 0 && left_-- == 0) {
      interrupted_ = true;
      other_();
    }
    return *store_;
  }

  int left_;
  bool interrupted_ = false;
  const bool at_once_;
  const std::function<void()> other_;
};

struct MoveKind {
  std::string name;
  bool files = false;
  bool locks = true;
  bool at_once = true;
};

/// Two renames. The second one runs from beginning to end between two requests of the first one.
class TwoMoves : public testing::TestWithParam<MoveKind> {
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
    for (int requests = 0; interrupted; requests += GetParam().files ? 3 : 1) {  // files take longer
      SCOPED_TRACE("request " + std::to_string(requests));
      Outcome outcome{beneath(), {}, {}};
      create_group(outcome.store, "").value();
      create_array(outcome.store, "g/a", bytes_array()).value().fill(Box{{0}, {4}}, std::vector{std::byte{7}}).value();
      const auto other_store = front(outcome.store);
      const auto store = std::make_shared<InterruptedStore>(outcome.store, requests, GetParam().at_once, [&] {
        outcome.other = rename(other_store, "/" + other.to, {.path = other.from});
      });
      store->until_locked = GetParam().locks && other.from == "g/a";
      outcome.renamed = rename(front(store), "/" + to, {.path = "g/a"});
      interrupted = store->interrupted();
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
  std::shared_ptr<Store> beneath() {
    if (!GetParam().files) return memory_store();
    return file_store(std::string(directory_.path()) + "/" + std::to_string(++stores_), {.durable = false}).value();
  }
  static std::shared_ptr<Store> front(const std::shared_ptr<Store>& store) {
    return GetParam().locks ? store : std::make_shared<LocklessStore>(store, true);
  }

  TempDir directory_;
  int stores_ = 0;
};

TEST_P(TwoMoves, OfANodeAndOfItsGroupNeitherLoseItNorReportAMoveThatWasNotMade) {
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

INSTANTIATE_TEST_SUITE_P(All, TwoMoves,
                         testing::Values(MoveKind{"Memory"}, MoveKind{.name = "Files", .files = true},
                                         MoveKind{.name = "MemoryObjectByObject", .at_once = false},
                                         MoveKind{.name = "FilesObjectByObject", .files = true, .at_once = false},
                                         MoveKind{.name = "Lockless", .locks = false}),
                         [](const auto& kind) { return kind.param.name; });

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
