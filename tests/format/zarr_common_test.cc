// What the formats of the Zarr family share: bounded documents, numbers without quotes, dimension names in attributes,
// and the keys of chunks.
#include "format/zarr_common.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/registry.hpp"
#include "base/lenient.hpp"
#include "node/claim.hpp"
#include "sherd/sherd.hpp"
#include "tests/format/documents_testing.hpp"

namespace sherd {
namespace zarr_common_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::Pair;

std::shared_ptr<Store> store_with(std::string_view text) {
  auto store = memory_store();
  store->set("k", text).value();
  return store;
}
Result<std::optional<StoredJson>> read(std::string_view text, BareNumbers bare = BareNumbers::refused,
                                       const Limits& limits = {}) {
  return read_json(*store_with(text), "k", limits, bare);
}

TEST(ReadJson, ReturnsTheDocumentWithItsGenerationOrNothing) {
  const auto store = store_with(R"({"a": 1.50})");
  const auto stored = read_json(*store, "k", {}).value();
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->json.dump(), R"({"a":1.50})");
  EXPECT_EQ(stored->generation, store->open("k").value()->generation().value());
  EXPECT_FALSE(read_json(*store, "other", {}).value());
}

TEST(ReadJson, RefusesOneByteMoreThanTheLimitInEveryStore) {
  const auto inner = store_with("[1,2]");
  const auto slow = delayed_store(inner, Latency(std::chrono::microseconds(1)), 4);
  for (const auto& store : {inner, slow}) {
    Limits limits;
    limits.metadata_bytes = 5;
    EXPECT_EQ(read_json(*store, "k", limits).value()->json.dump(), "[1,2]");
    limits.metadata_bytes = 4;
    const auto refused = read_json(*store, "k", limits);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), ErrorCode::unsupported);
    EXPECT_EQ(refused.error().key(), "k");
    EXPECT_THAT(refused.error().text(), HasSubstr("5 bytes, more than the limit metadata_bytes = 4"));
  }
}

TEST(ReadJson, AcceptsNumbersWithoutQuotesWhereTheCallerSays) {
  const std::string attribute = R"({"attributes": {"a": [NaN]}})", fill = R"({"fill_value": -Infinity})";
  const std::string elsewhere = R"({"shape": NaN})", point = R"({"attributes": {"a": 1.}})";
  const std::string entry = R"({"consolidated_metadata": {"metadata": {"a": {"fill_value": NaN}}}})";
  const std::string nested = R"({"consolidated_metadata": {"metadata": {"a": {"shape": NaN}}}})";
  for (const std::string& text : {attribute, fill, elsewhere, point, entry, nested})
    EXPECT_EQ(code_of(read(text)), ErrorCode::corrupt) << text;
  for (const std::string& text : {attribute, fill, entry}) EXPECT_TRUE(read(text, BareNumbers::in_values)) << text;
  for (const std::string& text : {elsewhere, point, nested})
    EXPECT_EQ(code_of(read(text, BareNumbers::in_values)), ErrorCode::corrupt) << text;
  for (const std::string& text : {attribute, fill, elsewhere, point})
    EXPECT_TRUE(read(text, BareNumbers::anywhere)) << text;
  EXPECT_EQ(code_of(read(attribute + "x", BareNumbers::anywhere)), ErrorCode::corrupt) << "a tail is never accepted";
}

TEST(ReadJson, ReadsManyKeysAndNamesTheOneThatIsBroken) {
  const auto inner = memory_store();
  inner->set("a", "1").value();
  inner->set("b", "{").value();
  for (const auto& store : {inner, delayed_store(inner, Latency(std::chrono::microseconds(1)), 4)}) {
    std::vector<std::string> found(3);
    read_all_json(*store, std::vector<std::string>{"a", "b", "c"}, {},
                  [&](std::size_t i, Result<std::optional<StoredJson>> stored) -> Result<void> {
                    found[i] = !stored ? stored.error().key() : *stored ? (*stored)->json.dump() : "nothing";
                    return {};
                  })
        .value();
    EXPECT_THAT(found, ElementsAre("1", "b", "nothing"));
  }
}

TEST(BareNumbers, OfOldAttributesKeepTheirSpellingIfTheyAreUnchanged) {
  const Json old = read(R"({"attributes": {"a": NaN, "b": [Infinity], "c": 1}})", BareNumbers::in_values)
                       .value()
                       ->json.find("attributes")[0];
  const Json fresh = parsed(R"({"a": "NaN", "b": ["-Infinity"], "c": 1, "d": "NaN"})");
  EXPECT_EQ(dump_lenient(with_bare_numbers_of(old, fresh)), R"({"a":NaN,"b":["-Infinity"],"c":1,"d":"NaN"})");
}

TEST(BareNumbers, AreFillValuesOfNumbersOnlyAndNoted) {
  const Json nan = read(R"({"fill_value": NaN})", BareNumbers::in_values).value()->json.find("fill_value")[0];
  std::vector<std::string> remarks;
  for (const DType& dtype : {DType(DType::string), DType::raw(8).value(), DType::fixed_length_utf32(4).value(),
                             DType::null_terminated_bytes(3).value()}) {
    EXPECT_EQ(code_of(check_bare_fill(nan, dtype, remarks)), ErrorCode::invalid_argument) << dtype.name();
    EXPECT_TRUE(check_bare_fill(Json("NaN"), dtype, remarks));
  }
  EXPECT_THAT(remarks, IsEmpty());
  EXPECT_TRUE(check_bare_fill(nan, DType::float32, remarks));
  EXPECT_THAT(remarks, ElementsAre(HasSubstr("without quotes")));
}

using Names = std::vector<std::optional<std::string>>;

TEST(NamesAttribute, CountsIfItHasOneTextPerDimension) {
  const auto names = [](const char* list, std::size_t rank) {
    return names_in_attributes(Json(Json::Object{{kNamesAttribute, parsed(list)}}), rank);
  };
  EXPECT_THAT(names(R"(["y", "x"])", 2), ElementsAre(Optional(std::string("y")), Optional(std::string("x"))));
  EXPECT_THAT(names(R"(["y", "x"])", 3), IsEmpty());
  EXPECT_THAT(names(R"(["y", null])", 2), IsEmpty());
  EXPECT_THAT(names(R"("yx")", 2), IsEmpty());
  EXPECT_THAT(names_in_attributes(Json(Json::Object{}), 0), IsEmpty());
}

TEST(NamesAttribute, CannotExpressThatSomeDimensionsHaveNoName) {
  ArraySpec spec;
  spec.shape = {1, 2};
  EXPECT_EQ(names_attribute_of(spec).value().dump(), "[]");
  spec.dimension_names = {std::nullopt, std::nullopt};
  EXPECT_EQ(names_attribute_of(spec).value().dump(), "[]");
  spec.dimension_names = {"y", "x"};
  EXPECT_EQ(names_attribute_of(spec).value().dump(), R"(["y","x"])");
  spec.dimension_names = {"y", std::nullopt};
  EXPECT_EQ(code_of(names_attribute_of(spec)), ErrorCode::unsupported);
}

TEST(NamesAttribute, KeepsItsPlaceAmongNewAttributes) {
  const Json old = parsed(R"({"a": 1, "_ARRAY_DIMENSIONS": ["y"], "b": 2})");
  const auto with = [&](const char* fresh) { return with_names_of(old, 1, parsed(fresh)).dump(); };
  EXPECT_EQ(with(R"({"a": 3, "b": 4})"), R"({"a":3,"_ARRAY_DIMENSIONS":["y"],"b":4})");
  EXPECT_EQ(with(R"({"b": 4, "c": 5})"), R"({"_ARRAY_DIMENSIONS":["y"],"b":4,"c":5})");
  EXPECT_EQ(with(R"({"a": 3, "_ARRAY_DIMENSIONS": ["x"]})"), R"({"a":3,"_ARRAY_DIMENSIONS":["x"]})");
  EXPECT_EQ(with_names_of(old, 2, parsed("{}")).dump(), "{}") << "names of another rank are an ordinary attribute";
}

TEST(NodeNames, MayNotBeThoseOfStagedNodes) {
  EXPECT_TRUE(check_node_name("sherd"));
  EXPECT_EQ(code_of(check_node_name(staging_name("a/b"))), ErrorCode::invalid_argument);
  EXPECT_TRUE(is_node_path(*find_format("zarr3"), "a/b"));
  for (const char* path : {"", "a/", "/a", "a//b", "a/..", "__a", "a/zarr.json"})
    EXPECT_FALSE(is_node_path(*find_format("zarr3"), path)) << path;
}

TEST(ChunkKeys, AreCoordinatesWithoutLeadingZeros) {
  for (const char* text : {"0", "10", "0/1", "18446744073709551616/2"}) EXPECT_TRUE(is_coordinates(text, '/')) << text;
  for (const char* text : {"", "/", "0/", "/0", "00", "1/01", "a", "1.2", "-1", "1//2"})
    EXPECT_FALSE(is_coordinates(text, '/')) << text;
  EXPECT_TRUE(is_coordinates("1.2", '.'));
}

TEST(ChunkKeys, BeginWithCAndOneSeparator) {
  for (const char* key : {"c/0", "c.0", "c/1/2", "c.1.2"}) {
    EXPECT_TRUE(is_chunk_key(key, false)) << key;
    EXPECT_FALSE(is_chunk_key(key, true)) << key;
  }
  for (const char* key : {"c0", "c1/2", "c1.2"}) {
    EXPECT_TRUE(is_chunk_key(key, true)) << key;
    EXPECT_FALSE(is_chunk_key(key, false)) << key;
  }
  for (const char* key : {"", "c", "d/0", "c/1.2", "c.1/2", "c/", "c//1", "cx"}) {
    EXPECT_FALSE(is_chunk_key(key, false)) << key;
    EXPECT_FALSE(is_chunk_key(key, true)) << key;
  }
}

TEST(Members, AreDirectoriesWhoseTypeTheFirstDocumentGives) {
  const auto store = memory_store();
  store->set("g/array/zarr.json", R"({"zarr_format": 3, "node_type": "array"})").value();
  store->set("g/group/zarr.json", R"({"zarr_format": 3, "node_type": "group"})").value();
  store->set("g/broken/zarr.json", "{").value();
  store->set("g/draft/zarr.json", R"({"zarr_format": "https://x"})").value();
  store->set("g/nothing/else", "").value();
  store->set("g/__reserved/zarr.json", "{}").value();
  store->set("g/zarr.json", "{}").value();
  const Format& format = *find_format("zarr3");
  EXPECT_THAT(
      format.members(*store, "g", {}, {}).value(),
      ElementsAre(Pair("array", NodeType::array), Pair("broken", NodeType::unknown), Pair("group", NodeType::group)));
  std::vector<std::string> asked;
  const Format::KnownType known = [&](const std::string& name) -> std::optional<NodeType> {
    asked.push_back(name);
    return name == "broken" ? std::optional(NodeType::group) : std::nullopt;
  };
  EXPECT_EQ(format.members(*store, "g", {}, known).value()[1], std::pair(std::string("broken"), NodeType::group));
  EXPECT_THAT(asked, testing::UnorderedElementsAre("array", "broken", "draft", "group", "nothing"));
}

}  // namespace zarr_common_test
}  // namespace sherd
