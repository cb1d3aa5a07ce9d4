// Hostile documents of Zarr v2: 1 to 12 of docs/limits.md for each of the four, and what only they have. Nothing of
// what a document claims is allocated before it is checked.
#include <gtest/gtest.h>

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
          {"a key twice", R"({"zarr_format": 2, "a": 1, "\u0061": 2})", ErrorCode::corrupt},
          {"garbage behind it", "{} x", ErrorCode::corrupt},
          {"a NUL behind it", std::string("{}\0", 3), ErrorCode::corrupt},
          {"a list", "[]", ErrorCode::corrupt},
          {"a word", "NaN", ErrorCode::corrupt}};
}

TEST(HostileZarr2, TextsAreRefusedByTheNameOfTheirDocument) {
  Config config;
  config.limits.metadata_bytes = std::uint64_t{1} << 20;
  for (const std::string name : {".zarray", ".zgroup", ".zattrs", ".zmetadata"}) {
    for (const BadText& bad : bad_texts()) {
      // What has a megabyte of brackets is beyond this limit only by its depth.
      config.limits.metadata_bytes = std::uint64_t{bad.text.size() > (1U << 21) ? 1U << 23 : 1U << 20};
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
