// Every generation of NCZarr, and pure Zarr: the same small dataset in the form of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/group.hpp"
#include "sherd/tools.hpp"
#include "tests/netcdf/netcdf_testing.hpp"
#include "tests/store/round_trips.hpp"
#include "tests/test_data.hpp"

namespace sherd::netcdf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kHeader = R"(netcdf x {
dimensions:
	t = 2 ;
	n = 3 ;
variables:
	int v(t, n) ;
		v:units = "m" ;
		v:level = 5s ;
	float s ;

// global attributes:
		:title = "root" ;

group: g {
  dimensions:
  	n = 2 ;
  variables:
  	char c(n) ;
  	byte u(t) ;

  // group attributes:
  		:about = 1.5 ;
  } // group g
}
)";

std::string v2_array(const std::string& shape, const std::string& dtype, const std::string& key,
                     const std::string& refs, const std::string& storage = "chunked") {
  return zarray(shape, dtype, ", \"" + key + R"(": {"dimrefs": )" + refs + R"(, "storage": ")" + storage + "\"}");
}

Texts v2(bool upper) {
  const auto key = [&](const char* name) {
    std::string text = name;
    if (upper)
      for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    return text;
  };
  const std::string text = upper ? "<U1" : ">S1";
  const std::string attr = ", \"" + key("_nczarr_attr") + R"(": {"types": )";
  return {
      {".zgroup", R"({"zarr_format": 2, ")" + key("_nczarr_superblock") + R"(": {"version": "2.0.0"}, ")" +
                      key("_nczarr_group") + R"(": {"dims": {"t": 2, "n": 3}, "vars": ["v", "s"], "groups": ["g"]}})"},
      {".zattrs", R"({"title": "root")" + attr + R"({"title": ")" + text + "\"}}}"},
      {"v/.zarray", v2_array("[2, 3]", "<i4", key("_nczarr_array"), R"(["/t", "/n"])")},
      {"v/.zattrs", R"({"units": "m", "level": 5)" + attr + R"({"units": ")" + text + R"(", "level": "<i2"}}})"},
      {"s/.zarray", v2_array("[1]", "<f4", key("_nczarr_array"), "[]", "scalar")},
      {"g/.zgroup", R"({"zarr_format": 2, ")" + key("_nczarr_group") +
                        R"(": {"dims": {"n": 2}, "vars": ["c", "u"], "groups": []}})"},
      {"g/.zattrs", R"({"about": 1.5)" + attr + R"({"about": "<f8"}}})"},
      {"g/c/.zarray", v2_array("[2]", text, key("_nczarr_array"), R"(["/g/n"])")},
      {"g/c/0", "ab"},
      {"g/u/.zarray", v2_array("[2]", "<i1", key("_nczarr_array"), R"(["/t"])")}};
}

Texts v1() {
  return {{".nczarr", R"({"zarr_format": 2, "nczarr_version": "1.0.0"})"},
          {".zgroup", R"({"zarr_format": 2})"},
          {".nczgroup", R"({"dims": {"t": 2, "n": 3}, "vars": ["v", "s"], "groups": ["g"]})"},
          {".zattrs", R"({"title": "root"})"},
          {".nczattr", R"({"types": {"title": "2"}})"},
          {"v/.zarray", zarray("[2, 3]", "<i4")},
          {"v/.nczvar", R"({"dimrefs": ["/t", "/n"], "storage": "chunked"})"},
          {"v/.zattrs", R"({"units": "m", "level": [5]})"},
          {"v/.nczattr", R"({"types": {"units": "2", "level": "3"}})"},
          {"s/.zarray", zarray("[1]", "<f4")},
          {"s/.nczarray", R"({"dimrefs": [], "storage": "scalar"})"},
          {"g/.zgroup", R"({"zarr_format": 2})"},
          {"g/.nczgroup", R"({"dims": {"n": 2}, "vars": ["c", "u"], "groups": []})"},
          {"g/.zattrs", R"({"about": [1.5]})"},
          {"g/.nczattrs", R"({"types": {"about": "<f8"}})"},
          {"g/c/.zarray", zarray("[2]", "<U1")},
          {"g/c/.nczarray", R"({"dimrefs": ["/g/n"], "storage": "chunked"})"},
          {"g/c/0", "ab"},
          {"g/u/.zarray", zarray("[2]", "<i1")},
          {"g/u/.nczarray", R"({"dimrefs": ["/t"], "storage": "chunked"})"}};
}

/// In the form of 4.9.3: everything in attributes.
std::string notes(const char* which, const std::string& note, const std::string& attributes, const std::string& types) {
  return "{" + attributes + R"("_nczarr_)" + which + R"(": )" + note + R"(, "_nczarr_attr": {"types": {)" + types +
         (types.empty() ? "" : ", ") + R"("_nczarr_)" + which + R"(": "|J0", "_nczarr_attr": "|J0"}}})";
}

const std::string kRootNote = R"({"dimensions": {"t": 2, "n": 3}, "arrays": ["v", "s"], "groups": ["g"]})";
const std::string kGroupNote = R"({"dimensions": {"n": 2}, "arrays": ["c", "u"], "groups": []})";

Texts v2c() {
  return {{".zgroup", R"({"zarr_format": 2})"},
          {".zattrs", notes("group", kRootNote, R"("title": "root", )", R"("title": ">S1")")},
          {"v/.zarray", zarray("[2, 3]", "<i4")},
          {"v/.zattrs", notes("array", R"({"dimension_references": ["/t", "/n"], "storage": "chunked"})",
                              R"("units": "m", "level": 5, )", R"("units": ">S1", "level": "<i2")")},
          {"s/.zarray", zarray("[1]", "<f4")},
          {"s/.zattrs", notes("array", R"({"dimension_references": [], "scalar": 1, "storage": "chunked"})", "", "")},
          {"g/.zgroup", R"({"zarr_format": 2})"},
          {"g/.zattrs", notes("group", kGroupNote, R"("about": 1.5, )", R"("about": "<f8")")},
          {"g/c/.zarray", zarray("[2]", ">S1")},
          {"g/c/.zattrs", notes("array", R"({"dimension_references": ["/g/n"], "storage": "chunked"})", "", "")},
          {"g/c/0", "ab"},
          {"g/u/.zarray", zarray("[2]", "<i1")},
          {"g/u/.zattrs", notes("array", R"({"dimension_references": ["/t"], "storage": "chunked"})", "", "")}};
}

std::string v3_array(const std::string& shape, const std::string& type, const std::string& attributes) {
  return R"({"zarr_format": 3, "node_type": "array", "shape": )" + shape + R"(, "data_type": ")" + type +
         R"(", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": )" + shape +
         R"(}}, "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
         "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": )" +
         attributes + "}";
}

Texts v3() {
  const std::string group = R"({"zarr_format": 3, "node_type": "group", "attributes": )";
  return {{"zarr.json", group + notes("group", kRootNote, R"("title": "root", )", R"("title": ">S1")") + "}"},
          {"v/zarr.json", v3_array("[2, 3]", "int32",
                                   notes("array", R"({"dimension_references": ["/t", "/n"]})",
                                         R"("units": "m", "level": 5, )", R"("units": ">S1", "level": "<i2")"))},
          {"s/zarr.json",
           v3_array("[]", "float32", notes("array", R"({"dimension_references": [], "scalar": 1})", "", ""))},
          {"g/zarr.json", group + notes("group", kGroupNote, R"("about": 1.5, )", R"("about": "<f8")") + "}"},
          {"g/c/zarr.json",
           v3_array("[2]", "uint8", notes("array", R"({"dimension_references": ["/g/n"], "type": "char"})", "", ""))},
          {"g/c/c/0", "ab"},
          {"g/u/zarr.json", v3_array("[2]", "int8", notes("array", R"({"dimension_references": ["/t"]})", "", ""))}};
}

TEST(Generations, AreAllReadAlike) {
  for (const auto& [texts, generation] :
       {std::pair(v1(), Generation::v1), std::pair(v2(true), Generation::v2a), std::pair(v2(false), Generation::v2b),
        std::pair(v2c(), Generation::v2c), std::pair(v3(), Generation::v2c)}) {
    const Dataset dataset = open_texts(texts).value();
    EXPECT_EQ(dataset.generation(), generation);
    EXPECT_EQ(header_of(dataset), kHeader) << to_string(generation);
    EXPECT_THAT(dataset.warnings(), IsEmpty()) << to_string(generation);
    EXPECT_EQ(dataset.root().variable("g/c")->read().value(), Values("ab")) << to_string(generation);
  }
}

TEST(Generations, AreIgnoredInPureMode) {
  const Dataset dataset = open_texts(v2(false), {.pure = true}).value();
  EXPECT_EQ(dataset.generation(), Generation::pure);
  EXPECT_EQ(dataset.root().variable("v")->dimensions()[1].full_name(), "/_Anonymous_Dim_3");
  EXPECT_EQ(dataset.root().variable("g/c")->type(), Type::string);
}

TEST(Generations, CopiedToZarr3AsArraysAreReadAsPureZarr) {
  const auto store = memory_store();
  const auto report = sherd::copy(store_of(v2(false)), store, {.format = "zarr3"}).value();
  EXPECT_THAT(report.warnings, Contains(HasSubstr("'g/c/.zarray': the member '_nczarr_array' is not copied")));
  const Dataset copy = Dataset::open(store).value();
  EXPECT_EQ(copy.root().variable("g/c")->type(), Type::string);
  EXPECT_THAT(header_of(copy), HasSubstr("v:level = 5 ;"));
}

TEST(Generations, ShowConsolidatedMetadataAlike) {
  const auto store = store_of(v2(false));
  open_group(store, {.writable = true}).value().consolidate().value();
  store->erase("v/.zarray").value();  // no longer looked at
  EXPECT_EQ(header_of(Dataset::open(store).value()), kHeader);
}

TEST(Generations, HaveChunksInFoldersWhereTheSeparatorIsASlash) {
  const std::string group =
      R"({"zarr_format": 2, "_nczarr_group": {"dims": {"y": 2, "x": 2}, "vars": ["v"], "groups": []}})";
  const std::string array = R"({"zarr_format": 2, "shape": [2, 2], "chunks": [1, 2], "dtype": "|u1", "fill_value": 9,
      "order": "C", "compressor": null, "filters": null, "dimension_separator": "/",
      "_nczarr_array": {"dimrefs": ["/y", "/x"], "storage": "chunked"}})";
  const Dataset dataset = open_texts({{".zgroup", group}, {"v/.zarray", array}, {"v/1/0", "\1\2"}}).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_EQ(dataset.root().variable("v")->read().value(), Values(std::vector<std::uint8_t>{9, 9, 1, 2}));
}

TEST(Generations, ShowContiguousAndCompactStorageAsOneChunk) {
  for (const char* storage : {"contiguous", "compact"}) {
    const Dataset dataset =
        open_texts(
            {{".zgroup", R"({"zarr_format": 2, "_nczarr_group": {"dims": {"x": 3}, "vars": ["v"], "groups": []}})"},
             {"v/.zarray", v2_array("[3]", "|u1", "_nczarr_array", R"(["/x"])", storage)},
             {"v/0", "\1\2\3"}})
            .value();
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    EXPECT_EQ(dataset.root().variable("v")->storage().chunks, Shape{3}) << storage;
    EXPECT_EQ(dataset.root().variable("v")->dimensions()[0].full_name(), "/x");
    EXPECT_EQ(dataset.root().variable("v")->read().value(), Values(std::vector<std::uint8_t>{1, 2, 3}));
  }
}

TEST(ConsolidatedDataset, IsOpenedInOneRoundTrip) {
  for (const Texts& texts : {v2(true), v2(false), v2c(), v3()}) {
    const auto beneath = store_of(texts);
    open_group(beneath, {.writable = true}).value().consolidate().value();
    const auto store = slow_store(beneath);
    const Dataset dataset = Dataset::open(store).value();
    EXPECT_EQ(store->batches, 1U);
    EXPECT_EQ(store->requests, 2U);
    EXPECT_EQ(header_of(dataset), kHeader);
    EXPECT_THAT(dataset.warnings(), IsEmpty());
  }
}

TEST(ConsolidatedDataset, WithoutDocumentsOfTheRootIsReadAsItIsStored) {
  for (const char* own : {"", R"(".zgroup": 7, ".zattrs": {},)", R"(".zgroup": {}, ".zattrs": [],)"}) {
    Texts texts = v2(false);
    texts.emplace_back(".zmetadata", std::string(R"({"metadata": {)") + own + R"("v/.zarray": )" +
                                         v2_array("[2, 3]", "<i4", "_nczarr_array", R"(["/t", "/n"])") + "}}");
    const Dataset dataset = open_texts(texts).value();
    EXPECT_EQ(dataset.root().attribute("title") != nullptr, true) << own;
    EXPECT_TRUE(dataset.root().variable("v")) << own;
  }
}

TEST(HybridDataset, HasAnUnlimitedDimensionIfItsAttributesSaySo) {
  const Dataset plain = Dataset::open(test_data("nczarr/hybrid/plain.zarr")).value();
  const Dataset unlimited = Dataset::open(test_data("nczarr/hybrid/unlimited.zarr")).value();
  EXPECT_FALSE(plain.root().dimension("x")->unlimited);
  EXPECT_TRUE(unlimited.root().dimension("x")->unlimited);
  EXPECT_EQ(plain.root().variable("vi")->read().value(), unlimited.root().variable("vi")->read().value());
  EXPECT_EQ(plain.root().variable("scal")->read().value(), Values(std::vector<double>{3.5}));
  EXPECT_EQ(plain.root().variable("ch")->read().value(), Values("abcd"));
}

TEST(Release, DecidesTheByteOrderOfBigEndianData) {
  const auto texts = [](const std::string& release) {
    return Texts{{".zgroup", R"({"zarr_format": 2, "_nczarr_group": {"dims": {"x": 1}, "vars": ["v"], "groups": []}})"},
                 {".zattrs", R"({"_NCProperties": "version=2,netcdf=)" + release + R"(,nczarr=2.0.0"})"},
                 {"v/.zarray", v2_array("[1]", ">i4", "_nczarr_array", R"(["/x"])")},
                 {"v/0", std::string("\1\0\0\0", 4)}};
  };
  const auto value = [&](const std::string& release) {
    return open_texts(texts(release)).value().root().variable("v")->read().value();
  };
  EXPECT_EQ(value("4.9.2"), Values(std::vector<std::int32_t>{1}));
  EXPECT_EQ(value("4.9.3-development"), Values(std::vector<std::int32_t>{1}));  // of netCDF4 1.6.5
  EXPECT_EQ(value("4.9.3"), Values(std::vector<std::int32_t>{16777216}));
  EXPECT_EQ(value("4.10.1"), Values(std::vector<std::int32_t>{16777216}));
}

TEST(Release, OfTheNewestGenerationSwapsBytesInItsDevelopmentToo) {
  const Texts texts{{".zgroup", R"({"zarr_format": 2})"},
                    {".zattrs", R"({"_NCProperties": "version=2,netcdf=4.9.3-development,nczarr=2.0.0",
                      "_nczarr_superblock": {"version": "2.0.0"},
                      "_nczarr_group": {"dimensions": {"x": 1}, "arrays": ["v"], "groups": []}})"},
                    {"v/.zarray", zarray("[1]", ">i4")},
                    {"v/.zattrs", R"({"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}})"},
                    {"v/0", std::string("\0\0\0\1", 4)}};
  EXPECT_EQ(open_texts(texts).value().root().variable("v")->read().value(), Values(std::vector<std::int32_t>{1}));
}

TEST(Release, WritesFillValuesWithSixDigitsWhichAreMeantExactly) {
  const Dataset dataset =
      open_texts(
          {{".zgroup", R"({"zarr_format": 2, "_nczarr_group": {"dims": {"x": 1}, "vars": ["v"], "groups": []}})"},
           {"v/.zarray", R"({"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<f8", "fill_value":
                    9.96921e+36, "order": "C", "compressor": null, "filters": null,
                    "_nczarr_array": {"dimrefs": ["/x"], "storage": "chunked"}})"}})
          .value();
  EXPECT_EQ(dataset.root().variable("v")->read().value(), default_fill(Type::float64));
}

TEST(Release, LeavesBytesBehindShortenedDocuments) {
  Texts texts = v2c();
  texts[1].second += R"("old": 1}})";
  const Dataset dataset = open_texts(texts).value();
  EXPECT_EQ(header_of(dataset), kHeader);
  EXPECT_THAT(dataset.warnings(), ElementsAre(HasSubstr(".zattrs")));
}

TEST(Release, WritesFillValuesOfTextAsText) {
  for (const char* sample : {"nczarr/4.9.1/a491-nczarr_file", "nczarr/4.10.1/a4101-nczarr_file"}) {
    const Dataset dataset = Dataset::open(test_data(sample)).value();
    EXPECT_EQ(dataset.root().variable("cfill")->read().value(), Values("****"));
    EXPECT_EQ(dataset.root().variable("vstrf")->read().value(), Values(std::vector<std::string>{"q", "zz", "r", "s"}));
  }
}

}  // namespace
}  // namespace sherd::netcdf
