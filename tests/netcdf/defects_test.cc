// Defects of netcdf-c that other tests of this folder do not name: each of docs/spec/nczarr.md, D1 to D20, has a test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "sherd/netcdf_writer.hpp"
#include "tests/netcdf/netcdf_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::netcdf {
namespace defects_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::pair<std::string, std::string> kGroup{".zgroup", R"({"zarr_format": 2})"};

Json json_at(Store& store, const std::string& key) { return Json::parse(store.get(key).value().value()).value(); }

// D2
TEST(DefectsOfNetcdfC, ModesAreReadInAnyOrder) {
  const TempDir directory;
  Writer writer = Writer::create(directory / "x").value();
  writer.define_dimension("/", "x", 2).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}}).value();
  writer.sync().value();
  for (const char* modes :
       {"nczarr,zarr", "zarr,nczarr", "nczarr,file,noxarray", "noxarray,file,nczarr", "zarr,noxarray"}) {
    const auto dataset = Dataset::open(directory / "x#mode=" + modes);
    ASSERT_TRUE(dataset.has_value()) << modes << dataset.error().text();
    EXPECT_EQ(dataset->root().variable("v")->shape(), Shape{2}) << modes;
  }
}

// D4
TEST(DefectsOfNetcdfC, ACodecThatIsNotKnownIsNeverTakenForRawData) {
  std::string document = zarray("[4]", "|u1");
  document.replace(document.find("null, \"filters\""), 4, R"({"id": "not-known", "level": 1})");
  const Dataset dataset = open_texts({kGroup, {"bad/.zarray", document}, {"bad/0", "abcd"}}).value();
  EXPECT_FALSE(dataset.root().variable("bad"));
  EXPECT_THAT(dataset.warnings(), ElementsAre(HasSubstr("not-known")));
}

// D7
TEST(DefectsOfNetcdfC, AShorterDocumentLeavesNoBytesOfTheLongerOne) {
  const TempDir directory;
  const auto store = file_store(directory.path()).value();
  Writer writer = Writer::create(store).value();
  writer.set_attribute("/", {"text", std::string(5000, 'x')}).value();
  writer.sync().value();
  writer.set_attribute("/", {"text", std::string("short")}).value();
  writer.sync().value();
  EXPECT_EQ(json_at(*store, ".zattrs").find("text")->text(), "short");
  EXPECT_THAT(Dataset::open(store).value().warnings(), IsEmpty());
}

// D9
TEST(DefectsOfNetcdfC, BigEndianElementsAreStoredSoAndOthersFilled) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "x", 4).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}, .chunks = {2}, .big_endian = true}).value();
  writer.write("v", {{0}, {1}}, std::vector<std::int32_t>{1}).value();
  writer.sync().value();
  EXPECT_EQ(json_at(*store, "v/.zarray").find("dtype")->text(), ">i4");
  EXPECT_EQ(store->get("v/0").value().value().substr(0, 4), std::string("\0\0\0\1", 4));
  EXPECT_EQ(Dataset::open(store).value().root().variable("v")->read().value(),
            Values(std::vector<std::int32_t>{1, -2147483647, -2147483647, -2147483647}));
}

TEST(DefectsOfNetcdfC, BigEndianChunksOfTheFillValueAreStored) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "x", 4).value();
  for (const bool big : {false, true})
    writer.define_variable("/", {.name = big ? "big" : "little", .dimensions = {"x"}, .chunks = {2}, .big_endian = big})
        .value();
  for (const char* name : {"little", "big"})
    writer.write(name, {{0}, {4}}, std::vector<std::int32_t>{1, 2, -2147483647, -2147483647}).value();
  writer.sync().value();
  EXPECT_FALSE(store->get("little/1").value());
  EXPECT_EQ(store->get("big/1").value(), std::string("\x80\0\0\1\x80\0\0\1", 8));
  Writer again = Writer::open(store).value();
  again.write("big", {{0}, {2}}, std::vector<std::int32_t>{-2147483647, -2147483647}).value();
  again.sync().value();
  EXPECT_EQ(store->get("big/0").value(), std::string("\x80\0\0\1\x80\0\0\1", 8));
}

// D10
TEST(DefectsOfNetcdfC, ShuffleNamesTheSizeOfItsElements) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "x", 4).value();
  writer
      .define_variable("/",
                       {.name = "v", .type = Type::float64, .dimensions = {"x"}, .deflate_level = 1, .shuffle = true})
      .value();
  writer.sync().value();
  const Json document = json_at(*store, "v/.zarray");
  EXPECT_EQ(document.find("filters")->dump(), R"([{"id":"shuffle","elementsize":8}])");
  EXPECT_EQ(document.find("compressor")->dump(), R"({"id":"zlib","level":1})");
}

// D10: of netcdf-c's own data, in the words of 4.9.1 and of 4.10.1. The size is that of an element.
TEST(DefectsOfNetcdfC, ShuffleOfElementSizeZeroIsUndone) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "x", 4).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}, .deflate_level = 5, .shuffle = true}).value();
  const std::vector<std::int32_t> values{1, -2, 70000, 0x12345678};
  writer.write("v", {{0}, {4}}, values).value();
  writer.sync().value();
  store->erase(".zmetadata").value();
  for (const char* const filters :
       {R"([{"id": "shuffle", "elementsize": "0"}])", R"([{"id": "shuffle", "elementsize": 0}])"}) {
    Json document = json_at(*store, "v/.zarray");
    document.set("filters", Json::parse(filters).value());
    document.set("compressor", Json::parse(R"({"id": "zlib", "level": "5"})").value());
    store->set("v/.zarray", document.dump()).value();
    const Dataset dataset = Dataset::open(store).value();
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    const Variable variable = *dataset.root().variable("v");
    EXPECT_TRUE(variable.storage().shuffle);
    EXPECT_EQ(variable.storage().deflate_level, 5);
    EXPECT_EQ(variable.read().value(), Values(values)) << filters;
  }
}

// D11: netcdf-c would read the escape of NUL as letters.
TEST(DefectsOfNetcdfC, ATextThatIsOneNulIsStoredAsAnEmptyText) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.set_attribute("/", {"empty", std::string(1, '\0')}).value();
  writer.sync().value();
  EXPECT_EQ(*json_at(*store, ".zattrs").find("empty"), Json(""));
  EXPECT_EQ(*Dataset::open(store).value().root().attribute("empty"), Values(std::string()));
}

// D11
TEST(DefectsOfNetcdfC, EscapedCharactersAreDecoded) {
  const Dataset dataset = open_texts({kGroup, {".zattrs", R"({"t": "gr\u00f6\u00dfe \ud83c\udf0a"})"}}).value();
  EXPECT_EQ(*dataset.root().attribute("t"), Values("größe 🌊"));
}

// D5, D12
TEST(DefectsOfNetcdfC, EveryDocumentIsJsonWithAllDigits) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  writer.set_attribute("/", {"floats", std::vector<double>{0, 1, 0.12345678901234, std::nan(""), -kInfinity}}).value();
  for (const char* text : {"NaN", "Infinity", "[0.,0.]", "{", "\"", "\\u00"})
    writer.set_attribute("/", {std::string("text ") + text, std::string(text)}).value();
  writer
      .define_variable("/",
                       {.name = "v", .type = Type::float32, .attributes = {{"_FillValue", std::vector<float>{0.1F}}}})
      .value();
  writer.sync().value();
  for (const char* key : {".zgroup", ".zattrs", ".zmetadata", "v/.zarray", "v/.zattrs"})
    EXPECT_TRUE(Json::parse(store->get(key).value().value())) << key;
  const Dataset dataset = Dataset::open(store).value();
  const auto floats = std::get<std::vector<double>>(*dataset.root().attribute("floats"));
  EXPECT_EQ(floats[2], 0.12345678901234);
  EXPECT_TRUE(std::isnan(floats[3]));
  EXPECT_EQ(floats[4], -kInfinity);
  EXPECT_EQ(*dataset.root().attribute("text [0.,0.]"), Values("[0.,0.]"));
  EXPECT_EQ(*dataset.root().variable("v")->attribute("_FillValue"), Values(std::vector<float>{0.1F}));
}

// D13
TEST(DefectsOfNetcdfC, ListsOfDifferentAndOfNoValuesAreRead) {
  const Dataset dataset =
      open_texts({kGroup, {".zattrs", R"({"mixed": [1, 2.5], "words": [1, "a"], "none": [], "null": null})"}}).value();
  EXPECT_EQ(*dataset.root().attribute("mixed"), Values(std::vector<double>{1, 2.5}));
  EXPECT_EQ(*dataset.root().attribute("words"), Values(R"([1,"a"])"));
  EXPECT_EQ(*dataset.root().attribute("none"), Values(""));
  EXPECT_EQ(*dataset.root().attribute("null"), Values("null"));
}

// D16
TEST(DefectsOfNetcdfC, BloscStoresChunksThatDoNotBecomeSmaller) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "x", 4096).value();
  const Json blosc =
      Json::parse(R"({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle",
                                    "typesize": 4, "blocksize": 0}})")
          .value();
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}, .codecs = std::vector{Json("bytes"), blosc}}).value();
  std::mt19937 random(1);
  std::vector<std::int32_t> values(4096);
  for (std::int32_t& each : values) each = static_cast<std::int32_t>(random());
  writer.write("v", {{0}, {4096}}, values).value();
  writer.sync().value();
  EXPECT_EQ(Dataset::open(store).value().root().variable("v")->read().value(), Values(values));
}

// D17
TEST(DefectsOfNetcdfC, ThreadsReadOneDatasetEachWithAHandleOfItsOwn) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "x", 64).value();
  std::vector<std::int32_t> values(64);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}, .chunks = {4}, .deflate_level = 1}).value();
  writer.write("v", {{0}, {64}}, values).value();
  writer.sync().value();
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round)
        EXPECT_EQ(Dataset::open(store).value().root().variable("v")->read().value(), Values(values));
    });
}

// D19
TEST(DefectsOfNetcdfC, FewerNamesThanDimensionsAreIgnored) {
  const Dataset dataset =
      open_texts({kGroup, {"v/.zarray", zarray("[2, 3]", "<i4")}, {"v/.zattrs", R"({"_ARRAY_DIMENSIONS": ["x"]})"}})
          .value();
  EXPECT_EQ(dataset.root().variable("v")->shape(), (Shape{2, 3}));
}

}  // namespace defects_test
}  // namespace sherd::netcdf
