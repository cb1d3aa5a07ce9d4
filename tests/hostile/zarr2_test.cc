// Hostile documents of Zarr v2: 1 to 12 of docs/limits.md for each of the four, 12 to 37 as far as they have such
// members, and what only they have. Nothing of what a document claims is allocated before it is checked.
#include <gtest/gtest.h>

#include "tests/format/documents_testing.hpp"
#include "tests/hostile/hostile.hpp"

namespace sherd::hostile {
namespace {

constexpr const char* kGood = R"({"chunks": [2, 4], "compressor": null, "dtype": "<u2", "fill_value": 0,
  "filters": null, "order": "C", "shape": [4, 8], "zarr_format": 2})";

struct BadText {
  const char* name;
  std::string text;
  ErrorCode code;
};

/// More than a million keys; each needs memory.
std::string many_keys() {
  std::string keys;
  for (int i = 0; i < 100'000; ++i) keys += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":0";
  return keys + "}";
}

std::vector<BadText> bad_texts() {
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "{\"a\":";
  return {{"an empty file", "", ErrorCode::corrupt},
          {"a byte order mark", "\xef\xbb\xbf{}", ErrorCode::corrupt},
          {"invalid UTF-8", "{\"a\": \"\xc0\xaf\"}", ErrorCode::corrupt},
          {"a lone surrogate", R"({"a": "\ud800"})", ErrorCode::corrupt},
          {"a million brackets", std::string(1'000'000, '['), ErrorCode::unsupported},
          {"a million braces", deep, ErrorCode::unsupported},
          {"more bytes than metadata_bytes", "{\"a\": \"" + std::string(std::size_t{1} << 20, 'x') + "\"}",
           ErrorCode::unsupported},
          {"a key twice", R"({"zarr_format": 2, "shape": [1], "shape": [1]})", ErrorCode::corrupt},
          {"a key twice, once with an escape", R"({"zarr_format": 2, "a": 1, "\u0061": 2})", ErrorCode::corrupt},
          {"more values than json_values", many_keys(), ErrorCode::unsupported},
          {"garbage behind it", "{} x", ErrorCode::corrupt},
          {"a NUL behind it", std::string("{}\0", 3), ErrorCode::corrupt},
          {"a list", "[]", ErrorCode::corrupt},
          {"a word", "NaN", ErrorCode::corrupt}};
}

TEST(HostileZarr2, TextsAreRefusedByTheNameOfTheirDocument) {
  Config config;
  config.limits.json_values = 50'000;
  for (const std::string name : {".zarray", ".zgroup", ".zattrs", ".zmetadata"}) {
    for (const BadText& bad : bad_texts()) {
      // What has a megabyte of brackets is beyond this limit only by its depth.
      const bool deep = bad.text.size() > (1U << 21), many = bad.text.starts_with("{\"0");
      config.limits.metadata_bytes = std::uint64_t{deep || many ? 1U << 23 : 1U << 20};
      const auto store = memory_store();
      if (name == ".zarray" || name == ".zattrs") store->set("a/.zarray", kGood).value();
      if (name == ".zgroup" || name == ".zmetadata") store->set("a/.zgroup", R"({"zarr_format": 2})").value();
      store->set("a/" + name, bad.text).value();
      const auto node = open(store, {.path = "a", .config = config});
      ASSERT_FALSE(node) << name << ": " << bad.name;
      EXPECT_EQ(to_string(node.error().code()), to_string(bad.code)) << name << ": " << bad.name;
      EXPECT_EQ(node.error().key(), "a/" + name) << bad.name;
      const auto report = check(store, {.path = "a", .config = config});
      EXPECT_TRUE(report && !report->ok()) << name << ": " << bad.name;
    }
  }
}

// 11 and 12: Python's NaN is read in attributes and in copies of them, and refused elsewhere.
TEST(HostileZarr2, NumbersThatJsonLacksAreReadInAttributesOnly) {
  const auto opened = [](const std::string& name, std::string_view document) {
    const auto store = memory_store();
    store->set("a/.zarray", kGood).value();
    store->set(".zgroup", R"({"zarr_format": 2})").value();
    store->set(name, document).value();
    return open(store, {.path = name.starts_with("a/") ? "a" : ""});
  };
  for (const char* number : {"NaN", "Infinity", "-Infinity"}) {
    const std::string member = R"("a": )" + std::string(number);
    EXPECT_TRUE(opened("a/.zattrs", "{" + member + "}")) << number;
    EXPECT_TRUE(opened(".zattrs", "{" + member + "}")) << number;
    EXPECT_TRUE(opened(".zmetadata", R"({"metadata": {"b/.zattrs": {)" + member + "}}}")) << number;
    for (const std::string name : {"a/.zarray", ".zgroup"}) {
      const auto node = opened(name, R"({"zarr_format": 2, )" + member + "}");
      ASSERT_FALSE(node) << name << number;
      EXPECT_EQ(to_string(node.error().code()), to_string(ErrorCode::corrupt)) << name << number;
      EXPECT_EQ(node.error().key(), name) << number;
    }
  }
  const std::string infinite = changed(kGood, R"({"dtype": "<f8", "fill_value": 1e999})");
  EXPECT_TRUE(opened("a/.zarray", infinite));
  EXPECT_FALSE(opened("a/.zarray", changed(kGood, R"({"fill_value": 1e999})")));
}

// 12, 16, 37: what says that a group is one.
TEST(HostileZarr2, GroupsOfAnotherVersionAreRefused) {
  for (const char* document : {"{}", R"({"zarr_format": 3})", R"({"zarr_format": "2"})", R"({"zarr_format": 1e999})"}) {
    const auto store = memory_store();
    store->set(".zgroup", document).value();
    const auto node = open(store);
    ASSERT_FALSE(node) << document;
    EXPECT_EQ(to_string(node.error().code()), to_string(ErrorCode::corrupt)) << document;
    EXPECT_EQ(node.error().key() + " " + node.error().member(), ".zgroup zarr_format") << document;
  }
}

struct BadMember {
  int number;  ///< of docs/limits.md
  std::string changes, member;
  ErrorCode code;
};

std::string nested_struct(int depth) {
  std::string type = "\"<i4\"";
  for (int i = 0; i < depth; ++i) type = "[[\"a\", " + type + "]]";
  return R"({"dtype": )" + type + "}";
}

std::string repeated_one(std::size_t count) {
  std::string list = "[1";
  for (std::size_t i = 1; i < count; ++i) list += ",1";
  return list + "]";
}

std::vector<BadMember> bad_members() {
  const ErrorCode corrupt = ErrorCode::corrupt, unsupported = ErrorCode::unsupported;
  return {{12, R"({"shape": [4, 1e999]})", "shape[1]", corrupt},
          {13, R"({"shape": [4, 9223372036854775808]})", "shape[1]", corrupt},
          {14, R"({"shape": [4, -1]})", "shape[1]", corrupt},
          {15, R"({"shape": [4, 1.5]})", "shape[1]", corrupt},
          {16, R"({"shape": ["4", 8]})", "shape[0]", corrupt},
          {17, R"({"shape": []})", "chunks", corrupt},
          {18, R"({"shape": )" + repeated_one(100'000) + "}", "shape", unsupported},
          {19, R"({"shape": [4294967296, 4294967296]})", "shape", unsupported},
          {20, R"({"chunks": [4294967296, 4294967296]})", "chunks", unsupported},
          {20, R"({"chunks": [1073741824, 1073741824]})", "", unsupported},
          {21, R"({"chunks": [2, 0]})", "chunks[1]", corrupt},
          {22, R"({"chunks": [2]})", "chunks", corrupt},
          {25, R"({"compressor": []})", "compressor", corrupt},
          {25, R"({"filters": {}})", "filters", corrupt},
          {26, R"({"dtype": "|O", "filters": [{"id": "vlen-utf8"}, {"id": "vlen-utf8"}]})", "filters[1]", corrupt},
          {26, R"({"compressor": {"id": "vlen-utf8"}})", "compressor", corrupt},
          {27, nested_struct(1000), "", unsupported},
          {29, R"({"order": [1, 0]})", "order", corrupt},
          {31, R"({"fill_value": "x"})", "fill_value", corrupt},
          {31, R"({"fill_value": 65536})", "fill_value", corrupt},
          {31, R"({"dtype": "<c8", "fill_value": [1, 2, 3]})", "fill_value", corrupt},
          {31, R"({"dtype": "<U1", "fill_value": "ab"})", "fill_value", corrupt},
          {31, R"({"fill_value": [0]})", "fill_value", corrupt},
          {31, R"({"dtype": "<f4", "fill_value": "0x7fc"})", "fill_value", corrupt},
          {31, R"({"dtype": "|V3", "fill_value": "AAAAAAAA"})", "fill_value", corrupt},
          {32, R"({"dtype": "|V137438953472"})", "dtype", unsupported},
          {32, R"({"dtype": "<U99999999999999999999"})", "dtype", corrupt},
          {33, R"({"dtype": [["a", "|V1073741824"], ["b", "|V1073741824"]]})", "dtype", unsupported},
          {33, R"({"dtype": [["a", "|u1", [65536, 65536, 65536]]]})", "", unsupported},
          {33, R"({"dtype": [["a", "|V65536", [32768]]]})", "", unsupported},
          {33, R"({"dtype": [["a", "|u1"], ["a", "|u1"]]})", "dtype", corrupt},
          {33, R"({"dtype": []})", "dtype", corrupt},
          {36, R"({"dimension_separator": "//"})", "dimension_separator", corrupt},
          {36, R"({"dimension_separator": ".."})", "dimension_separator", corrupt},
          {36, R"({"dimension_separator": 46})", "dimension_separator", corrupt},
          {37, R"({"zarr_format": 3})", "zarr_format", corrupt},
          {37, R"({"shape": "-", "chunks": "-", "dtype": "-"})", "shape", corrupt}};
}

TEST(HostileZarr2, MembersOfAnArrayAreRefusedByTheirNames) {
  for (const BadMember& bad : bad_members()) {
    const auto store = memory_store();
    store->set("a/.zarray", changed(kGood, bad.changes)).value();
    const auto node = open(store, {.path = "a"});
    const std::string about = std::to_string(bad.number) + ": " + bad.changes.substr(0, 100);
    ASSERT_FALSE(node) << about;
    EXPECT_EQ(to_string(node.error().code()), to_string(bad.code)) << about << node.error().text();
    EXPECT_EQ(node.error().key(), "a/.zarray") << about;
    if (!bad.member.empty()) {
      EXPECT_EQ(node.error().member(), bad.member) << about;
    }
    const auto report = check(store, {.path = "a"});
    EXPECT_TRUE(report && !report->ok()) << about;
  }
}

// 12, 30, 34, 35 and 37: what a node need not know is passed over and kept.
TEST(HostileZarr2, StrangeMembersAndAttributesAreReadAndKept) {
  const std::string name(300, 'n');
  const std::string attributes = R"({"a": 1e999, ")" + name + R"(": 1, "nul\u0000": 2, "_nczarr_attrs": {"types": 5},
    "_ARRAY_DIMENSIONS": ["/none", "/none", "/more"]})";
  const std::string cyclic =
      R"({"_nczarr_array": {"dimrefs": ["/a", "/a"], "must_understand": true}, "node_type": "group"})";
  const auto store = memory_store();
  store->set(".zgroup", R"({"zarr_format": 2, "_nczarr_superblock": {"version": []}, "shape": [1]})").value();
  store->set("a/.zarray", changed(kGood, cyclic)).value();
  store->set("a/.zattrs", attributes).value();
  store->set("a/.zgroup", R"({"zarr_format": 2})").value();
  Array array = open_array(store, {.path = "a", .writable = true}).value();
  EXPECT_NE(array.attributes().find(name), nullptr);
  array.update_attributes(Json(Json::Object{{"b", 1}})).value();
  array.resize({5, 8}).value();
  const Json now = open_array(store, {.path = "a"}).value().metadata();
  EXPECT_EQ(now.find(".zattrs")->find("a")->dump(), "1e999");
  EXPECT_NE(now.find(".zarray")->find("_nczarr_array"), nullptr);
  EXPECT_TRUE(open_group(store).has_value());
  EXPECT_TRUE(check(store).has_value());
}

TEST(HostileZarr2, AttributesAndListsOfStrangeShapesAreHarmless) {
  for (const char* text : {R"({"metadata": {"": 1, "/": {}, "../x/.zarray": {}, "a//.zgroup": [], ".zgroup": 5}})",
                           R"({"metadata": 5})", R"({"metadata": {"b/.zarray": 1}})", "{}"}) {
    const auto store = memory_store();
    store->set(".zgroup", R"({"zarr_format": 2})").value();
    store->set("a/.zarray", kGood).value();
    store->set(".zmetadata", text).value();
    Group group = open_group(store, {.writable = true}).value();
    EXPECT_EQ(group.members().value().size(), 1U) << text;
    EXPECT_EQ(open_group(store).value().members().value().size(), 1U) << text;
    EXPECT_TRUE(check(store).has_value()) << text;
    EXPECT_TRUE(group.update_attributes(Json(Json::Object{{"x", 1}})).has_value()) << text;
    EXPECT_TRUE(group.consolidate().has_value()) << text;
    EXPECT_TRUE(open_group(store).has_value()) << text;
  }
}

// 12 to 37 in copies of documents, which only say of which type a node is.
TEST(HostileZarr2, EntriesOfConsolidatedMetadataMayHaveAnyMembers) {
  for (const BadMember& bad : bad_members()) {
    if (bad.number == 27) continue;  // deeper than json_depth, as a million brackets
    const std::string about = std::to_string(bad.number) + ": " + bad.changes.substr(0, 100);
    const std::string entry = changed(kGood, bad.changes);
    const auto store = memory_store();
    store->set(".zgroup", R"({"zarr_format": 2})").value();
    store->set("a/.zarray", kGood).value();
    store
        ->set(".zmetadata", R"({"zarr_consolidated_format": 1, "metadata": {"a/.zarray": )" + entry +
                                R"(, "b/.zarray": )" + entry + "}}")
        .value();
    Group group = open_group(store, {.writable = true}).value();
    EXPECT_EQ(group.members().value().size(), 1U) << about;
    EXPECT_TRUE(open_array(store, {.path = "a"}).has_value()) << about;
    EXPECT_TRUE(check(store).has_value()) << about;
    EXPECT_TRUE(open_array(store, {.path = "a", .writable = true}).value().resize({5, 8}).has_value()) << about;
    EXPECT_TRUE(group.consolidate().has_value()) << about;
    EXPECT_EQ(open_group(store).value().members().value().size(), 1U) << about;
  }
}

TEST(HostileZarr2, ChunksThatAreTooShortOrTooLongAreCorrupt) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{15}, std::size_t{17}}) {
    const auto store = memory_store();
    store->set("a/.zarray", kGood).value();
    store->set("a/0.0", std::string(size, 'x')).value();
    const Array array = open_array(store, {.path = "a"}).value();
    std::vector<std::uint16_t> values(32);
    const auto read = array.read(Box{{0, 0}, {4, 8}}, std::span(values));
    ASSERT_FALSE(read);
    EXPECT_EQ(to_string(read.error().code()), to_string(ErrorCode::corrupt));
    EXPECT_EQ(read.error().key(), "a/0.0");
  }
}

}  // namespace
}  // namespace sherd::hostile
