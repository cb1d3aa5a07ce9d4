// The objects of nodes in every generation of NCZarr, and in pure Zarr: the same small dataset in the form of each.
#include "tests/netcdf/generations_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::netcdf::generations_testing {
namespace nodes_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST(Release, LeavesBytesBehindShortenedDocuments) {
  Texts texts = v2c();
  texts[1].second += R"("old": 1}})";
  const Dataset dataset = open_texts(texts).value();
  EXPECT_EQ(header_of(dataset), kHeader);
  EXPECT_THAT(dataset.warnings(), ElementsAre(HasSubstr(".zattrs")));
}

}  // namespace nodes_test
}  // namespace sherd::netcdf::generations_testing
