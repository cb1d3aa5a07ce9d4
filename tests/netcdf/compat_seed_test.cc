// compat=seed: each decision of docs/spec/nczarr.md in which Sherd differs from the text of netcdf-c's documentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/netcdf_cdl.hpp"
#include "sherd/netcdf_writer.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace compat_seed_test {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr Mode kSeed{.compat_seed = true};

Json json_at(Store& store, const std::string& key) { return Json::parse(store.get(key).value().value()).value(); }

std::shared_ptr<Store> written(const Mode& mode, const std::function<void(Writer&)>& define) {
  auto store = memory_store();
  Writer writer = Writer::create(store, {.mode = mode, .consolidated = false}).value();
  writer.define_dimension("/", "x", 2).value();
  define(writer);
  writer.sync().value();
  return store;
}

TEST(CompatSeed, NamesAnonymousDimensionsByZdim) {
  const Texts texts{{".zgroup", R"({"zarr_format": 2})"}, {"v/.zarray", zarray("[5]", "<i4")}};
  const auto name = [&](const Mode& mode) {
    return open_texts(texts, mode).value().root().variable("v")->dimensions()[0].name;
  };
  EXPECT_EQ(name(kSeed), ".zdim_5");
  EXPECT_EQ(name({}), "_Anonymous_Dim_5");
}

TEST(CompatSeed, StoresTextThatIsJsonAsThatJson) {
  const auto stored = [](const Mode& mode) {
    const auto store = written(mode, [](Writer& writer) {
      writer.set_attribute("/", {"number", std::string("10")}).value();
      writer.set_attribute("/", {"spaced", std::string(R"({"a":1})")}).value();
      writer.set_attribute("/", {"word", std::string("plain")}).value();
    });
    const Json attributes = json_at(*store, ".zattrs");
    return attributes.find("number")->dump() + attributes.find("spaced")->dump() + attributes.find("word")->dump();
  };
  EXPECT_EQ(stored(kSeed), R"(10{"a":1}"plain")");
  EXPECT_EQ(stored({}), R"("10""{\"a\":1}""plain")");
  EXPECT_EQ(stored({.pure = true, .compat_seed = true}), R"(10{"a":1}"plain")");
}

TEST(CompatSeed, CutsLongStringsAtTheirBytes) {
  const auto write = [](const Mode& mode) {
    Result<void> done;
    const auto store = written(mode, [&](Writer& writer) {
      writer.define_variable("/", {.name = "s", .type = Type::string, .dimensions = {"x"}, .string_length = 4}).value();
      done = writer.write("s", {{0}, {2}}, std::vector<std::string>{"ab", "größe"});
    });
    return std::pair(done, store->get("s/0").value().value_or(""));
  };
  EXPECT_EQ(write(kSeed).second, std::string("ab\0\0gr\xc3\xb6", 8));
  EXPECT_EQ(write({}).first.error().code(), ErrorCode::invalid_argument);
}

TEST(CompatSeed, CutsLongStringsOfCdlWithoutAWarning) {
  const std::string text = R"(netcdf x { variables: string s ; s:_nczarr_maxstrlen = 3 ; data: s = "größe" ; })";
  const auto parse = [&](LongTexts how) { return Cdl::parse(text, {.long_texts = how}); };
  const auto stored = [&](LongTexts how) {
    const auto store = memory_store();
    Writer writer = Writer::create(store).value();
    parse(how).value().write(writer).value();
    return store->get("s/0").value().value_or("");
  };
  EXPECT_THAT(parse(LongTexts::refused).error().text(), HasSubstr("--truncate"));
  EXPECT_EQ(parse(LongTexts::refused).error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(parse(LongTexts::cut_bytes).value().warnings(), IsEmpty());
  EXPECT_EQ(stored(LongTexts::cut_bytes), "gr\xc3");
  EXPECT_EQ(parse(LongTexts::cut_characters).value().warnings().size(), 1U);
  EXPECT_EQ(stored(LongTexts::cut_characters).substr(0, 3), std::string("gr\0", 3));
}

TEST(CompatSeed, StoresContiguousVariablesOfCdlInOneChunk) {
  const std::string text = R"(netcdf x {
    dimensions: y = 3000 ; x = 4000 ; t = unlimited ;
    variables:
      double whole(y, x) ; whole:_Storage = "contiguous" ;
      double compact(x) ; compact:_Storage = "compact" ;
      double chosen(y, x) ; chosen:_Storage = "contiguous" ; chosen:_ChunkSizes = 30, 40 ;
      double chunked(y, x) ; chunked:_Storage = "chunked" ;
      double grows(t, x) ; grows:_Storage = "contiguous" ;
      double scalar ; scalar:_Storage = "contiguous" ;
  })";
  const auto chunks = [&](const Mode& mode, const std::string& format) {
    const auto store = memory_store();
    Writer writer = Writer::create(store, {.format = format, .mode = mode}).value();
    Cdl::parse(text).value().write(writer).value();
    std::vector<Shape> all;
    const Dataset dataset = Dataset::open(store).value();
    for (const Variable& each : dataset.root().variables()) all.push_back(each.storage().chunks);
    return all;
  };
  for (const std::string format : {"zarr2", "zarr3"}) {
    const auto usual = chunks({}, format), literal = chunks(kSeed, format);
    EXPECT_LT(usual[0][0], 3000U);
    EXPECT_THAT(literal,
                testing::ElementsAre(Shape{3000, 4000}, Shape{4000}, Shape{30, 40}, usual[3], usual[4], usual[5]));
  }
}

TEST(CompatSeed, WritesCharactersOfPureZarrAsBigEndianText) {
  const auto dtype = [](Mode mode) {
    mode.pure = true;
    const auto store = written(mode, [](Writer& writer) {
      writer.define_variable("/", {.name = "c", .type = Type::character, .dimensions = {"x"}}).value();
    });
    return json_at(*store, "c/.zarray").find("dtype")->text();
  };
  EXPECT_EQ(dtype(kSeed), ">S1");
  EXPECT_EQ(dtype({}), "|S1");
}

TEST(CompatSeed, WritesNamesOfDimensionsInTheRootOnly) {
  const auto names = [](const Mode& mode, const char* key) {
    const auto store = written(mode, [](Writer& writer) {
      writer.define_variable("/", {.name = "v", .dimensions = {"x"}}).value();
      writer.define_group("/g").value();
      writer.define_dimension("/g", "y", 3).value();
      writer.define_variable("/g", {.name = "outer", .dimensions = {"x"}}).value();
      writer.define_variable("/g", {.name = "inner", .dimensions = {"y"}}).value();
    });
    return json_at(*store, key).find("_ARRAY_DIMENSIONS") != nullptr;
  };
  EXPECT_TRUE(names(kSeed, "v/.zattrs"));
  EXPECT_FALSE(names(kSeed, "g/outer/.zattrs"));
  EXPECT_FALSE(names(kSeed, "g/inner/.zattrs"));
  EXPECT_TRUE(names({}, "g/outer/.zattrs"));
  EXPECT_TRUE(names({}, "g/inner/.zattrs"));
}

}  // namespace compat_seed_test
}  // namespace sherd::netcdf
