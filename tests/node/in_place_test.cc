// Nodes that are made at their path, in stores that have conditions but neither locks nor renames: each object is
// stored once, documents last, under a claim that excludes a second process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <set>

#include "base/try.hpp"
#include "node/claim.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace in_place_test {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Remembers the keys that are written, in their order.
std::shared_ptr<TestStore> watched_store(std::shared_ptr<Store> store) {
  auto watched = std::make_shared<TestStore>(std::move(store));
  watched->of = Op::write;
  watched->keys = [](const std::string& key) { return key.find(".sherd-") == key.npos; };
  return watched;
}

CreateOptions filled_with(std::uint8_t first, bool overwrite = false) {
  return {.shape = {4},
          .dtype = DType::uint8,
          .chunks = {2},
          .attributes = Json(Json::Object{{"first", first}}),
          .overwrite = overwrite,
          .contents = [first](const Array& array) {
            std::vector<std::uint8_t> bytes(4);
            std::iota(bytes.begin(), bytes.end(), first);
            return array.write(Box{{0}, {4}}, std::span<const std::uint8_t>(bytes));
          }};
}

std::vector<std::uint8_t> elements(const std::shared_ptr<Store>& store, const std::string& path) {
  std::vector<std::uint8_t> bytes(4);
  open_array(store, {.path = path}).value().read(Box{{0}, {4}}, std::span(bytes)).value();
  return bytes;
}

class InPlace : public testing::TestWithParam<const char*> {
 protected:
  InPlace() { create_group(store_, "", {}, false, {}, GetParam()).value(); }

  [[nodiscard]] bool is_v2() const { return std::string_view(GetParam()) == "zarr2"; }
  /// The keys of an array "a" of four elements, without those of the root.
  [[nodiscard]] std::vector<std::string> array_keys() const {
    if (is_v2()) return {"a/.zarray", "a/.zattrs", "a/0", "a/1"};
    return {"a/c/0", "a/c/1", "a/zarr.json"};
  }
  [[nodiscard]] std::vector<std::string> keys_at_a() const {
    std::vector<std::string> keys = keys_of(*store_);
    std::erase_if(keys, [](const std::string& key) { return !key.starts_with("a/"); });
    return keys;
  }
  [[nodiscard]] std::string claim(const std::string& path) const {
    return claim_key({.store = store_, .path = path, .tables = {}});
  }
  Result<void> erase_a() { return erase(store_, {.path = "a"}); }

  const std::shared_ptr<Store> store_ = lockless(false);
};
INSTANTIATE_TEST_SUITE_P(Formats, InPlace, testing::Values("zarr2", "zarr3"),
                         [](const auto& format) { return std::string(format.param); });

TEST_P(InPlace, AnArrayWithContentsHasItsDocumentsLast) {
  const auto watched = watched_store(store_);
  create_array(watched, "a", filled_with(1)).value();
  EXPECT_EQ(elements(store_, "a"), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  const auto written = watched->log();
  EXPECT_EQ(written.size(), array_keys().size());
  EXPECT_EQ(written.back(), is_v2() ? "a/.zattrs" : "a/zarr.json");
  EXPECT_EQ(written[2], is_v2() ? "a/.zarray" : "a/zarr.json") << "after the chunks";
  EXPECT_EQ(keys_at_a(), array_keys());
}

TEST_P(InPlace, ACopyOfManyObjectsPutsEachKeyOnce) {
  const auto source = memory_store();
  create_group(source, "", {}, false, {}, GetParam()).value();
  for (const char* path : {"g/a", "g/b"})
    create_array(
        source, path,
        {.shape = {500},
         .dtype = DType::uint8,
         .chunks = {1},
         .fill_value = Json(9),
         .contents = [](const Array& array) { return array.fill(Box{{0}, {500}}, std::vector{std::byte{1}}); }})
        .value();
  open_group(source, {.writable = true}).value().consolidate().value();
  const auto watched = watched_store(lockless(false));
  copy(source, watched).value();
  EXPECT_EQ(keys_of(*watched), keys_of(*source));
  const auto written = watched->log();
  EXPECT_THAT(written, testing::UnorderedElementsAreArray(keys_of(*source)));
  EXPECT_THAT(written.end()[is_v2() ? -3 : -1], is_v2() ? ".zgroup" : "zarr.json");
  const std::vector<std::string> documents(written.begin() + 1000, written.end());
  EXPECT_THAT(documents, Not(Contains(HasSubstr("/c/"))));
}

TEST_P(InPlace, ASecondMakerIsAConflictThatNamesTheClaim) {
  CreateOptions first = filled_with(1);
  first.contents = [&, write = first.contents](const Array& array) -> Result<void> {
    SHERD_TRY(write(array));
    for (CreateOptions second : {filled_with(21), filled_with(21, true)}) {
      for (const bool has_contents : {true, false}) {
        if (!has_contents) second.contents = nullptr;
        const auto refused = create_array(store_, "a", second);
        EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
        EXPECT_EQ(refused.error().key(), claim("a"));
        EXPECT_THAT(refused.error().message(), HasSubstr("--resume"));
      }
    }
    EXPECT_FALSE(open(store_, {.path = "a"})) << "nothing is visible yet";
    return {};
  };
  create_array(store_, "a", first).value();
  EXPECT_EQ(elements(store_, "a"), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(keys_at_a(), array_keys());
}

TEST_P(InPlace, ACreatorThatComesFirstKeepsItsAttributes) {
  CreateOptions options = filled_with(11);
  options.contents = [&, write = options.contents](const Array& array) -> Result<void> {
    SHERD_TRY(write(array));
    const auto other = memory_store();
    create_array(
        other, "a",
        CreateOptions{
            .shape = {4}, .dtype = DType::uint8, .attributes = Json(Json::Object{{"first", 21}}), .format = GetParam()})
        .value();
    for (const std::string& key : keys_of(*other))
      if (key.starts_with("a/")) store_->set(key, *other->get(key).value()).value();
    return {};
  };
  EXPECT_EQ(create_array(store_, "a", options).error().code(), ErrorCode::conflict);
  EXPECT_EQ(open_array(store_, {.path = "a"}).value().attributes(), Json(Json::Object{{"first", 21}}));
}

TEST_P(InPlace, AMakerThatNamesTheNodeFromAnotherStoreFindsItsClaim) {
  create_group(store_, "h").value();
  const auto inner = prefixed_store(store_, "h/"), own = prefixed_store(store_, "h/a/");
  CreateOptions options = filled_with(1);
  options.contents = [&, write = options.contents](const Array& array) -> Result<void> {
    SHERD_TRY(write(array));
    const auto is_refused = [&](const auto& done, std::string_view store = {}) {
      EXPECT_EQ(done.error().code(), ErrorCode::conflict);
      EXPECT_EQ(done.error().key(), claim("h/a").substr(store.size()));
      EXPECT_THAT(done.error().message(), HasSubstr(store == "h/a/" ? "'/'" : store == "h/" ? "'a'" : "'h/a'"));
    };
    for (const bool overwrite : {false, true}) {
      CreateOptions second = filled_with(21, overwrite);
      second.format = GetParam();
      is_refused(create_array(store_, "h/a", second));
      is_refused(create_array(inner, "a", second), "h/");
      is_refused(create_group(own, "b", {}, overwrite, {}, GetParam()), "h/a/");
      second.contents = nullptr;
      is_refused(create_array(store_, "h/a", second));
      EXPECT_EQ(create_array(own, "", second).error().key(), claim(""));
    }
    is_refused(erase(store_, {.path = "h"}));
    is_refused(create_group(store_, "h", {}, true));
    return {};
  };
  create_array(inner, "a", options).value();
  EXPECT_EQ(elements(store_, "h/a"), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_THAT(keys_of(*store_), Not(Contains(HasSubstr(".sherd-"))));
}

TEST_P(InPlace, AClaimAloneIsAConflictForTheGroupAroundIt) {
  create_group(store_, "g").value();
  store_->set(claim("g/a"), R"({"path": "a"})").value();
  CreateOptions options = filled_with(1, true);
  EXPECT_EQ(erase(store_, {.path = "g"}).error().key(), claim("g/a"));
  EXPECT_EQ(create_array(store_, "g", options).error().key(), claim("g/a"));
  store_->erase(is_v2() ? "g/.zgroup" : "g/zarr.json").value();
  for (const bool overwrite : {false, true}) {
    options.overwrite = overwrite;
    const auto refused = create_array(store_, "g", options);
    EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
    EXPECT_EQ(refused.error().key(), claim("g/a"));
    EXPECT_THAT(refused.error().message(), HasSubstr("'g/a'"));
  }
  EXPECT_TRUE(store_->get(claim("g/a")).value());
}

TEST_P(InPlace, AGroupIsNotErasedOrOverwrittenWhileANodeInItIsMade) {
  create_group(store_, "g").value();
  CreateOptions options = filled_with(1);
  options.contents = [&, write = options.contents](const Array& array) -> Result<void> {
    SHERD_TRY(write(array));
    const auto is_refused = [&](const auto& done) {
      EXPECT_EQ(done.error().code(), ErrorCode::conflict);
      EXPECT_EQ(done.error().key(), claim("g/a"));
      EXPECT_THAT(done.error().message(), HasSubstr("'g/a'"));
    };
    is_refused(erase(store_, {.path = "g"}));
    is_refused(erase(store_, {}));
    is_refused(create_group(store_, "g", {}, true));
    CreateOptions over = filled_with(11, true);
    is_refused(create_array(store_, "g", over));
    over.contents = nullptr;
    is_refused(create_array(store_, "g", over));
    return {};
  };
  create_array(store_, "g/a", options).value();
  EXPECT_EQ(elements(store_, "g/a"), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_THAT(keys_of(*store_), Not(Contains(HasSubstr(".sherd-"))));
  erase(store_, {.path = "g"}).value();
}

TEST(ClaimedDraftNode, IsNotErasedWithTheGroupAroundIt) {
  const auto store = lockless(false);
  create_group(store, "", {}, false, {}, "draft2022").value();
  create_group(store, "g").value();
  CreateOptions options = filled_with(1);
  options.contents = [&](const Array&) -> Result<void> {
    EXPECT_THAT(erase(store, {.path = "g"}).error().message(), HasSubstr("'g/a'"));
    EXPECT_THAT(create_group(store, "g", {}, true).error().message(), HasSubstr("'g/a'"));
    EXPECT_THAT(create_array(store, "g", filled_with(11, true)).error().message(), HasSubstr("'g/a'"));
    return {};
  };
  create_array(store, "g/a", options).value();
}

TEST_P(InPlace, NoNodeIsMadeInAGroupThatIsBeingMade) {
  CreateOptions options = filled_with(1);
  options.contents = [&](const Array&) -> Result<void> {
    const auto is_refused = [&](const auto& made) {
      EXPECT_EQ(made.error().code(), ErrorCode::conflict);
      EXPECT_EQ(made.error().key(), claim("a"));
    };
    CreateOptions inside = filled_with(11);
    is_refused(create_array(store_, "a/b", inside));
    is_refused(create_group(store_, "a/b"));
    inside.contents = nullptr;
    for (const char* path : {"a/b", "a/b/c"}) is_refused(create_array(store_, path, inside));
    EXPECT_THAT(keys_at_a(), ElementsAre(claim("a")));
    return {};
  };
  create_array(store_, "a", options).value();
  EXPECT_THAT(keys_of(*store_), Not(Contains(HasSubstr(".sherd-"))));
}

TEST_P(InPlace, AFailureOfTheContentsLeavesNothing) {
  CreateOptions options = filled_with(1);
  options.contents = [write = options.contents](const Array& array) -> Result<void> {
    SHERD_TRY(write(array));
    return invalid_argument("no more input");
  };
  EXPECT_EQ(create_array(store_, "a", options).error().message(), "no more input");
  EXPECT_THAT(keys_at_a(), IsEmpty());
}

TEST_P(InPlace, AnOverwrittenArrayIsGoneBeforeTheNewOneIsStored) {
  create_array(store_, "a", filled_with(1)).value();
  CreateOptions options = filled_with(11, true);
  options.contents = [&, write = options.contents](const Array& array) -> Result<void> {
    EXPECT_FALSE(open(store_, {.path = "a"}));
    EXPECT_THAT(keys_at_a(), ElementsAre(claim("a")));
    return write(array);
  };
  create_array(store_, "a", options).value();
  EXPECT_EQ(elements(store_, "a"), (std::vector<std::uint8_t>{11, 12, 13, 14}));
  EXPECT_EQ(keys_at_a(), array_keys());
}

TEST_P(InPlace, AKilledMakerNeverLeavesAnArrayThatLacksChunks) {
  bool was_killed = true;
  for (int changes = 0; was_killed; ++changes) {
    create_array(store_, "a", filled_with(1, true)).value();
    const auto killed = std::make_shared<TestStore>(store_);
    killed->fail_from(changes, Op::changes);
    was_killed = !create_array(killed, "a", filled_with(11, true));
    if (open(store_, {.path = "a"})) {
      EXPECT_THAT(elements(store_, "a"), testing::AnyOf(ElementsAre(1, 2, 3, 4), ElementsAre(11, 12, 13, 14)));
    }
    if (was_killed && !create_array(store_, "a", filled_with(21, true))) erase_a().value();
    create_array(store_, "a", filled_with(21, true)).value();
    EXPECT_EQ(keys_at_a(), array_keys()) << changes;
    EXPECT_EQ(elements(store_, "a"), (std::vector<std::uint8_t>{21, 22, 23, 24}));
  }
}

TEST_P(InPlace, ARepeatedEraseFinishesOneThatWasKilled) {
  bool was_killed = true;
  for (int changes = 0; was_killed; ++changes) {
    create_array(store_, "g/a", filled_with(1)).value();
    create_array(store_, "g/b", filled_with(1)).value();
    const auto killed = std::make_shared<TestStore>(store_);
    killed->fail_from(changes, Op::changes);
    was_killed = !erase(killed, {.path = "g"});
    for (const char* path : {"g/a", "g/b"}) {
      if (open(store_, {.path = path})) {
        EXPECT_THAT(elements(store_, path), ElementsAre(1, 2, 3, 4));
      }
    }
    if (was_killed) erase(store_, {.path = "g"}).value();
    EXPECT_THAT(keys_of(*store_), Not(Contains(StartsWith("g/"))));
    EXPECT_THAT(keys_of(*store_), Not(Contains(HasSubstr(".sherd-"))));
  }
}

TEST_P(InPlace, AMakerWhoseNodeIsErasedMeanwhileIsAConflict) {
  CreateOptions options = filled_with(11);
  options.contents = [&, write = options.contents](const Array& array) -> Result<void> {
    SHERD_TRY(write(array));
    return erase_a();
  };
  EXPECT_EQ(create_array(store_, "a", options).error().code(), ErrorCode::conflict);
  EXPECT_THAT(keys_at_a(), IsEmpty());
}

TEST_P(InPlace, AKilledCopyIsResumedWithoutStoringAnObjectTwice) {
  const auto source = memory_store();
  create_array(source, "", filled_with(1)).value();
  bool was_killed = true;
  for (int changes = 1; was_killed; ++changes) {
    const auto store = lockless(false);
    create_array(store, "", filled_with(21)).value();
    const auto killed = std::make_shared<TestStore>(store);
    killed->fail_from(changes, Op::changes);
    const CopyOptions options{.overwrite = true, .format = GetParam()};
    was_killed = !copy(source, killed, options);
    if (!was_killed) break;
    const auto resumed = watched_store(store);
    CopyOptions again = options;
    again.resume = true;
    copy(source, resumed, again).value();
    EXPECT_EQ(elements(store, ""), (std::vector<std::uint8_t>{1, 2, 3, 4})) << changes;
    EXPECT_EQ(open_array(store, {}).value().attributes(), Json(Json::Object{{"first", 1}})) << changes;
    EXPECT_THAT(keys_of(*store), Not(Contains(HasSubstr(".sherd-")))) << changes;
    const auto written = resumed->log();
    EXPECT_EQ(std::set(written.begin(), written.end()).size(), written.size()) << changes;
  }
}

}  // namespace in_place_test
}  // namespace sherd
