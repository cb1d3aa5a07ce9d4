// The hierarchy: where things are stored, how they are found, and that no edit is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sherd/sherd.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace group_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class EveryStore : public testing::TestWithParam<bool> {
  TempDir directory_;

 protected:
  std::shared_ptr<Store> store_ = GetParam() ? file_store(directory_.path()).value() : memory_store();
};
INSTANTIATE_TEST_SUITE_P(Stores, EveryStore, testing::Bool(),
                         [](const auto& param) { return param.param ? "file" : "memory"; });

TEST_P(EveryStore, MissingParentsOfNewNodesAreCreated) {
  create_array(store_, "a/b/c", bytes_array()).value();
  EXPECT_THAT(writable(store_).members().value(), ElementsAre(Pair("a", NodeType::group)));
  EXPECT_THAT(writable(store_, "a/b").members().value(), ElementsAre(Pair("c", NodeType::array)));
  EXPECT_EQ(text_at(*store_, "a/zarr.json"),
            "{\n  \"attributes\": {},\n  \"zarr_format\": 3,\n  \"node_type\": \"group\"\n}");
}

TEST_P(EveryStore, ParentsThatExistStayAsTheyAre) {
  create_group(store_, "a", parsed(R"({"keep": 1})")).value();
  create_group(store_, "a/b").value();
  EXPECT_EQ(open_group(store_, {.path = "a"}).value().attributes(), parsed(R"({"keep": 1})"));
}

TEST_P(EveryStore, AnExistingNodeIsAConflictUnlessOverwritten) {
  Array old = create_array(store_, "a", bytes_array()).value();
  const std::vector<std::uint8_t> ones(4, 1);
  old.write(Box{{0}, {4}}, std::span(ones)).value();
  EXPECT_EQ(code_of(create_array(store_, "a", bytes_array())), ErrorCode::conflict);
  EXPECT_EQ(code_of(create_group(store_, "a")), ErrorCode::conflict);

  const Array fresh = create_array(store_, "a", bytes_array(true)).value();
  std::vector<std::uint8_t> values(4, 9);
  fresh.read(Box{{0}, {4}}, std::span(values)).value();
  EXPECT_THAT(values, testing::Each(0)) << "chunks of the overwritten array are still there";

  create_group(store_, "a", {}, true).value();
  EXPECT_TRUE(store_->list_dir("a/").value().prefixes.empty());
}

TEST_P(EveryStore, ADocumentThatCouldNotBeOpenedAgainIsNotWritten) {
  Json deep;
  for (int level = 0; level < 200; ++level) deep = Json(Json::Array{std::move(deep)});
  const Json attributes = Json::Object{{"deep", deep}};
  EXPECT_EQ(code_of(create_group(store_, "g", attributes)), ErrorCode::unsupported);
  CreateOptions options = bytes_array();
  options.attributes = attributes;
  EXPECT_EQ(code_of(create_array(store_, "a", options)), ErrorCode::unsupported);
  Group group = create_group(store_, "").value();
  EXPECT_EQ(code_of(group.update_attributes(attributes)), ErrorCode::unsupported);
  EXPECT_EQ(open_group(store_).value().attributes(), Json(Json::Object{}));

  Json inner;
  for (int level = 0; level < 124; ++level) inner = Json(Json::Array{std::move(inner)});
  create_group(store_, "h", Json(Json::Object{{"deep", inner}})).value();
  EXPECT_EQ(code_of(writable(store_).consolidate()), ErrorCode::unsupported) << "deeper there by four levels";
  EXPECT_THAT(open_group(store_).value().members().value(), ElementsAre(Pair("h", NodeType::group)));
}

TEST_P(EveryStore, OverwritingAGroupErasesItsMembers) {
  create_array(store_, "g/x", bytes_array()).value();
  create_group(store_, "g", {}, true).value();
  EXPECT_TRUE(writable(store_, "g").members().value().empty());
  EXPECT_EQ(text_at(*store_, "g/x/zarr.json"), "(nothing)");
}

TEST_P(EveryStore, ACorruptDocumentCanBeOverwritten) {
  store_->set("a/zarr.json", "{").value();
  EXPECT_EQ(code_of(create_array(store_, "a", bytes_array())), ErrorCode::conflict);
  EXPECT_TRUE(create_array(store_, "a", bytes_array(true)));
}

TEST_P(EveryStore, NoNodeIsCreatedInsideAnArray) {
  create_array(store_, "a", bytes_array()).value();
  const auto inside = create_array(store_, "a/b/c", bytes_array());
  ASSERT_FALSE(inside);
  EXPECT_EQ(inside.error().code(), ErrorCode::conflict);
  EXPECT_EQ(inside.error().key(), "a/zarr.json");
  EXPECT_EQ(code_of(create_group(store_, "a/b", {}, true)), ErrorCode::conflict);
  EXPECT_EQ(text_at(*store_, "a/b/zarr.json"), "(nothing)");
}

TEST_P(EveryStore, ForeignObjectsAreNeitherChunksNorErased) {
  store_->set("a/c/0", "old").value();
  EXPECT_EQ(code_of(create_array(store_, "a", bytes_array())), ErrorCode::conflict);
  store_->set("a/notes.txt", "mine").value();
  EXPECT_EQ(code_of(create_array(store_, "a", bytes_array(true))), ErrorCode::conflict);
  EXPECT_EQ(text_at(*store_, "a/c/0"), "old");
  EXPECT_EQ(text_at(*store_, "a/notes.txt"), "mine");
  EXPECT_TRUE(create_group(store_, "a")) << "a group may adopt what is below it";
}

TEST_P(EveryStore, OverwritingRemovesOnlyWhatBelongsToTheNode) {
  create_array(store_, "g/x/a", bytes_array()).value().fill(Box{{0}, {4}}, std::vector{std::byte{7}}).value();
  for (const char* key : {"g/notes.txt", "g/photos/1.jpg", "g/x/photos/1.jpg", "g/x/a/notes.txt", "g/x/a/c/00"}) {
    store_->set(key, "mine").value();
    const auto group = create_group(store_, "g", {}, true);
    const auto array = create_array(store_, "g", bytes_array(true));
    for (const Error& error : {group.error(), array.error()}) {
      EXPECT_EQ(error.code(), ErrorCode::conflict) << key;
      EXPECT_EQ(error.key(), key);
    }
    EXPECT_EQ(text_at(*store_, key), "mine");
    EXPECT_THAT(store_->get("g/x/a/c/0").value(), testing::Ne(std::nullopt)) << "nothing else is gone either";
    store_->erase(key).value();
  }
  store_->set("g/x/a/.sherd-note", "left by a writer that was killed").value();
  store_->set("g/x/a/c/9", "beyond the shape").value();
  store_->set("g/x/b/zarr.json", "{").value();
  store_->set("g/x/b/c/0", "a chunk of it, or not").value();
  const auto unreadable = create_group(store_, "g", {}, true);
  ASSERT_FALSE(unreadable);
  EXPECT_EQ(unreadable.error().key(), "g/x/b/c/0");
  EXPECT_THAT(unreadable.error().message(), testing::HasSubstr("cannot be read"));
  store_->erase("g/x/b/c/0").value();
  EXPECT_TRUE(create_group(store_, "g", {}, true));
  EXPECT_TRUE(writable(store_, "g").members().value().empty());
}

TEST_P(EveryStore, MembersHaveADocumentAndAValidName) {
  create_group(store_, "").value();
  create_group(store_, "b").value();
  create_array(store_, "a", bytes_array()).value();
  create_group(store_, "ü x").value();
  store_->set("implicit/inner/zarr.json", "{}").value();
  store_->set("__hidden/zarr.json", text_at(*store_, "b/zarr.json")).value();
  store_->set("readme.txt", "x").value();
  EXPECT_THAT(writable(store_).members().value(),
              ElementsAre(Pair("a", NodeType::array), Pair("b", NodeType::group), Pair("ü x", NodeType::group)));
}

TEST_P(EveryStore, AMemberWithABrokenDocumentHidesNoOtherAndIsNamedWhenOpened) {
  create_group(store_, "g/a").value();
  create_array(store_, "g/z", bytes_array()).value();
  store_->set("g/t/zarr.json", "{").value();
  store_->set("g/x/zarr.json", R"({"zarr_format": 3})").value();
  Group group = writable(store_, "g");
  EXPECT_THAT(group.members().value(), ElementsAre(Pair("a", NodeType::group), Pair("t", NodeType::unknown),
                                                   Pair("x", NodeType::unknown), Pair("z", NodeType::array)));
  const auto broken = group.open("x");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(broken.error().key(), "g/x/zarr.json");
  EXPECT_EQ(broken.error().member(), "node_type");
  EXPECT_EQ(code_of(group.consolidate()), ErrorCode::corrupt) << "a snapshot would hide what is broken";
  EXPECT_TRUE(group.contains("x").value());
  group.erase("x").value();
  group.erase("t").value();
  EXPECT_TRUE(group.consolidate());
}

TEST_P(EveryStore, InvalidNamesAreRefused) {
  for (const std::string name : {"...", "__x", "zarr.json", "a/zarr.json", "..", ".", "a/../b"}) {
    const auto group = create_group(store_, name);
    ASSERT_FALSE(group) << name;
    EXPECT_EQ(group.error().code(), ErrorCode::invalid_argument) << name;
  }
  EXPECT_EQ(code_of(create_group(store_, std::string("a\0b", 3))), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(create_group(store_, "a\xff")), ErrorCode::invalid_argument);
  EXPECT_TRUE(store_->list_dir("").value().prefixes.empty());
  EXPECT_EQ(create_group(store_, "/a//b/").value().path(), "a/b");
}

TEST_P(EveryStore, ErasingRemovesEverythingBelowAndNothingElse) {
  Group root = create_group(store_, "").value();
  root.create_array("a/x", bytes_array()).value();
  root.create_array("ab", bytes_array()).value();
  root.erase("a").value();
  EXPECT_FALSE(root.contains("a").value());
  EXPECT_FALSE(root.contains("a/x").value());
  EXPECT_TRUE(root.contains("ab").value());
  EXPECT_TRUE(store_->list_dir("a/").value().prefixes.empty());
  EXPECT_EQ(code_of(root.erase("a")), ErrorCode::not_found);
  EXPECT_EQ(code_of(root.erase("")), ErrorCode::invalid_argument);
}

TEST_P(EveryStore, AttributesAreReplacedMergedAndKeptInOrder) {
  store_
      ->set("zarr.json",
            R"({"zarr_format":3,"later":{"must_understand":false,"n":1.0e5,"s":"\u00b5\/m"},"node_type":"group",)"
            R"("attributes":{"z":1.10,"a":2}})")
      .value();
  Group group = writable(store_);
  const std::vector<std::string> gone = {"a", "never there", "a"};
  EXPECT_EQ(group.update_attributes(parsed(R"({"n": null, "b": {"c": [1.0]}})"), gone).value(), 1);
  const std::string expected =
      R"({"zarr_format":3,"later":{"must_understand":false,"n":1.0e5,"s":"\u00b5\/m"},"node_type":"group",)"
      R"("attributes":{"z":1.10,"n":null,"b":{"c":[1.0]}}})";
  EXPECT_EQ(group.metadata().dump(), expected);
  EXPECT_EQ(parsed(text_at(*store_, "zarr.json")).dump(), expected);
  group.set_attributes(parsed("{}")).value();
  EXPECT_EQ(open_group(store_).value().attributes().dump(), "{}");
  EXPECT_EQ(code_of(group.set_attributes(Json(1))), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(group.update_attributes(Json())), ErrorCode::invalid_argument);
}

TEST_P(EveryStore, ConcurrentAttributeEditsLoseNothing) {
  constexpr int threads = 8, edits = 25;
  create_array(store_, "a", bytes_array()).value();
  std::vector<std::thread> writers;
  for (int t = 0; t < threads; ++t) {
    writers.emplace_back([this, t] {
      Array array = open_array(store_, {.path = "a", .writable = true}).value();
      for (int i = 0; i < edits; ++i) {
        Json change;
        change.set(std::to_string(t) + "." + std::to_string(i), i);
        EXPECT_TRUE(array.update_attributes(change));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(open_array(store_, {.path = "a"}).value().attributes().size(), std::size_t{threads * edits});
}

TEST_P(EveryStore, OfConcurrentCreatorsExactlyOneWins) {
  std::atomic<int> made{0}, refused{0};
  std::vector<std::thread> creators;
  for (int t = 0; t < 8; ++t) {
    creators.emplace_back([&] {
      const auto array = create_array(store_, "g/a", bytes_array());
      if (array)
        ++made;
      else if (array.error().code() == ErrorCode::conflict)
        ++refused;
    });
  }
  for (std::thread& creator : creators) creator.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(refused, 7);
}

TEST_P(EveryStore, AnEditOfAReplacedNodeIsAConflict) {
  create_array(store_, "a", bytes_array()).value();
  Array array = open_array(store_, {.path = "a", .writable = true}).value();
  create_group(store_, "a", {}, true).value();
  EXPECT_EQ(code_of(array.set_attributes(parsed(R"({"x": 1})"))), ErrorCode::conflict);
  EXPECT_EQ(open_group(store_, {.path = "a"}).value().attributes().dump(), "{}");
}

TEST_P(EveryStore, ReadOnlyHandlesChangeNothing) {
  create_group(store_, "a").value();
  Group group = open_group(store_).value();
  EXPECT_TRUE(group.read_only());
  EXPECT_EQ(code_of(group.set_attributes(parsed("{}"))), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(group.create_group("b")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(group.create_array("b", bytes_array())), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(group.erase("a")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(group.consolidate()), ErrorCode::invalid_argument);
  EXPECT_TRUE(group.contains("a").value());
}

}  // namespace group_test
}  // namespace sherd
