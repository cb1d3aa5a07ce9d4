// The documents of the one form that is written, in both versions of Zarr.
#include "tests/netcdf/writer_testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sherd::netcdf::writer_testing {
namespace definitions_test {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Written, IsReadBackInBothVersionsOfZarr) {
  const std::string expected = written({}, false);
  EXPECT_THAT(expected, HasSubstr("\t:title = \"größe\" ;"));
  EXPECT_THAT(expected, HasSubstr(" letters =\n  \"abc\",\n  \"de\" ;"));
  EXPECT_THAT(expected, HasSubstr(" texts = \"one\", _, \"größe\" ;"));
  EXPECT_THAT(expected, HasSubstr("\t:about = 0.12345678901234 ;"));
  EXPECT_EQ(written({.format = "zarr3"}, false), expected);
}

TEST(Written, IsUnlimitedInBothVersionsOfZarr) {
  const std::string expected = written({}, true);
  EXPECT_THAT(expected, HasSubstr("\tt = UNLIMITED ; // (2 currently)"));
  EXPECT_EQ(written({.format = "zarr3"}, true), expected);
}

TEST(Written, HasTheDocumentsThatEveryReaderReads) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  writer.define_dimension("/", "x", 2).value();
  writer
      .define_variable("/", {.name = "v", .type = Type::int32, .dimensions = {"x"}, .attributes = {text("units", "m")}})
      .value();
  writer.define_variable("/", {.name = "s", .type = Type::character}).value();
  writer.sync().value();
  const auto json = [&](const char* key) { return Json::parse(store->get(key).value().value()).value(); };
  EXPECT_EQ(json(".zgroup").dump(), R"({"zarr_format":2,"_nczarr_superblock":{"version":"2.0.0"},)"
                                    R"("_nczarr_group":{"dims":{"x":2},"vars":["v","s"],"groups":[]}})");
  EXPECT_EQ(json("v/.zattrs").dump(),
            R"({"units":"m","_ARRAY_DIMENSIONS":["x"],"_nczarr_attr":{"types":{"units":">S1"}}})");
  EXPECT_EQ(json("s/.zattrs").dump(),
            R"({"_ARRAY_DIMENSIONS":["_scalar_"],"_nczarr_array":{"dimension_references":[],"scalar":1,)"
            R"("storage":"chunked"},"_nczarr_attr":{"types":{}}})");
  EXPECT_EQ(json("v/.zarray").find("_nczarr_array")->dump(), R"({"dimrefs":["/x"],"storage":"chunked"})");
  EXPECT_EQ(json("s/.zarray").find("_nczarr_array")->dump(), R"({"dimrefs":[],"storage":"scalar"})");
  EXPECT_EQ(json("s/.zarray").find("dtype")->text(), ">S1");
  EXPECT_EQ(json("s/.zarray").find("shape")->dump(), "[1]");
  EXPECT_EQ(json("v/.zarray").find("fill_value")->dump(), "-2147483647");
  EXPECT_EQ(json(".zattrs").find("_nczarr_group"), nullptr);
  EXPECT_NE(json(".zmetadata").find("metadata")->find("v/.zarray"), nullptr);
}

TEST(Written, InPureModeHasNoMetadataOfNczarr) {
  const auto store = memory_store();
  Writer writer = Writer::create(store, {.mode = {.pure = true}}).value();
  write_all(writer, true);
  store
      ->list("",
             [&](const std::string& key, std::uint64_t) {
               const bool document = key.find(".z") != key.npos;
               EXPECT_TRUE(!document || store->get(key).value()->find("nczarr") == std::string::npos) << key;
               return true;
             })
      .value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_EQ(dataset.generation(), Generation::pure);
  EXPECT_EQ(dataset.root().variable("int32")->dimensions()[0].full_name(), "/n");
  EXPECT_EQ(dataset.root().variable("g/packed")->dimensions()[0].full_name(), "/t");
}

TEST(Written, WithNoxarrayHasNoNamesOfDimensions) {
  const auto store = memory_store();
  Writer writer = Writer::create(store, {.mode = {.noxarray = true}}).value();
  write_all(writer, false);
  EXPECT_EQ(store->get("int32/.zattrs").value()->find("_ARRAY_DIMENSIONS"), std::string::npos);
  EXPECT_EQ(Dataset::open(store).value().root().variable("int32")->dimensions()[0].full_name(), "/n");
}

TEST(Zarr3, HasShardsAndNamesOfDimensions) {
  const auto store = memory_store();
  Writer writer = Writer::create(store, {.format = "zarr3"}).value();
  writer.define_dimension("/", "x", 8).value();
  writer.define_variable("/", {.name = "v", .type = Type::float32, .dimensions = {"x"}, .chunks = {2}, .shards = {8}})
      .value();
  writer.write("v", {{0}, {8}}, std::vector<float>(8, 1.5F)).value();
  writer.sync().value();
  const Variable variable = *Dataset::open(store).value().root().variable("v");
  EXPECT_EQ(variable.storage().shards, Shape{8});
  EXPECT_EQ(variable.array().dimension_names()[0], "x");
  EXPECT_EQ(variable.array().stored().value().objects, 1U);
}

TEST(Zarr3, HasFillValuesAsXarrayExpectsThem) {
  for (const bool pure : {false, true}) {
    const auto store = memory_store();
    Writer writer = Writer::create(store, {.format = "zarr3", .mode = {.pure = pure}}).value();
    const auto define = [&](const char* name, Type type, Values fill) {
      writer.define_variable("/", {.name = name, .type = type, .attributes = {{"_FillValue", std::move(fill)}}})
          .value();
    };
    define("f", Type::float32, std::vector<float>{-999.0F});
    define("d", Type::float64, std::vector<double>{0.1});
    define("c", Type::character, std::string("x"));
    define("i", Type::int16, std::vector<std::int16_t>{-9});
    writer.sync().value();
    const auto stored = [&](const std::string& name) {
      const Json document = Json::parse(store->get(name + "/zarr.json").value().value()).value();
      return document.find("attributes")->find("_FillValue")->dump();
    };
    EXPECT_EQ(stored("f") + stored("d") + stored("c") + stored("i"), R"("AAAAAAA4j8A=""mpmZmZmZuT8="120-9)");
    const Dataset dataset = Dataset::open(store).value();
    const auto fill = [&](const char* name) { return *dataset.root().variable(name)->attribute("_FillValue"); };
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    EXPECT_EQ(fill("f"), Values(std::vector<float>{-999.0F}));
    EXPECT_EQ(fill("d"), Values(std::vector<double>{0.1}));
    EXPECT_EQ(fill("c"), pure ? Values(std::vector<std::uint8_t>{120}) : Values("x"));
    EXPECT_EQ(fill("i"), Values(std::vector<std::int16_t>{-9}));
  }
}

TEST(Zarr3, HasTheFillValueOfAStringInItsArrayAndNotInAnAttribute) {
  for (const bool pure : {false, true}) {
    const auto store = memory_store();
    Writer writer = Writer::create(store, {.format = "zarr3", .mode = {.pure = pure}}).value();
    writer.define_dimension("/", "t", 2, true).value();
    writer
        .define_variable(
            "/",
            {.name = "s",
             .type = Type::string,
             .dimensions = {"t"},
             .attributes = {text("units", "1"), {"_FillValue", std::vector<std::string>{"none"}}, text("about", "x")}})
        .value();
    writer.write("s", {{1}, {1}}, std::vector<std::string>{"b"}).value();
    writer.write("s", {{3}, {1}}, std::vector<std::string>{"d"}).value();
    writer.sync().value();
    const Json document = Json::parse(store->get("s/zarr.json").value().value()).value();
    EXPECT_EQ(document.find("fill_value")->text(), "none");
    EXPECT_EQ(document.find("attributes")->find("_FillValue"), nullptr);
    const Dataset dataset = Dataset::open(store).value();
    EXPECT_THAT(dataset.warnings(), IsEmpty());
    const Variable variable = dataset.root().variable("s").value();
    EXPECT_EQ(*variable.attribute("_FillValue"), Values(std::vector<std::string>{"none"}));
    EXPECT_EQ(variable.attributes()[pure ? 0 : 1].name, "_FillValue");
    EXPECT_EQ(variable.attributes().size(), 3U);
    EXPECT_EQ(variable.read().value(), Values(std::vector<std::string>{"none", "b", "none", "d"}));
    if (pure) continue;  // nothing says that a dimension is unlimited
    Writer again = Writer::open(store).value();
    again.write("s", {{5}, {1}}, std::vector<std::string>{"f"}).value();
    again.set_attribute("s", text("about", "y")).value();
    again.sync().value();
    EXPECT_EQ(Dataset::open(store).value().root().variable("s")->read({{4}, {2}}).value(),
              Values(std::vector<std::string>{"none", "f"}));
    EXPECT_EQ(Dataset::open(store).value().root().variable("s")->attributes().size(), 3U);
  }
}

TEST(Definitions, ThatCannotBeStoredAreRefused) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  EXPECT_EQ(Writer::create(store).error().code(), ErrorCode::conflict);
  EXPECT_EQ(Writer::create(memory_store(), {.format = "precomputed"}).error().code(), ErrorCode::invalid_argument);
  writer.define_dimension("/", "x", 2).value();
  const auto code = [&](const NewVariable& variable) { return writer.define_variable("/", variable).error().code(); };
  EXPECT_EQ(code({.name = "a", .dimensions = {"y"}}), ErrorCode::not_found);
  EXPECT_EQ(code({.name = "a/b"}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.name = "a", .attributes = {{"_FillValue", std::vector<double>{1}}}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.name = "a", .attributes = {text("_nczarr_array", "x")}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({.name = "a", .dimensions = {"x"}, .shards = {2}}), ErrorCode::unsupported);
  EXPECT_EQ(code({.name = "a", .dimensions = {"x"}, .deflate_level = 10}), ErrorCode::invalid_argument);
  EXPECT_EQ(writer.define_dimension("/", "x", 3).error().code(), ErrorCode::conflict);
  EXPECT_EQ(writer.define_dimension("/", "a/b", 3).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(writer.define_group("/g/h").error().code(), ErrorCode::not_found);
  writer.define_variable("/", {.name = "v", .dimensions = {"x"}}).value();
  EXPECT_EQ(code({.name = "v"}), ErrorCode::conflict);
}

TEST(Strings, AreAsLongAsTheVariableAndElseTheRootSays) {
  const auto stored = [](const std::vector<Attribute>& root, const NewVariable& variable) {
    const auto store = memory_store();
    Writer writer = Writer::create(store, {.attributes = root}).value();
    writer.define_variable("/", variable).value();
    writer.sync().value();
    return Json::parse(store->get(variable.name + "/.zarray").value().value()).value().find("dtype")->text();
  };
  const auto length = [](const char* name, const Values& values) { return std::vector{Attribute{name, values}}; };
  const NewVariable plain{.name = "s", .type = Type::string};
  const auto four = length("_nczarr_default_maxstrlen", std::vector<std::int32_t>{4});
  NewVariable own = plain;
  own.attributes = length("_nczarr_maxstrlen", std::vector<std::int32_t>{6});
  EXPECT_EQ(stored({}, plain), "|S128");
  EXPECT_EQ(stored(four, plain), "|S4");
  EXPECT_EQ(stored(four, own), "|S6");
  own.string_length = 9;
  EXPECT_EQ(stored(four, own), "|S9");
  // netcdf-c heeds one int and nothing else.
  for (const Values& other : {Values("4"), Values(std::vector<double>{4}), Values(std::vector<std::int32_t>{0}),
                              Values(std::vector<std::int32_t>{-4}), Values(std::vector<std::int32_t>{4, 4})})
    EXPECT_EQ(stored(length("_nczarr_default_maxstrlen", other), plain), "|S128");
}

TEST(Strings, OfAnOpenedDatasetAreAsLongAsItsRootSays) {
  const auto store = memory_store();
  Writer::create(store, {.attributes = {{"_nczarr_default_maxstrlen", std::vector<std::int32_t>{4}}}})
      .value()
      .sync()
      .value();
  Writer writer = Writer::open(store).value();
  writer.define_variable("/", {.name = "s", .type = Type::string}).value();
  EXPECT_EQ(writer.write("s", {}, std::vector<std::string>{"12345"}).error().code(), ErrorCode::invalid_argument);
  writer.write("s", {}, std::vector<std::string>{"1234"}).value();
  writer.sync().value();
  EXPECT_EQ(Dataset::open(store).value().root().variable("s")->read().value(),
            Values(std::vector<std::string>{"1234"}));
}

TEST(Groups, AreNotNestedBeyondTheLimitOfReaders) {
  const auto store = memory_store();
  Writer writer = Writer::create(store).value();
  std::string path;
  for (int i = 0; i < 128; ++i) {
    path += "/g";
    writer.define_group(path).value();
  }
  EXPECT_EQ(writer.define_group(path + "/g").error().code(), ErrorCode::unsupported);
  writer.sync().value();
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_TRUE(dataset.root().group(path));
  EXPECT_THAT(dataset.warnings(), IsEmpty());
}

}  // namespace definitions_test
}  // namespace sherd::netcdf::writer_testing
