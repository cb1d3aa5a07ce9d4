// Hostile documents through the netCDF layer: 1 to 37 of docs/limits.md in each document of a dataset. A fault of the
// root is a typed error; a fault below it costs that node, with a warning, and never the dataset or memory that a
// document claims.
#include <gtest/gtest.h>

#include <algorithm>

#include "sherd/group.hpp"
#include "sherd/netcdf.hpp"
#include "sherd/netcdf_writer.hpp"
#include "tests/format/documents_testing.hpp"
#include "tests/hostile/hostile.hpp"

namespace sherd::hostile {
namespace netcdf_test {

using netcdf::Dataset;

constexpr const char* kZarray = R"({"chunks": [2, 4], "compressor": null, "dtype": "<u2", "fill_value": 0,
  "filters": null, "order": "C", "shape": [4, 8], "zarr_format": 2,
  "_nczarr_array": {"dimrefs": ["/y", "/x"], "storage": "chunked"}})";
constexpr const char* kZgroup = R"({"zarr_format": 2, "_nczarr_superblock": {"version": "2.0.0"},
  "_nczarr_group": {"dims": {"y": 4, "x": 8}, "vars": ["good", "bad"], "groups": ["g"]}})";
constexpr const char* kTypes = R"({"units": "K", "_nczarr_attr": {"types": {"units": ">S1"}}})";

/// A dataset with a good variable, one at "bad" and a group at "g".
std::shared_ptr<Store> dataset() {
  auto store = memory_store();
  for (const char* key : {"good/.zarray", "bad/.zarray"}) store->set(key, kZarray).value();
  for (const char* key : {"good/.zattrs", "bad/.zattrs", "g/.zattrs"}) store->set(key, kTypes).value();
  store->set(".zgroup", kZgroup).value();
  store->set(".zattrs", "{}").value();
  store->set("g/.zgroup", R"({"zarr_format": 2, "_nczarr_group": {"dims": {}, "vars": [], "groups": []}})").value();
  return store;
}

struct BadText {
  const char* name;
  std::string text;
};

/// 1 to 11. What netcdf-c writes, such as NaN and bytes behind a document, is read.
std::vector<BadText> bad_texts() {
  std::string deep, keys;
  for (int i = 0; i < 1'000'000; ++i) deep += "{\"a\":";
  for (int i = 0; i < 100'000; ++i) keys += (i == 0 ? "{\"" : ",\"") + std::to_string(i) + "\":0";
  return {{"an empty file", ""},
          {"a byte order mark", "\xef\xbb\xbf{}"},
          {"invalid UTF-8", "{\"a\": \"\xc0\xaf\"}"},
          {"a lone surrogate", R"({"a": "\ud800"})"},
          {"a million brackets", std::string(1'000'000, '[')},
          {"a million braces", deep},
          {"more bytes than metadata_bytes", "{\"a\": \"" + std::string(std::size_t{1} << 23, 'x') + "\"}"},
          {"a key twice", R"({"zarr_format": 2, "a": 1, "\u0061": 2})"},
          {"more values than json_values", keys + "}"},
          {"a list", "[]"},
          {"a word", "Nothing"},
          {"half of a document", R"({"zarr_format": 2, "shape")"}};
}

Config limited() {
  Config config;
  config.limits.json_values = 50'000;
  config.limits.metadata_bytes = std::uint64_t{1} << 22;
  return config;
}

/// Runs `body` with its expectations in a process of its own, which may grow by 64 MiB regardless of the documents.
void apart(const std::function<void()>& body) {
  EXPECT_EQ(run_apart(0,
                      [&] {
                        body();
                        return std::string(testing::Test::HasFailure() ? "an expectation above is not met" : "");
                      }),
            "");
}

/// Every operation that a user can request.
void use(const Dataset& found) {
  (void)netcdf::dump(found, {.name = "x"}, [](std::string_view) -> Result<void> { return {}; });
}

TEST(HostileNetcdf, TextsBelowTheRootCostTheirNodeOnly) {
  apart([] {
    for (const std::string key : {"bad/.zarray", "bad/.zattrs", "g/.zgroup", "g/.zattrs"})
      for (const BadText& bad : bad_texts()) {
        const auto store = dataset();
        store->set(key, bad.text).value();
        const auto found = Dataset::open(store, {.config = limited()});
        ASSERT_TRUE(found.has_value()) << key << ": " << bad.name << ": " << found.error().text();
        EXPECT_FALSE(found->warnings().empty()) << key << ": " << bad.name;
        EXPECT_TRUE(found->root().variable("good")) << key << ": " << bad.name;
        use(*found);
      }
  });
}

TEST(HostileNetcdf, TextsOfTheRootAreRefused) {
  apart([] {
    for (const std::string key : {".zgroup", ".zattrs"})
      for (const BadText& bad : bad_texts()) {
        const auto store = dataset();
        store->set(key, bad.text).value();
        const auto found = Dataset::open(store, {.config = limited()});
        ASSERT_FALSE(found) << key << ": " << bad.name;
        const ErrorCode code = found.error().code();
        EXPECT_TRUE(code == ErrorCode::corrupt || code == ErrorCode::unsupported) << found.error().text();
        EXPECT_FALSE(netcdf::Writer::open(store, {.config = limited()})) << key << ": " << bad.name;
        EXPECT_EQ(store->get(key).value().value().size(), bad.text.size());
      }
  });
}

TEST(HostileNetcdf, ConsolidatedTextsAreIgnored) {
  apart([] {
    for (const BadText& bad : bad_texts()) {
      const auto store = dataset();
      store->set(".zmetadata", bad.text).value();
      const auto found = Dataset::open(store, {.config = limited()});
      ASSERT_TRUE(found.has_value()) << bad.name << ": " << found.error().text();
      EXPECT_TRUE(found->root().variable("good")) << bad.name;
      EXPECT_TRUE(found->root().variable("bad")) << bad.name;
    }
  });
}

struct BadMember {
  int number;  ///< of docs/limits.md
  std::string changes;
};

std::string repeated_one(std::size_t count) {
  std::string list = "[1";
  for (std::size_t i = 1; i < count; ++i) list += ",1";
  return list + "]";
}

std::vector<BadMember> bad_members() {
  return {{12, R"({"shape": [4, 1e999]})"},
          {13, R"({"shape": [4, 9223372036854775808]})"},
          {14, R"({"shape": [4, -1]})"},
          {15, R"({"shape": [4, 1.5]})"},
          {16, R"({"shape": ["4", 8]})"},
          {17, R"({"shape": []})"},
          {18, R"({"shape": )" + repeated_one(100'000) + "}"},
          {19, R"({"shape": [4294967296, 4294967296]})"},
          {20, R"({"chunks": [4294967296, 4294967296]})"},
          {21, R"({"chunks": [2, 0]})"},
          {22, R"({"chunks": [2]})"},
          {25, R"({"filters": {}})"},
          {25, R"({"compressor": []})"},
          {26, R"({"dtype": "|O", "filters": [{"id": "vlen-utf8"}, {"id": "vlen-utf8"}]})"},
          {29, R"({"order": [1, 0]})"},
          {31, R"({"fill_value": "x"})"},
          {31, R"({"fill_value": [0, 1]})"},
          {32, R"({"dtype": "|V137438953472"})"},
          {32, R"({"dtype": "|S99999999999999999999"})"},
          {33, R"({"dtype": [["a", "|V1073741824"], ["b", "|V1073741824"]]})"},
          {36, R"({"dimension_separator": ".."})"},
          {37, R"({"zarr_format": 3})"},
          {37, R"({"shape": "-", "chunks": "-", "dtype": "-"})"}};
}

TEST(HostileNetcdf, MembersOfAnArrayCostTheirVariableOnly) {
  apart([] {
    for (const BadMember& bad : bad_members()) {
      const auto store = dataset();
      store->set("bad/.zarray", changed(kZarray, bad.changes)).value();
      const auto found = Dataset::open(store);
      const std::string about = std::to_string(bad.number) + ": " + bad.changes.substr(0, 80);
      ASSERT_TRUE(found.has_value()) << about << found.error().text();
      EXPECT_FALSE(found->root().variable("bad")) << about;
      EXPECT_FALSE(found->warnings().empty()) << about;
      EXPECT_TRUE(found->root().variable("good")) << about;
      use(*found);
    }
  });
}

// 34 and 35, and what else only notes have.
TEST(HostileNetcdf, NotesThatAreWrongAreIgnoredWithAWarning) {
  apart([] {
    const std::string notes[] = {R"({"dimrefs": ["/y", "/gone"]})",
                                 R"({"dimrefs": ["/y"]})",
                                 R"({"dimrefs": ["/y", "/x", "/x"]})",
                                 R"({"dimrefs": ["/x", "/y"]})",
                                 R"({"dimrefs": ["/g/../y", "/./x"]})",
                                 R"({"dimrefs": ["", "/"]})",
                                 R"({"dimrefs": [1, 2]})",
                                 R"({"dimrefs": {"a": 1}})",
                                 R"({"dimrefs": ["/_zdim_99999999999999999999", "/.zdim_-1"]})",
                                 R"({"dimrefs": [")" + std::string(5000, 'n') + R"(", "/x"]})"};
    for (const std::string& note : notes) {
      const auto store = dataset();
      store->set("bad/.zarray", changed(kZarray, R"({"_nczarr_array": )" + note + "}")).value();
      const auto found = Dataset::open(store);
      ASSERT_TRUE(found.has_value()) << note << found.error().text();
      ASSERT_TRUE(found->root().variable("bad")) << note;
      EXPECT_EQ(found->root().variable("bad")->shape(), (Shape{4, 8})) << note;
      EXPECT_FALSE(found->warnings().empty()) << note;
      use(*found);
    }
  });
}

TEST(HostileNetcdf, AttributesOfAnyNameAndFormAreRead) {
  apart([] {
    const std::string attributes[] = {"{\"" + std::string(100'000, 'n') + "\": 1}",
                                      R"({"a\u0000b": "\u0000", "": 1})",
                                      R"({"_nczarr_attr": {"types": {"units": "<i8"}}, "units": "not a number"})",
                                      R"({"_nczarr_attr": {"types": {"units": ">S99999999999999999999"}}, "units": 1})",
                                      R"({"_ARRAY_DIMENSIONS": ["/", ".."], "CLASS": [[[]]]})",
                                      R"({"_ARRAY_DIMENSIONS": "x", "_FillValue": {"a": [1e999]}})",
                                      R"({"_nczarr_maxstrlen": 99999999999, "_nczarr_default_maxstrlen": -1})"};
    for (const std::string& text : attributes) {
      const auto store = dataset();
      store->set("bad/.zattrs", text).value();
      const auto found = Dataset::open(store);
      ASSERT_TRUE(found.has_value()) << text.substr(0, 80) << found.error().text();
      EXPECT_TRUE(found->root().variable("bad")) << text.substr(0, 80);
      use(*found);
    }
  });
}

// The group "c" would be its own member, if names could lead upwards.
TEST(HostileNetcdf, ListsCannotLeadOutOfTheirGroup) {
  apart([] {
    const auto store = dataset();
    store
        ->set("g/.zgroup", R"({"zarr_format": 2, "_nczarr_group": {"dims": {"d": 18446744073709551615},
    "vars": ["../good", "/good", "", "."], "groups": ["..", "../g", "g\u0000"]}})")
        .value();
    const auto found = Dataset::open(store);
    ASSERT_TRUE(found.has_value()) << found.error().text();
    EXPECT_TRUE(found->root().group("g")->variables().empty());
    EXPECT_TRUE(found->root().group("g")->groups().empty());
    use(*found);
  });
}

/// The consolidated metadata of the dataset, with some members added or replaced; "" removes one.
std::string consolidated(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::pair<std::string, std::string>> members{{".zgroup", kZgroup},
                                                           {".zattrs", "{}"},
                                                           {"good/.zarray", kZarray},
                                                           {"good/.zattrs", kTypes},
                                                           {"bad/.zarray", kZarray},
                                                           {"bad/.zattrs", kTypes},
                                                           {"g/.zgroup", R"({"zarr_format": 2})"},
                                                           {"g/.zattrs", "{}"}};
  for (const auto& [key, text] : changes) {
    std::erase_if(members, [&](const auto& each) { return each.first == key; });
    if (!text.empty()) members.emplace_back(key, text);
  }
  std::string all;
  for (const auto& [key, text] : members) all += (all.empty() ? "\"" : ", \"") + key + "\": " + text;
  return R"({"zarr_consolidated_format": 1, "metadata": {)" + all + "}}";
}

Result<Dataset> open_consolidated(const std::string& text, const std::shared_ptr<Store>& store = dataset()) {
  store->set(".zmetadata", text).value();
  return Dataset::open(store);
}

TEST(HostileNetcdf, ConsolidatedMembersOfAnArrayCostTheirVariableOnly) {
  apart([] {
    for (const BadMember& bad : bad_members()) {
      const auto found = open_consolidated(consolidated({{"bad/.zarray", changed(kZarray, bad.changes)}}));
      const std::string about = std::to_string(bad.number) + ": " + bad.changes.substr(0, 80);
      ASSERT_TRUE(found.has_value()) << about << found.error().text();
      EXPECT_FALSE(found->root().variable("bad")) << about;
      EXPECT_FALSE(found->warnings().empty()) << about;
      EXPECT_TRUE(found->root().variable("good")) << about;
      use(*found);
    }
  });
}

TEST(HostileNetcdf, OddConsolidatedDocumentsCostNoMoreThanTheirNode) {
  apart([] {
    for (const char* key : {"bad/.zarray", "bad/.zattrs", "g/.zgroup", "g/.zattrs"})
      for (const char* text :
           {"7", "[]", "null", "\"{}\"", "true", R"({"_nczarr_attr": 7, "_nczarr_array": [], "a": {}})"}) {
        const auto found = open_consolidated(consolidated({{key, text}}));
        ASSERT_TRUE(found.has_value()) << key << text << found.error().text();
        EXPECT_TRUE(found->root().variable("good")) << key << text;
        use(*found);
      }
  });
}

// No key of consolidated metadata can make a node outside of the dataset, or one that has no name.
TEST(HostileNetcdf, ConsolidatedKeysNameNothingOutsideOfTheDataset) {
  apart([] {
    for (const char* key : {"../out/.zarray", "/.zarray", "//.zarray", "g/../../out/.zarray", "./x/.zarray",
                            "g//x/.zarray", "\\u0000/.zarray", "a\\u0000b/.zarray", "a\\nb/.zarray", "", "/", ".zarray",
                            "g/.zarray", "good/x/.zarray", "\\ud83d\\ude00/.zarray"}) {
      const auto found = open_consolidated(consolidated({{key, kZarray}}));
      ASSERT_TRUE(found.has_value()) << key << ": " << found.error().text();
      EXPECT_TRUE(found->root().variable("good")) << key;
      EXPECT_FALSE(found->root().variable("out")) << key;
      for (const netcdf::Variable& each : found->root().variables())
        EXPECT_EQ(each.name().find('/'), std::string::npos);
      use(*found);
    }
  });
}

TEST(HostileNetcdf, AMillionConsolidatedKeysAreBeyondTheLimit) {
  const auto store = dataset();
  std::string keys;
  for (int i = 0; i < 60'000; ++i) keys += ", \"n" + std::to_string(i) + "/.zarray\": {}";
  store->set(".zmetadata", R"({"metadata": {".zgroup": {"zarr_format": 2})" + keys + "}}").value();
  apart([&] {
    const auto found = Dataset::open(store, {.config = limited()});
    ASSERT_TRUE(found.has_value()) << found.error().text();
    EXPECT_TRUE(found->root().variable("good"));
    ASSERT_FALSE(found->warnings().empty());
    EXPECT_NE(found->warnings().front().find("json_values"), std::string::npos) << found->warnings().front();
  });
}

// Chunks of up to 2 GiB are legal, so that only what is stored of them may count.
TEST(HostileNetcdf, MemoryFollowsWhatIsStoredAndNotWhatChunksClaim) {
  for (const char* compressor : {"null", R"({"id": "zlib", "level": 1})"})
    for (const std::string& stored : {std::string(), std::string("abc"), std::string(100'000, 'x')}) {
      const auto store = dataset();
      const std::string changes = R"({"chunks": [30000, 30000], "compressor": )" + std::string(compressor) + "}";
      store->set("bad/.zarray", changed(kZarray, changes)).value();
      if (!stored.empty()) store->set("bad/0.0", stored).value();
      apart([&] {
        const auto found = Dataset::open(store);
        ASSERT_TRUE(found.has_value()) << found.error().text();
        ASSERT_TRUE(found->root().variable("bad"));
        const auto values = found->root().variable("bad")->read();
        if (stored.empty())
          EXPECT_EQ(values.value(), netcdf::Values(std::vector<std::uint16_t>(32)));
        else
          EXPECT_EQ(values.error().code(), ErrorCode::corrupt) << compressor << stored.size();
      });
    }
}

TEST(HostileNetcdf, TypesOfAttributesAreReadFromASecondNote) {
  const auto store = memory_store();
  store
      ->set("zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes": {
    "_nczarr_superblock": {"version": "2.0.0"}, "_nczarr_group": {"dimensions": {"x": 2}, "arrays": ["s"]}}})")
      .value();
  store
      ->set("s/zarr.json", R"({"zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "string",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "chunk_key_encoding": {"name": "default"},
    "fill_value": "", "codecs": [{"name": "vlen-utf8"}], "attributes": {"_nczarr_array": {"dimension_references": ["/x"]},
    "_nczarr_attr": 5, "_nczarr_attrs": {"types": {"_FillValue": "|S1"}}}})")
      .value();
  const Dataset found = Dataset::open(store).value();
  ASSERT_TRUE(found.root().variable("s"));
  EXPECT_EQ(found.root().variable("s")->attributes().front().name, "_FillValue");
}

TEST(HostileNetcdf, GroupOfZarr3WithNotesOfZarr2CanHaveNewMembers) {
  const auto store = memory_store();
  store
      ->set("zarr.json", R"({"zarr_format": 3, "node_type": "group", ".zgroup": {"must_understand": false,
    "_nczarr_group": {"dims": {}, "vars": [], "groups": []}}})")
      .value();
  Group root = open_group(store, {.writable = true}).value();
  EXPECT_TRUE(root.create_group("g").has_value());
  EXPECT_TRUE(root.create_array("v", {.shape = {2}, .dtype = DType::int32}).has_value());
}

// A fill value is as long as the element of its type, however short its text is.
TEST(HostileNetcdf, MemoryDoesNotFollowTheSizeOfElements) {
  for (const char* dtype : {"|S999999999", "<U249999999", "|V999999999", "|S1048577"})
    for (const char* fill : {"null", "\"\"", "1.5"}) {
      const auto store = dataset();
      for (const char* key : {"bad/.zarray", "bad1/.zarray", "bad2/.zarray", "bad3/.zarray"})
        store->set(key, changed(kZarray, R"({"dtype": ")" + std::string(dtype) + R"(", "fill_value": )" + fill + "}"))
            .value();
      apart([&] {
        const auto found = Dataset::open(store);
        ASSERT_TRUE(found.has_value()) << found.error().text();
        EXPECT_TRUE(found->root().variable("good"));
        EXPECT_FALSE(found->root().variable("bad"));
        const auto names_limit = [](const std::string& each) {
          return each.find("element_bytes") != std::string::npos;
        };
        EXPECT_GE(std::ranges::count_if(found->warnings(), names_limit), 1);
      });
    }
}

TEST(HostileNetcdf, ConsolidatedMetadataOfAnotherVersionAreWarnedOf) {
  for (const char* version : {"2", "\"1\"", "null"}) {
    const auto store = dataset();
    store
        ->set(".zmetadata", R"({"zarr_consolidated_format": )" + std::string(version) +
                                R"(, "metadata": {".zgroup": {"zarr_format": 2}, ".zattrs": {"lie": 1}}})")
        .value();
    const Dataset found = Dataset::open(store).value();
    EXPECT_TRUE(found.root().attributes().empty()) << version;
    ASSERT_FALSE(found.warnings().empty()) << version;
    EXPECT_NE(found.warnings().front().find(".zmetadata is ignored"), std::string::npos) << found.warnings().front();
  }
}

// Two entries of one node would be read by two threads.
TEST(HostileNetcdf, ConsolidatedEntriesWithImpossiblePathsAreIgnored) {
  std::string entries = R"(".zgroup": {"zarr_format": 2})";
  for (const char* path : {"good", "/good", "good/", "..", ".", "../out", "g//v", "b\\u0000c", ".zarray"})
    entries += ", \"" + std::string(path) + "/.zarray\": " + kZarray + ", \"" + path + "/.zattrs\": {}";
  const auto store = dataset();
  store->set(".zmetadata", R"({"zarr_consolidated_format": 1, "metadata": {)" + entries + "}}").value();
  const Dataset found = Dataset::open(store).value();
  ASSERT_EQ(found.root().variables().size(), 1U);
  EXPECT_EQ(found.root().variables().front().name(), "good");
  EXPECT_TRUE(found.root().groups().empty());
  EXPECT_EQ(found.warnings(), std::vector<std::string>());
}

}  // namespace netcdf_test
}  // namespace sherd::hostile
