// Changing existing datasets: they keep their form, and everything that was not changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sherd/group.hpp"
#include "sherd/netcdf_writer.hpp"
#include "tests/netcdf/netcdf_testing.hpp"

namespace sherd::netcdf {
namespace editing_test {

using testing::HasSubstr;
using testing::IsEmpty;

using Ints = std::vector<std::int32_t>;

Attribute text(const char* name, const char* value) { return {name, std::string(value)}; }

Json json_at(Store& store, const std::string& key) { return Json::parse(store.get(key).value().value()).value(); }

void write_first(const std::shared_ptr<Store>& store, const NewDataset& options, bool unlimited) {
  Writer writer = Writer::create(store, options).value();
  writer.set_attribute("/", text("title", "first")).value();
  writer.set_attribute("/", text("kept", "k")).value();
  writer.define_dimension("/", "t", 2, unlimited).value();
  writer.define_dimension("/", "x", 2).value();
  writer.define_variable("/", {.name = "v", .dimensions = {"t", "x"}, .attributes = {text("units", "m")}}).value();
  writer.write("v", {{0, 0}, {2, 2}}, Ints{1, 2, 3, 4}).value();
  writer.define_group("/g").value();
  writer.define_variable("/g", {.name = "s", .type = Type::string, .dimensions = {"t"}}).value();
  writer.write("/g/s", {{0}, {2}}, std::vector<std::string>{"a", "b"}).value();
  writer.define_variable("/g", {.name = "c", .type = Type::character}).value();
  writer.sync().value();
}

/// The second half of what is written.
void write_second(Writer& writer, bool unlimited) {
  writer.set_attribute("/", {"title", std::vector<double>{2.5}}).value();
  writer.set_attribute("v", text("long_name", "values")).value();
  writer.define_dimension("/g", "y", 3).value();
  writer.define_variable("/g", {.name = "new", .dimensions = {"y"}}).value();
  writer.write("/g/new", {{0}, {3}}, Ints{7, 8, 9}).value();
  writer.define_group("/g/h", {text("about", "h")}).value();
  writer.define_variable("/", {.name = "scalar", .type = Type::float64}).value();
  writer.write("scalar", {}, std::vector<double>{1.5}).value();
  if (unlimited) writer.write("v", {{2, 0}, {1, 2}}, Ints{5, 6}).value();
  writer.write("/g/s", {{1}, {1}}, std::vector<std::string>{"changed"}).value();
  writer.sync().value();
}

class Opened : public testing::TestWithParam<std::tuple<const char*, bool, bool>> {};

TEST_P(Opened, DatasetHasWhatWasWrittenBeforeAndAfter) {
  const auto [format, pure, unlimited] = GetParam();
  const NewDataset options{.format = format, .mode = {.pure = pure}};
  const auto store = memory_store();
  write_first(store, options, unlimited);
  Writer second = Writer::open(store).value();
  write_second(second, unlimited && !pure);
  const Dataset found = Dataset::open(store).value();
  EXPECT_THAT(found.warnings(), IsEmpty());
  const Group root = found.root();
  EXPECT_EQ(*root.attribute("title"), Values(std::vector<double>{2.5}));
  EXPECT_EQ(*root.attribute("kept"), Values("k"));
  EXPECT_EQ(*root.variable("v")->attribute("units"), Values("m"));
  EXPECT_EQ(*root.variable("v")->attribute("long_name"), Values("values"));
  EXPECT_EQ(root.variable("g/new")->read().value(), Values(Ints{7, 8, 9}));
  EXPECT_EQ(root.variable("scalar")->read().value(), Values(std::vector<double>{1.5}));
  EXPECT_TRUE(root.variable("scalar")->dimensions().empty());
  EXPECT_EQ(*root.group("g/h")->attribute("about"), Values("h"));
  const bool grown = unlimited && !pure;
  EXPECT_EQ(root.variable("v")->read().value(), Values(grown ? Ints{1, 2, 3, 4, 5, 6} : Ints{1, 2, 3, 4}));
  EXPECT_EQ(root.dimension("t")->length, grown ? 3U : 2U);
  EXPECT_EQ(root.dimension("t")->unlimited, grown);
  const auto strings = std::get<std::vector<std::string>>(root.variable("g/s")->read().value());
  EXPECT_EQ(strings.size(), grown ? 3U : 2U);
  EXPECT_EQ(strings[1], "changed");
}

INSTANTIATE_TEST_SUITE_P(Forms, Opened,
                         testing::Combine(testing::Values("zarr2", "zarr3"), testing::Bool(), testing::Bool()));

TEST(Edited, DocumentsKeepWhatIsNotKnown) {
  const auto store = memory_store();
  const auto set = [&](const char* key, const char* json) { store->set(key, json).value(); };
  set(".zgroup", R"({"zarr_format":2,"_nczarr_superblock":{"version":"2.0.0"},"more":[1],)"
                 R"("_nczarr_group":{"dims":{"x":2},"vars":["v"],"groups":[]}})");
  set(".zattrs", R"({"deep":{"a":[1,{}]},"_NCProperties":"version=2,netcdf=4.9.1,nczarr=2.0.0",)"
                 R"("_nczarr_attr":{"types":{"_NCProperties":">S1"}}})");
  set("v/.zarray", R"({"zarr_format":2,"shape":[2],"dtype":"<f4","chunks":[2],"fill_value":9.96921e+36,"order":"C",)"
                   R"("compressor":null,"filters":null,"_nczarr_array":{"dimrefs":["/x"],"storage":"contiguous"}})");
  const std::string array = *store->get("v/.zarray").value();
  Writer writer = Writer::open(store).value();
  writer.set_attribute("/", {"n", std::vector<std::int16_t>{1}}).value();
  writer.set_attribute("v", text("units", "m")).value();
  writer.define_variable("/", {.name = "w", .dimensions = {"x"}}).value();
  writer.write("v", {{0}, {1}}, std::vector<float>{1.5F}).value();
  writer.sync().value();
  EXPECT_EQ(json_at(*store, ".zgroup").dump(),
            R"({"zarr_format":2,"_nczarr_superblock":{"version":"2.0.0"},"more":[1],)"
            R"("_nczarr_group":{"dims":{"x":2},"vars":["v","w"],"groups":[]}})");
  EXPECT_EQ(json_at(*store, ".zattrs").dump(),
            R"({"deep":{"a":[1,{}]},"_NCProperties":"version=2,netcdf=4.9.1,nczarr=2.0.0",)"
            R"("_nczarr_attr":{"types":{"_NCProperties":">S1","n":"<i2"}},"n":1})");
  EXPECT_EQ(*store->get("v/.zarray").value(), array);
  EXPECT_EQ(json_at(*store, "v/.zattrs").find("_nczarr_attr")->dump(), R"({"types":{"units":">S1"}})");
  EXPECT_FALSE(store->get(".zmetadata").value());  // it was not consolidated
}

TEST(Edited, DocumentsKeepNumbersWithoutQuotes) {
  const std::string attributes = R"("missing":NaN,"range":[-Infinity,Infinity,"NaN"],"word":"NaN")";
  const auto edit = [](const std::shared_ptr<Store>& store) {
    Writer writer = Writer::open(store).value();
    writer.set_attribute("/", text("added", "a")).value();
    writer.set_attribute("v", text("added", "a")).value();
    writer.define_variable("/", {.name = "w", .dimensions = {"x"}}).value();
    writer.sync().value();
    const Dataset dataset = Dataset::open(store).value();
    for (const auto& values :
         {dataset.root().attribute("missing"), dataset.root().variable("v")->attribute("missing")}) {
      const auto* numbers = std::get_if<std::vector<double>>(values);
      EXPECT_TRUE(numbers != nullptr && std::isnan(numbers->at(0)));
    }
    EXPECT_EQ(*dataset.root().variable("v")->attribute("word"), Values("NaN"));
    EXPECT_EQ(dataset.root().variables().size(), 2U);
  };
  const auto shortened = [](std::string document) {
    std::erase_if(document, [](char c) { return c == ' ' || c == '\n'; });
    return document;
  };
  for (const bool noted : {false, true}) {
    const std::string types = noted ? R"(,"_nczarr_attr":{"types":{"word":">S1"}})" : "";
    const auto store = memory_store();
    store
        ->set(".zgroup", noted ? R"({"zarr_format":2,"_nczarr_superblock":{"version":"2.0.0"},)"
                                 R"("_nczarr_group":{"dims":{"x":2},"vars":["v"],"groups":[]}})"
                               : R"({"zarr_format":2})")
        .value();
    store->set("v/.zarray", zarray("[2]", "<i4", noted ? R"(,"_nczarr_array":{"dimrefs":["/x"]})" : "")).value();
    for (const char* key : {".zattrs", "v/.zattrs"})
      store->set(key, "{" + attributes + R"(,"_ARRAY_DIMENSIONS":["x"])" + types + "}").value();
    open_group(store, {.writable = true}).value().consolidate().value();
    edit(store);
    for (const char* key : {".zattrs", "v/.zattrs", ".zmetadata"})
      EXPECT_THAT(shortened(*store->get(key).value()), HasSubstr(attributes)) << key;
  }
  const auto store = memory_store();
  store->set("zarr.json", R"({"zarr_format":3,"node_type":"group","attributes":{)" + attributes + "}}").value();
  store
      ->set("v/zarr.json", R"({"zarr_format":3,"node_type":"array","shape":[2],"data_type":"int32",)"
                           R"("chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2]}},)"
                           R"("chunk_key_encoding":{"name":"default"},"codecs":[{"name":"bytes","configuration":)"
                           R"({"endian":"little"}}],"fill_value":0,"dimension_names":["x"],"attributes":{)" +
                               attributes + "}}")
      .value();
  edit(store);
  for (const char* key : {"zarr.json", "v/zarr.json"})
    EXPECT_THAT(shortened(*store->get(key).value()), HasSubstr(attributes)) << key;
}

TEST(Edited, TextWithAKeyTwiceIsKeptAsItIs) {
  const std::string twice = R"({"a":1,"a":2})";
  for (const char* format : {"zarr2", "zarr3"})
    for (const Mode mode : {Mode{}, Mode{.pure = true}, Mode{.compat_seed = true}}) {
      const auto store = memory_store();
      Writer writer = Writer::create(store, {.format = format, .mode = mode}).value();
      writer.set_attribute("/", text("json", twice.c_str())).value();
      writer.define_variable("/", {.name = "v", .attributes = {text("json", twice.c_str())}}).value();
      writer.sync().value();
      Writer again = Writer::open(store).value();
      again.set_attribute("/", text("added", "a")).value();
      again.set_attribute("v", text("added", "a")).value();
      again.sync().value();
      const Group root = Dataset::open(store).value().root();
      EXPECT_EQ(*root.attribute("json"), Values(twice));
      EXPECT_EQ(*root.variable("v")->attribute("json"), Values(twice));
    }
}

TEST(Edited, JsonWithAKeyTwiceIsAnError) {
  const auto store = memory_store();
  store->set(".zgroup", R"({"zarr_format":2})").value();
  store->set("v/.zarray", zarray("[2]", "<i4")).value();
  store->set("v/.zattrs", R"({"json":{"a":1,"a":2}})").value();
  EXPECT_THAT(Dataset::open(store).value().warnings(), testing::Contains(HasSubstr(R"(the key "a" appears twice)")));
  EXPECT_EQ(Writer::open(store).value().set_attribute("v", text("added", "a")).error().code(), ErrorCode::not_found);
  store->set(".zattrs", R"({"json":{"a":1,"a":2}})").value();
  EXPECT_EQ(Dataset::open(store).error().code(), ErrorCode::corrupt);
  EXPECT_EQ(Writer::open(store).error().code(), ErrorCode::corrupt);
}

TEST(Edited, DatasetOfTheNewestGenerationHasNotesInAttributesOnly) {
  const auto store = memory_store();
  const auto set = [&](const char* key, const char* json) { store->set(key, json).value(); };
  set(".zgroup", R"({"zarr_format":2})");
  set(".zattrs", R"({"_nczarr_superblock":{"version":"2.0.0"},"_nczarr_group":{"dimensions":{"t":{"size":1,)"
                 R"("unlimited":1}},"arrays":["v"],"groups":[]},"_nczarr_attr":{"types":{}}})");
  set("v/.zarray", R"({"zarr_format":2,"shape":[1],"dtype":"<i4","chunks":[1],"fill_value":0,"order":"C",)"
                   R"("compressor":null,"filters":null})");
  set("v/.zattrs", R"({"_nczarr_array":{"dimension_references":["/t"],"storage":"chunked"},)"
                   R"("_nczarr_attr":{"types":{}}})");
  Writer writer = Writer::open(store).value();
  writer.define_variable("/", {.name = "w", .dimensions = {"t"}}).value();
  writer.write("v", {{3}, {1}}, Ints{4}).value();
  writer.sync().value();
  EXPECT_EQ(json_at(*store, ".zgroup").dump(), R"({"zarr_format":2})");
  EXPECT_EQ(json_at(*store, ".zattrs").find("_nczarr_group")->dump(),
            R"({"dimensions":{"t":{"size":4,"unlimited":1}},"arrays":["v","w"],"groups":[]})");
  EXPECT_EQ(json_at(*store, "w/.zarray").find("_nczarr_array"), nullptr);
  const Dataset dataset = Dataset::open(store).value();
  EXPECT_THAT(dataset.warnings(), IsEmpty());
  EXPECT_EQ(dataset.generation(), Generation::v2c);
  EXPECT_EQ(dataset.root().variable("v")->read().value(), Values(Ints{0, 0, 0, 4}));
  EXPECT_EQ(dataset.root().variable("w")->shape(), Shape{4});
}

TEST(Edited, ConsolidatedMetadataAreRenewedAndNotTrusted) {
  for (const char* format : {"zarr2", "zarr3"}) {
    const auto store = memory_store();
    write_first(store, {.format = format}, true);
    Writer writer = Writer::open(store).value();
    writer.define_variable("/g", {.name = "late", .dimensions = {"t"}}).value();
    writer.sync().value();
    const Dataset dataset = Dataset::open(store).value();
    EXPECT_TRUE(dataset.root().variable("g/late")) << format;
    EXPECT_THAT(dataset.warnings(), IsEmpty());
  }
}

TEST(Edited, FirstUnlimitedDimensionIsNotedOnEveryNode) {
  const auto store = memory_store();
  write_first(store, {}, false);
  Writer writer = Writer::open(store).value();
  writer.define_dimension("/", "u", 0, true).value();
  writer.define_variable("/", {.name = "w", .dimensions = {"u"}}).value();
  writer.write("w", {{0}, {2}}, Ints{1, 2}).value();
  writer.sync().value();
  for (const char* key : {"v/.zattrs", "g/s/.zattrs", "w/.zattrs"})
    EXPECT_NE(json_at(*store, key).find("_nczarr_array"), nullptr) << key;
  EXPECT_NE(json_at(*store, "g/.zattrs").find("_nczarr_group"), nullptr);
  EXPECT_TRUE(Dataset::open(store).value().root().dimension("u")->unlimited);
}

TEST(Edited, DatasetsThatCannotKeepTheirFormAreRefused) {
  const auto store = memory_store();
  EXPECT_EQ(Writer::open(store).error().code(), ErrorCode::not_found);
  write_first(store, {}, false);
  EXPECT_EQ(Writer::open(store, {.mode = {.pure = true}}).error().code(), ErrorCode::invalid_argument);
  Writer writer = Writer::open(store).value();
  EXPECT_EQ(writer.define_variable("/", {.name = "v"}).error().code(), ErrorCode::conflict);
  EXPECT_EQ(writer.define_dimension("/", "x", 9).error().code(), ErrorCode::conflict);
  EXPECT_EQ(writer.write("v", {{2, 0}, {1, 2}}, Ints{1, 2}).error().code(), ErrorCode::invalid_argument);
  const auto early = memory_store();
  early->set(".zgroup", R"({"zarr_format":2,"_NCZARR_GROUP":{"dims":{},"vars":[],"groups":[]}})").value();
  EXPECT_EQ(Writer::open(early).error().code(), ErrorCode::unsupported);
}

TEST(Edited, ElementsOfOtherTypesAreNotWrittenAsThoseOfNetcdf) {
  const auto store = memory_store();
  create_group(store, "").value();
  create_array(store, "h", {.shape = {2}, .dtype = DType::float16}).value();
  create_array(store, "b", {.shape = {2}, .dtype = DType::bool_}).value();
  Writer writer = Writer::open(store).value();
  EXPECT_THAT(writer.write("h", {{0}, {1}}, std::vector<float>{1}).error().text(), HasSubstr("float16"));
  EXPECT_THAT(writer.write("b", {{0}, {1}}, std::vector<std::uint8_t>{5}).error().text(), HasSubstr("bool"));
}

TEST(Edited, BigEndianDataOfEarlyReleasesAreNotWritten) {
  const auto store = memory_store();
  store->set(".zgroup", R"({"zarr_format":2,"_nczarr_group":{"dims":{"x":1},"vars":["v"],"groups":[]}})").value();
  store->set(".zattrs", R"({"_NCProperties":"version=2,netcdf=4.9.1,nczarr=2.0.0"})").value();
  store
      ->set("v/.zarray", R"({"zarr_format":2,"shape":[1],"dtype":">i4","chunks":[1],"fill_value":0,"order":"C",)"
                         R"("compressor":null,"filters":null,"_nczarr_array":{"dimrefs":["/x"],"storage":"chunked"}})")
      .value();
  Writer writer = Writer::open(store).value();
  EXPECT_EQ(writer.write("v", {{0}, {1}}, Ints{1}).error().code(), ErrorCode::unsupported);
  const auto made = writer.define_variable("/", {.name = "w", .dimensions = {"x"}, .big_endian = true});
  EXPECT_EQ(made.error().code(), ErrorCode::unsupported);
}

}  // namespace editing_test
}  // namespace sherd::netcdf
