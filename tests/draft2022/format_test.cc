// Hierarchies and chunks of the 2022 draft: which nodes exist, under which keys, and what the bytes of a shard are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/tools.hpp"
#include "tests/draft2022/draft2022_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::draft {
namespace format_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

void append_words(std::string& bytes, std::initializer_list<std::uint64_t> words) {
  for (const std::uint64_t word : words)
    for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(word >> shift);
}
std::string chunk(std::initializer_list<std::int32_t> values) {
  std::string bytes;
  for (const std::int32_t value : values)
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(static_cast<std::uint32_t>(value) >> shift);
  return bytes;
}

/// The array of kArray in shards of 2 x 2 chunks, with the first shard as zarr-python wrote it: its chunks are not in
/// the order of the slots, and the index follows them.
std::shared_ptr<Store> sharded() {
  const auto store = hierarchy(changed(kArray, transformers(indexed("[2, 2]"))));
  std::string shard = chunk({12, 13, 17, 18}) + chunk({2, 3, 7, 8}) + chunk({10, 11, 15, 16}) + chunk({0, 1, 5, 6});
  append_words(shard, {48, 16, 16, 16, 32, 16, 0, 16});
  store->set("data/root/a/c0/0", shard).value();
  return store;
}

// ---- the hierarchy

TEST(DraftHierarchy, StoresEntryPointGroupsAndArraysUnderTheDraftsKeys) {
  const auto store = memory_store();
  Array array = create_array(store, "foo/bar", draft_array({7, 5}, {2, 2}, {4, 4})).value();
  write(array, Box{{0, 0}, {7, 5}}, counted(35));
  EXPECT_THAT(keys_of(*store), ElementsAre("data/root/foo/bar/c0/0", "data/root/foo/bar/c0/1", "data/root/foo/bar/c1/0",
                                           "data/root/foo/bar/c1/1", "meta/root.group.json", "meta/root/foo.group.json",
                                           "meta/root/foo/bar.array.json", "zarr.json"));
  EXPECT_EQ(parsed(store->get("zarr.json").value().value()), parsed(kEntryPoint));
  EXPECT_EQ(parsed(store->get("meta/root.group.json").value().value()).dump(), R"({"attributes":{}})");
  EXPECT_EQ(elements(open_array(store, {.path = "foo/bar"}).value()), counted(35));
}

// Of what its URL leads to, the format is not known then.
TEST(DraftHierarchy, WithAnUnknownEntryPointIsAnErrorNotAbsent) {
  const TempDir directory;
  const std::string root = directory / "g.zarr";
  create_array(root + "/a", draft_array()).value();
  const auto store = file_store(root).value();
  for (const std::string& entry : {changed(kEntryPoint, R"({"foo": 1})"), std::string("no JSON")}) {
    store->set("zarr.json", entry).value();
    const auto tree = keys_of(*store);
    for (const auto& refused : {open_array(root + "/a"), create_array(root + "/b", {.shape = {4}}),
                                create_array(root + "/b/c", draft_array())}) {
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().code(),
                  testing::AnyOf(ErrorCode::unsupported, ErrorCode::corrupt, ErrorCode::conflict));
      EXPECT_EQ(refused.error().key(), "zarr.json");
      EXPECT_THAT(refused.error().text(), HasSubstr("g.zarr"));
    }
    EXPECT_EQ(keys_of(*store), tree);
    const auto faults = check(root).value().faults;
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].key, "zarr.json");
  }
}

TEST(DraftHierarchy, DocumentsEqualThoseOfZarrPython) {
  const auto store = memory_store();
  CreateOptions options = draft_array({7, 5}, {2, 2}, {4, 6});
  options.codecs.reset();
  create_array(store, "a", options).value();
  EXPECT_EQ(parsed(store->get("meta/root/a.array.json").value().value()), parsed(R"({"attributes": {},
    "chunk_grid": {"chunk_shape": [2, 2], "separator": "/", "type": "regular"}, "chunk_memory_layout": "C",
    "compressor": {"codec": "https://purl.org/zarr/spec/codec/blosc/1.0",
                   "configuration": {"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}},
    "data_type": "<i4", "extensions": [], "fill_value": 0, "shape": [7, 5],
    "storage_transformers": [{"extension": "https://purl.org/zarr/spec/storage_transformers/sharding/1.0",
                              "type": "indexed", "configuration": {"chunks_per_shard": [2, 3]}}]})"));
}

TEST(DraftHierarchy, CompressorsAreConfiguredAsZarrPythonKnowsThem) {
  for (const auto& [codec, configuration] :
       {std::pair("zstd:3", R"({"level":3})"), std::pair("numcodecs.zstd:3", R"({"level":3})"),
        std::pair("gzip:1", R"({"level":1})"), std::pair("numcodecs.gzip:1", R"({"level":1})"),
        std::pair("blosc:lz4:5", R"({"cname":"lz4","clevel":5,"shuffle":1,"blocksize":0})"),
        std::pair("numcodecs.blosc:lz4:5", R"({"cname":"lz4","clevel":5,"shuffle":1,"blocksize":0})")}) {
    CreateOptions options = draft_array();
    options.codecs = std::vector<Json>{codec};
    const Json document = create_array(memory_store(), "a", options).value().metadata();
    EXPECT_EQ(document.find("compressor")->find("configuration")->dump(), configuration) << codec;
  }
}

TEST(DraftHierarchy, RefusesWhatTheDraftCannotExpress) {
  const auto refused = [](auto change) {
    CreateOptions options = draft_array({8, 8}, {2, 2}, {4, 4});
    change(options);
    const auto store = memory_store();
    const auto made = create_array(store, "a", options);
    EXPECT_TRUE(keys_of(*store).empty());
    return made ? std::string("made") : made.error().text();
  };
  EXPECT_THAT(refused([](auto& o) { o.index_codecs = std::vector<Json>{"bytes", "crc32c"}; }), HasSubstr("checksum"));
  EXPECT_THAT(refused([](auto& o) { o.index_codecs = std::vector<Json>{"bytes:big"}; }), HasSubstr("index_codecs"));
  EXPECT_THAT(refused([](auto& o) { o.index_location = IndexLocation::start; }), HasSubstr("index_location"));
  EXPECT_THAT(refused([](auto& o) { o.codecs = std::vector<Json>{"packbits"}; }), HasSubstr("'packbits'"));
  EXPECT_THAT(refused([](auto& o) {
                o.shape = {8, 8, 8};
                o.chunks = {2, 2, 2};
                o.shards.clear();
                o.codecs = std::vector<Json>{parsed(R"({"name": "transpose", "configuration": {"order": [1, 0, 2]}})")};
              }),
              HasSubstr("orders C and F"));
  EXPECT_THAT(refused([](auto& o) { o.dimension_names = {{"y", std::nullopt}}; }), HasSubstr("dimension_names"));
  EXPECT_THAT(refused([](auto& o) { o.chunk_key_encoding = Json("v2"); }), HasSubstr("chunk_key_encoding"));
  EXPECT_THAT(refused([](auto& o) { o.dtype = DType::bfloat16; }), HasSubstr("bfloat16"));
  EXPECT_THAT(refused([](auto& o) { o.format_options = parsed(R"({"uri": "mine"})"); }), HasSubstr("seed"));
  EXPECT_THAT(refused([](auto& o) { o.format_options = parsed(R"({"url": "seed"})"); }), HasSubstr("url"));
  EXPECT_THAT(refused([](auto& o) {
                o.shards.clear();
                o.chunk_grid = parsed(R"({"name": "rectilinear", "configuration":
                                          {"kind": "inline", "chunk_shapes": [[3, 5], 4]}})");
                o.chunks.clear();
              }),
              HasSubstr("regular"));
}

TEST(DraftHierarchy, GroupsNeedNoDocumentAndGetOneWhenTheyAreEdited) {
  const auto store = hierarchy(kArray, "foo/bar/a");
  Group root = open_group(store, {.writable = true}).value();
  EXPECT_THAT(root.members().value(), ElementsAre(Pair("foo", NodeType::group)));
  Group foo = std::get<Group>(root.open("foo").value());
  EXPECT_THAT(foo.members().value(), ElementsAre(Pair("bar", NodeType::group)));
  EXPECT_TRUE(root.contains("foo/bar").value());
  EXPECT_FALSE(root.contains("foo/none").value());
  EXPECT_EQ(keys_of(*store).size(), 2U);
  foo.update_attributes(parsed(R"({"x": 1})")).value();
  EXPECT_EQ(open_group(store, {.path = "foo"}).value().attributes().dump(), R"({"x":1})");
  foo.update_attributes(parsed(R"({"y": 2})")).value();
  EXPECT_EQ(open_group(store, {.path = "foo"}).value().attributes().dump(), R"({"x":1,"y":2})");
}

TEST(DraftHierarchy, ListsMembersFromKeysIncludingBrokenOnes) {
  const auto store = hierarchy(kArray, "b");
  store->set("meta/root/c.group.json", R"({"attributes": {}})").value();
  store->set("meta/root/d.array.json", "{").value();
  store->set("meta/root/e/.zmetadata", "{}").value();
  store->set("meta/root/...array.json", "{}").value();
  store->set("meta/root/notes.txt", "x").value();
  store->set("data/root/only/c0", "x").value();
  const Group root = open_group(store).value();
  EXPECT_THAT(root.members().value(), ElementsAre(Pair("b", NodeType::array), Pair("c", NodeType::group),
                                                  Pair("d", NodeType::unknown), Pair("e", NodeType::group)));
}

TEST(DraftHierarchy, TheRootIsAGroupOrAnArray) {
  EXPECT_TRUE(std::holds_alternative<Group>(open(empty_hierarchy()).value()));
  const auto store = empty_hierarchy();
  CreateOptions options = draft_array();
  options.format.clear();
  Array array = create_array(store, "", options).value();
  write(array, Box{{0, 0}, {7, 5}}, counted(35));
  EXPECT_TRUE(store->get("meta/root.array.json").value());
  EXPECT_TRUE(store->get("data/root/c3/2").value());
  EXPECT_EQ(elements(open_array(store).value()), counted(35));
  EXPECT_EQ(code_of(create_group(store, "g")), ErrorCode::conflict) << "an array has no members";
}

TEST(DraftHierarchy, NewNodesHaveTheFormatOfTheirHierarchy) {
  const auto store = empty_hierarchy();
  EXPECT_EQ(create_array(store, "a", {.shape = {4}, .dtype = DType::uint8}).value().format(), "draft2022");
  EXPECT_EQ(create_group(store, "g").value().format(), "draft2022");
  const auto other = create_array(store, "b", {.shape = {4}, .dtype = DType::uint8, .format = "zarr3"});
  EXPECT_EQ(code_of(other), ErrorCode::conflict);
  const auto zarr3 = memory_store();
  create_group(zarr3, "").value();
  EXPECT_EQ(code_of(create_array(zarr3, "b", draft_array())), ErrorCode::conflict);
  EXPECT_EQ(create_group(zarr3, "g").value().format(), "zarr3");
}

TEST(DraftHierarchy, NamesConsistOfLettersDigitsDotsDashesAndUnderscores) {
  const auto store = empty_hierarchy();
  for (const std::string name : {"a.b", "c0", "_x-9", "..a", "__zarr"}) EXPECT_TRUE(create_group(store, name)) << name;
  for (const std::string& name :
       {std::string("a b"), std::string("ü"), std::string("..."), std::string(".sherd-new-0"), std::string(256, 'a')})
    EXPECT_EQ(code_of(create_group(store, name)), ErrorCode::invalid_argument) << name;
}

TEST(DraftHierarchy, OverwritingAndErasingRemoveExactlyTheNode) {
  const auto store = empty_hierarchy();
  Group root = open_group(store, {.writable = true}).value();
  write(root.create_array("g/a", draft_array()).value(), Box{{0, 0}, {2, 2}}, counted(4));
  root.create_array("g2/a", draft_array()).value();
  CreateOptions options = draft_array();
  EXPECT_EQ(code_of(root.create_array("g", options)), ErrorCode::conflict);
  options.overwrite = true;
  root.create_array("g", options).value();
  EXPECT_THAT(keys_of(*store), ElementsAre("meta/root.group.json", "meta/root/g.array.json", "meta/root/g2.group.json",
                                           "meta/root/g2/a.array.json", "zarr.json"));
  root.create_group("g", {}, true).value();
  EXPECT_THAT(root.members().value(), ElementsAre(Pair("g", NodeType::group), Pair("g2", NodeType::group)));
  root.erase("g2").value();
  EXPECT_THAT(keys_of(*store), ElementsAre("meta/root.group.json", "meta/root/g.group.json", "zarr.json"));
  EXPECT_EQ(code_of(root.erase("g2")), ErrorCode::not_found);
}

TEST(DraftHierarchy, ArraysAreNotCreatedOverNodesOrForeignChunks) {
  const auto store = hierarchy(kArray, "implicit/a");
  EXPECT_EQ(code_of(create_array(store, "implicit", draft_array())), ErrorCode::conflict);
  store->set("data/root/left/c0/0", "x").value();
  EXPECT_EQ(code_of(create_array(store, "left", draft_array())), ErrorCode::conflict);
}

TEST(DraftHierarchy, FiltersStayWhenAttributesAreReplaced) {
  const auto store = hierarchy(
      changed(kArray, R"({"attributes": {"filters": [{"id": "delta", "dtype": "<i4", "astype": "<i4"}], "a": 1}})"));
  Array array = open_array(store, {.path = "a", .writable = true}).value();
  write(array, Box{{0, 0}, {7, 5}}, counted(35));
  EXPECT_EQ(array.attributes().dump(), R"({"a":1})");
  array.set_attributes(parsed(R"({"b": 2})")).value();
  EXPECT_EQ(array.attributes().dump(), R"({"b":2})");
  EXPECT_EQ(elements(open_array(store, {.path = "a"}).value()), counted(35));
  EXPECT_EQ(store->get("data/root/a/c0/0").value().value(), chunk({0, 1, 4, 1}));
}

TEST(DraftHierarchy, DimensionNamesAreKeptInTheAttributeOfXarray) {
  const auto store = empty_hierarchy();
  CreateOptions options = draft_array();
  options.dimension_names = {{"y", "x"}};
  options.attributes = parsed(R"({"a": 1})");
  Array array = create_array(store, "a", options).value();
  const auto stored = [&] { return array.metadata().find("attributes")->dump(); };
  EXPECT_EQ(stored(), R"({"a":1,"_ARRAY_DIMENSIONS":["y","x"]})");
  EXPECT_EQ(array.attributes().dump(), R"({"a":1})");
  array.set_attributes(parsed(R"({"b": 2})")).value();
  EXPECT_EQ(stored(), R"({"_ARRAY_DIMENSIONS":["y","x"],"b":2})");
  EXPECT_THAT(open_array(store, {.path = "a"}).value().dimension_names(), ElementsAre("y", "x"));
  array.set_attributes(parsed(R"({"_ARRAY_DIMENSIONS": ["row", "column"]})")).value();
  EXPECT_THAT(open_array(store, {.path = "a"}).value().dimension_names(), ElementsAre("row", "column"));
}

TEST(DraftHierarchy, AnAttributeThatDoesNotFitIsNotDimensionNames) {
  for (const char* names : {R"(["x"])", R"(["y", null])", R"("y,x")"}) {
    const auto store =
        hierarchy(changed(kArray, R"({"attributes": {"_ARRAY_DIMENSIONS": )" + std::string(names) + "}}"));
    const Array array = open_array(store, {.path = "a"}).value();
    EXPECT_TRUE(array.dimension_names().empty()) << names;
    EXPECT_NE(array.attributes().find("_ARRAY_DIMENSIONS"), nullptr) << names;
  }
}

// ---- keys

TEST(DraftKeys, AllowBothSeparatorsAndPathsThatContainC) {
  for (const char* separator : {"/", "."}) {
    const auto store = empty_hierarchy();
    CreateOptions options = draft_array();
    options.chunk_key_encoding =
        parsed(R"({"name": "default", "configuration": {"separator": ")" + std::string(separator) + "\"}}");
    Array array = create_array(store, "c1/c0/abc", options).value();
    write(array, Box{{2, 4}, {1, 1}}, counted(1));
    EXPECT_FALSE(store->get("data/root/c1/c0/abc/c1" + std::string(separator) + "2").value()) << "it is all fill value";
    write(array, Box{{2, 4}, {1, 1}}, {9});
    EXPECT_TRUE(store->get("data/root/c1/c0/abc/c1" + std::string(separator) + "2").value());
    EXPECT_EQ(array.nchunks_initialized().value(), 1U);
    EXPECT_EQ(array.stored().value().objects, 1U);
  }
}

TEST(DraftKeys, OfArraysWithoutDimensionsHaveTwoSpellings) {
  const std::string scalar =
      changed(kArray, R"({"shape": [], "chunk_grid": {"type": "regular", "chunk_shape": [], "separator": "/"}})");
  const auto key_of = [&](const std::string& document, const char* present) {
    const auto store = hierarchy(document);
    if (present != nullptr) store->set(std::string("data/root/a/") + present, chunk({1})).value();
    Array array = open_array(store, {.path = "a", .writable = true}).value();
    if (present != nullptr) {
      EXPECT_EQ(elements(array), std::vector<std::int32_t>{1});
    }
    write(array, Box{{}, {}}, {5});
    EXPECT_EQ(elements(open_array(store, {.path = "a"}).value()), std::vector<std::int32_t>{5});
    EXPECT_TRUE(check(store).value().faults.empty());
    return keys_of(*store).front();
  };
  EXPECT_EQ(key_of(scalar, nullptr), "data/root/a/c0");
  EXPECT_EQ(key_of(scalar, "c0"), "data/root/a/c0");
  EXPECT_EQ(key_of(scalar, "c"), "data/root/a/c");
  const std::string seed = changed(scalar, R"({"storage_transformers": []})");
  EXPECT_EQ(key_of(seed, nullptr), "data/root/a/c");
  EXPECT_EQ(key_of(seed, "c0"), "data/root/a/c0");
}

TEST(DraftKeys, FollowTheRequestedUri) {
  for (const auto& [uri, key, counts] :
       {std::tuple("zarr-python", "data/root/a/c0", "[1]"), std::tuple("seed", "data/root/a/c", "[]")}) {
    for (const bool with_shard : {false, true}) {
      const auto store = memory_store();
      CreateOptions options = draft_array({}, {}, {});
      options.format_options = Json(Json::Object{{"uri", uri}});
      if (with_shard) {
        options.codecs.reset();
        options.raw_codecs = parsed(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [],
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}])");
      }
      create_array(store, "a", options).value();
      Array array = open_array(store, {.path = "a", .writable = true}).value();
      write(array, Box{{}, {}}, {5});
      EXPECT_EQ(keys_of(*store).front(), key);
      if (!with_shard) continue;
      const Json transformer = array.metadata().find("storage_transformers")->elements()[0];
      EXPECT_EQ(transformer.find("configuration")->find("chunks_per_shard")->dump(), counts);
      EXPECT_THAT(transformer.find("extension")->text(),
                  HasSubstr(std::string_view(uri) == "seed" ? "spec/extensions/" : "spec/storage_transformers/"));
    }
  }
}

// ---- bytes

TEST(DraftShards, AreReadInAnyOrderOfTheirChunks) {
  const auto store = sharded();
  std::vector<std::int32_t> values(16);
  open_array(store, {.path = "a"}).value().read(Box{{0, 0}, {4, 4}}, std::span(values)).value();
  EXPECT_THAT(values, ElementsAre(0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 15, 16, 17, 18));
  std::vector<std::int32_t> absent(1);
  open_array(store, {.path = "a"}).value().read(Box{{6, 4}, {1, 1}}, std::span(absent)).value();
  EXPECT_THAT(absent, ElementsAre(-1));
}

TEST(DraftShards, HaveAFullIndexWithoutAChecksumAlsoBeyondTheEdge) {
  const auto store = memory_store();
  CreateOptions options = draft_array({7, 5}, {2, 2}, {4, 4});
  options.config.chunk_order = ChunkOrder::c;
  Array array = create_array(store, "a", options).value();
  write(array, Box{{0, 0}, {7, 5}}, counted(35));
  std::string expected = chunk({24, 0, 29, 0}) + chunk({34, 0, 0, 0});
  append_words(expected, {0, 16, kEmpty, kEmpty, 16, 16, kEmpty, kEmpty});
  EXPECT_EQ(store->get("data/root/a/c1/1").value().value(), expected);
}

TEST(DraftShards, OfStackedTransformersAreNested) {
  const auto store = hierarchy(
      changed(kArray, R"({"shape": [4, 2], "chunk_grid": {"type": "regular", "chunk_shape": [1, 1], "separator": "/"},
                  "storage_transformers": [)" +
                          indexed("[2, 2]") + "," + indexed("[2, 1]") + "]}"));
  Array array = open_array(store, {.path = "a", .writable = true}).value();
  EXPECT_EQ(*array.shards(), (Shape{4, 2}));
  EXPECT_EQ(array.chunks(), (Shape{1, 1}));
  array = array.with_config({.chunk_order = ChunkOrder::c});
  write(array, Box{{0, 0}, {3, 2}}, counted(6));
  std::string first = chunk({0, 1, 2, 3});
  append_words(first, {0, 4, 4, 4, 8, 4, 12, 4});
  std::string second = chunk({4, 5});
  append_words(second, {0, 4, 4, 4, kEmpty, kEmpty, kEmpty, kEmpty});
  std::string expected = first + second;
  append_words(expected, {0, first.size(), first.size(), second.size()});
  EXPECT_EQ(store->get("data/root/a/c0/0").value().value(), expected);
  EXPECT_EQ(elements(open_array(store, {.path = "a"}).value()), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, -1, -1}));
}

struct Damage {
  const char* name;
  std::function<void(std::string&)> make;
  std::optional<std::uint64_t> slot;
};
void set_word(std::string& shard, std::size_t word, std::uint64_t value) {
  std::string bytes;
  append_words(bytes, {value});
  shard.replace(64 + 8 * word, 8, bytes);
}

TEST(DraftShards, ThatAreDamagedAreCorruptAndTheErrorNamesKeyAndSlot) {
  const Damage damages[] = {{"only the offset is empty", [](auto& s) { set_word(s, 4, kEmpty); }, 2},
                            {"only the length is empty", [](auto& s) { set_word(s, 5, kEmpty); }, 2},
                            {"offset and length wrap", [](auto& s) { set_word(s, 4, kEmpty - 4); }, 2},
                            {"a range behind the end", [](auto& s) { set_word(s, 4, 1000); }, 2},
                            {"a length of 2^63", [](auto& s) { set_word(s, 5, std::uint64_t{1} << 63); }, 2},
                            {"a blob of no bytes is a chunk", [](auto& s) { set_word(s, 5, 0); }, 2},
                            {"a blob too short", [](auto& s) { set_word(s, 5, 15); }, 2},
                            {"no bytes", [](auto& s) { s.clear(); }, std::nullopt},
                            {"shorter than the index", [](auto& s) { s = s.substr(s.size() - 63); }, std::nullopt}};
  for (const Damage& damage : damages) {
    const auto store = sharded();
    std::string shard = store->get("data/root/a/c0/0").value().value();
    damage.make(shard);
    store->set("data/root/a/c0/0", shard).value();
    std::vector<std::int32_t> value(1);
    const auto read = open_array(store, {.path = "a"}).value().read(Box{{2, 0}, {1, 1}}, std::span(value));
    ASSERT_FALSE(read) << damage.name;
    EXPECT_EQ(code_of(read), ErrorCode::corrupt) << damage.name;
    EXPECT_EQ(read.error().key(), "data/root/a/c0/0") << damage.name;
    EXPECT_EQ(read.error().slot(), damage.slot) << damage.name;
    EXPECT_FALSE(check(store, {.data = true}).value().ok()) << damage.name;
    if (!damage.slot) continue;
    EXPECT_TRUE(open_array(store, {.path = "a"}).value().read(Box{{0, 0}, {1, 1}}, std::span(value))) << damage.name;
  }
}

TEST(DraftShards, OfUnknownTransformersAreDescribedAndNeverAccessed) {
  const std::string unknown[] = {
      R"({"extension": "https://example.org/morton", "type": "indexed", "configuration": {}})",
      R"({"extension": "https://purl.org/zarr/spec/storage_transformers/sharding/2.0", "type": "indexed"})",
      R"({"type": "indexed"})",
      R"({"extension": "https://purl.org/zarr/spec/storage_transformers/sharding/1.0", "type": "hdf"})",
      R"({"extension": "https://purl.org/zarr/spec/storage_transformers/sharding/1.0", "type": "indexed",
          "configuration": {"chunks_per_shard": [2, 2], "order": "morton"}})",
      indexed("[2, 2]") + R"(, {"extension": "https://example.org/cipher", "type": "x", "must_understand": false})"};
  for (const std::string& list : unknown) {
    const auto store = hierarchy(changed(kArray, transformers(list)));
    Array array = open_array(store, {.path = "a", .writable = true}).value();
    EXPECT_EQ(array.shape(), (Shape{7, 5}));
    array.update_attributes(parsed(R"({"x": 1})")).value();
    std::vector<std::int32_t> value(1, 3);
    const Box corner{{0, 0}, {1, 1}};
    for (const Error& error :
         {array.read(corner, std::span(value)).error(), array.write(corner, std::span(value)).error(),
          array.resize({1, 1}).error(), array.nchunks_initialized().error(), copy(store, memory_store(), {}).error()}) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.text();
      EXPECT_EQ(error.key(), "meta/root/a.array.json");
      EXPECT_THAT(error.member(), HasSubstr("storage_transformers["));
    }
    EXPECT_FALSE(check(store).value().ok());
  }
}

}  // namespace format_test
}  // namespace sherd::draft
