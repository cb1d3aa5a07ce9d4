// Tools on hierarchies of Zarr v2, as on any other: copies to and from the other formats, and checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "store/capabilities.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/zarr2/zarr2_testing.hpp"

namespace sherd::v2 {
namespace tools_test {

using testing::HasSubstr;

TEST(V2Tools, CopyToZarr3AndBackKeepsEveryByte) {
  const auto v2 = memory_store();
  CreateOptions options = new_array();
  options.codecs = std::vector<Json>{parsed(R"({"name": "transpose", "configuration": {"order": [1, 0]}})"),
                                     "bytes:big", "shuffle:4", "zstd:3"};
  options.attributes = parsed(R"({"unit": "m"})");
  options.dimension_names = {{"y", "x"}};
  write(create_array(v2, "g/a", options).value(), counted(35));
  const auto v3 = memory_store(), back = memory_store();
  const CopyReport up = copy(v2, v3, {.format = "zarr3"}).value();
  EXPECT_EQ(up.chunks_encoded, 0U);
  EXPECT_EQ(up.chunks_moved, 12U);
  const Array upgraded = open_array(v3, {.path = "g/a"}).value();
  EXPECT_EQ(upgraded.format(), "zarr3");
  EXPECT_EQ(upgraded.attributes().dump(), R"({"unit":"m"})");
  EXPECT_EQ(upgraded.metadata().find("dimension_names")->dump(), R"(["y","x"])");
  EXPECT_EQ(elements(upgraded), counted(35));
  const CopyReport down = copy(v3, back, {.format = "zarr2"}).value();
  EXPECT_EQ(down.chunks_encoded, 0U);
  EXPECT_EQ(tree_of(*back), tree_of(*v2));
}

TEST(V2Tools, CopyIntoShardsMovesTheChunksAsTheyAre) {
  for (const char* codec : {"blosc:lz4:5", "gzip:5", "zstd:3", "zlib:1", "lz4", "bz2"}) {
    const auto v2 = memory_store(), v3 = memory_store(), back = memory_store();
    CreateOptions options = new_array();
    options.codecs = std::vector<Json>{"bytes", codec};
    write(create_array(v2, "a", options).value(), counted(35));
    const CopyReport up = copy(v2, v3, {.shards = Shape{4, 4}, .format = "zarr3"}).value();
    EXPECT_EQ(up.chunks_encoded, 0U) << codec;
    EXPECT_EQ(up.chunks_moved, 12U) << codec;
    EXPECT_EQ(up.shards, 4U) << codec;
    EXPECT_EQ(elements(open_a(v3).value()), counted(35)) << codec;
    const auto refused = copy(v3, back, {.format = "zarr2"});
    ASSERT_EQ(code_of(refused), ErrorCode::unsupported) << codec;
    EXPECT_THAT(refused.error().text(), HasSubstr("--shards none"));
    EXPECT_TRUE(keys_of(*back).empty());
    const CopyReport down = copy(v3, back, {.shards = Shape{}, .format = "zarr2"}).value();
    EXPECT_EQ(down.chunks_encoded, 0U) << codec;
    EXPECT_EQ(tree_of(*back), tree_of(*v2)) << codec;
  }
}

TEST(V2Tools, ARoundTripThroughShardsKeepsEveryChunk) {
  for (const char* changes : {R"({"compressor": {"id": "lz4"}})", R"({"compressor": {"id": "bz2"}})",
                              R"({"compressor": {"id": "crc32"}})", R"({"filters": [{"id": "shuffle"}]})",
                              R"({"compressor": {"level": 3, "id": "zlib"}, "fill_value": null, "extra": 1.0})",
                              R"({"dtype": ">i4", "order": "F", "dimension_separator": null})"}) {
    const auto v2 = hierarchy(changed(changes)), v3 = memory_store(), back = memory_store();
    const Array array = open_a(v2, true).value();
    std::vector<std::byte> bytes(35 * array.dtype().size());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    const Shape shape{7, 5};
    const auto view = BasicAnyView<const std::byte>::dense(bytes.data(), array.dtype(), shape);
    array.write(Box{{0, 0}, shape}, view).value();
    EXPECT_GT(copy(v2, v3, {.auto_shards = true, .format = "zarr3"}).value().shards, 0U);
    copy(v3, back, {.shards = Shape{}, .format = "zarr2"}).value();
    EXPECT_TRUE(std::ranges::equal(open_a(back).value().fill_value(), array.fill_value())) << changes;
    EXPECT_EQ(text_at(*back, "a/0.0"), text_at(*v2, "a/0.0")) << changes;
    EXPECT_EQ(text_at(*back, "a/3.2"), text_at(*v2, "a/3.2")) << changes;
  }
}

TEST(V2Tools, CopyWithinTheFormatKeepsDocumentsToTheByte) {
  const auto store = hierarchy(changed(R"({"extra": 1.0, "dtype": "|S4", "fill_value": ""})"));
  store->set("a/.zattrs", R"({ "b": 1.0 })").value();
  const auto copied = memory_store();
  copy(store, copied).value();
  EXPECT_EQ(tree_of(*copied), tree_of(*store));
  const auto rechunked = memory_store();
  copy(store, rechunked, {.chunks = Shape{7, 5}}).value();
  const Json document = *open_a(rechunked).value().metadata().find(".zarray");
  EXPECT_EQ(document.find("dtype")->text(), "|S4");
  EXPECT_EQ(document.find("extra")->dump(), "1.0");
  EXPECT_EQ(document.find("chunks")->dump(), "[7,5]");
}

std::map<std::string, std::string> chunks_of(Store& store) {
  std::map<std::string, std::string> chunks = tree_of(store);
  std::erase_if(chunks, [](const auto& each) { return each.first.find(".z") != std::string::npos; });
  return chunks;
}

/// Without names of dimensions, which a copy may have from NCZarr's metadata or from the axes of an image.
std::map<std::string, std::string> attributes_of(Store& store) {
  std::map<std::string, std::string> all;
  for (const auto& [key, text] : tree_of(store)) {
    if (!key.ends_with(".zattrs")) continue;
    Json attributes = parsed(text);
    attributes.erase("_ARRAY_DIMENSIONS");
    all.emplace(key, attributes.dump());
  }
  return all;
}

TEST(V2Tools, ARoundTripThroughZarr3KeepsChunksAndAttributes) {
  const auto store = memory_store(), v3 = memory_store(), back = memory_store();
  store->set(".zgroup", R"({"_nczarr_superblock": {"version": "2.0.0"}, "zarr_format": 2})").value();
  store->set(".zattrs", R"({"title": "t", "number": 1.50})").value();
  const char* documents[] = {
      R"({"shape": [7, 5], "dtype": "|S4", "fill_value": null, "order": "F", "zarr_format": 2})",
      R"({"dimension_separator": "-", "fill_value": 1e0, "dtype": "<f8", "_nczarr_array": {"dimrefs": ["/y", "/x"]}})",
      R"({"dtype": ">i4", "filters": [{"id": "shuffle", "elementsize": "0"}], "compressor": {"id": "zlib", "level": "5"}})",
      R"({"dtype": [["a", "<i2", [2]], ["", "|V3"]], "fill_value": 0})",
      R"({"dtype": "|b1", "fill_value": 0, "filters": []})",
      R"({"dtype": "<U2", "fill_value": 0, "compressor": {"id": "zstd", "checksum": true}, "extra": null})",
      R"({"compressor": {"shuffle": -1, "id": "blosc"}, "filters": []})",
      R"({"compressor": {"id": "bz2"}, "fill_value": null})",
      R"({"dtype": ">f4", "fill_value": 1, "filters": [{"id": "astype", "decode_dtype": ">f4", "encode_dtype": "|i1"}]})"};
  int number = 0;
  for (const char* each : documents) {
    const std::string name = "g/a" + std::to_string(number++);
    store->set(name + "/.zarray", changed(each)).value();
    store->set(name + "/.zattrs", R"({"z": 1.0, "a": {"b": [1, null]}})").value();
    Array array = open_array(store, {.path = name, .writable = true}).value();
    const std::vector<std::byte> one(array.dtype().size(), std::byte{1});
    array.fill(Box{{0, 0}, {3, 5}}, one).value();
  }
  store->set("g/.zgroup", kGroup).value();
  store->set("g/.zattrs", "{}").value();
  const CopyReport report = copy(store, v3, {.format = "zarr3"}).value();
  EXPECT_EQ(report.chunks_encoded, 0U);
  const std::string lost = "' is not copied; the format zarr3 has no place for it";
  EXPECT_THAT(report.warnings, testing::UnorderedElementsAre("'.zgroup': the member '_nczarr_superblock" + lost,
                                                             "'g/a1/.zarray': the member '_nczarr_array" + lost,
                                                             "'g/a5/.zarray': the member 'extra" + lost));
  EXPECT_EQ(copy(v3, back, {.format = "zarr2"}).value().chunks_encoded, 0U);
  EXPECT_EQ(chunks_of(*back), chunks_of(*store));
  EXPECT_EQ(attributes_of(*back), attributes_of(*store));
  for (int i = 0; i < number; ++i) {
    const auto opened = open_array(v3, {.path = "g/a" + std::to_string(i)});
    EXPECT_EQ(opened.value().attributes().dump(), R"({"z":1.0,"a":{"b":[1,null]}})");
    const Array first = open_array(store, {.path = "g/a" + std::to_string(i)}).value();
    const Array last = open_array(back, {.path = "g/a" + std::to_string(i)}).value();
    EXPECT_EQ(first.dtype(), last.dtype());
    EXPECT_TRUE(std::ranges::equal(first.fill_value(), last.fill_value()));
  }
  EXPECT_TRUE(check(v3).value().ok());
}

TEST(V2Tools, ARoundTripThroughZarr3KeepsFillValuesInAttributes) {
  const std::pair<const char*, const char*> texts[] = {{"0", "0.0"},           {"1e+20", "1e+20"},
                                                       {"-9999", "-9999.0"},   {"1.50", "1.5"},
                                                       {"\"NaN\"", "\"NaN\""}, {"\"AAAAAAAA+H8=\"", "\"NaN\""},
                                                       {"[0, 1]", "[0,1]"}};
  for (const auto& [text, expected] : texts) {
    const auto store = hierarchy(changed(R"({"dtype": "<f4"})")), v3 = memory_store(), back = memory_store();
    store->set("a/.zattrs", R"({"a": 1, "_FillValue": )" + std::string(text) + R"(, "z": 1.0})").value();
    copy(store, v3, {.format = "zarr3"}).value();
    copy(v3, back, {.format = "zarr2"}).value();
    EXPECT_EQ(parsed(text_at(*back, "a/.zattrs")).dump(),
              R"({"a":1,"_FillValue":)" + std::string(expected) + R"(,"z":1.0})");
    open_a(v3, true).value().update_attributes(Json(Json::Object{{"_FillValue", "AAAAAAAAFEA="}})).value();
    copy(v3, back, {.overwrite = true, .format = "zarr2"}).value();
    EXPECT_EQ(parsed(text_at(*back, "a/.zattrs")).find("_FillValue")->dump(), "5.0");
  }
}

TEST(V2Tools, AMemberThatReadersMayIgnoreIsNotCopied) {
  const auto store = hierarchy(), v3 = memory_store(), back = memory_store();
  write(open_a(store, true).value(), std::vector<std::int32_t>(35, 5));
  copy(store, v3, {.format = "zarr3"}).value();
  const Json member =
      parsed(R"({"must_understand": false, "members": {"dtype": {"is": "<i4", "was": "<f4"}}, "order": [1]})");
  Json document = parsed(text_at(*v3, "a/zarr.json"));
  document.set("x_details", member);
  v3->set("a/zarr.json", document.dump()).value();
  EXPECT_TRUE(check(v3).value().ok());
  const CopyReport report = copy(v3, back, {.format = "zarr2"}).value();
  EXPECT_THAT(report.warnings, testing::ElementsAre(HasSubstr("the member 'x_details' is not copied")));
  EXPECT_EQ(chunks_of(*back), chunks_of(*store));
  EXPECT_EQ(elements(open_a(back).value()), std::vector<std::int32_t>(35, 5));
}

TEST(V2Tools, ASeparatorThatWasMissingIsWrittenByACopyBack) {
  const auto store = hierarchy(changed(R"({"dimension_separator": "-"})"));
  store->set("a/0/0", std::string(16, '\1')).value();
  const auto v3 = memory_store(), back = memory_store();
  copy(store, v3, {.format = "zarr3"}).value();
  copy(v3, back, {.format = "zarr2"}).value();
  const Json now = parsed(text_at(*back, "a/.zarray"));
  EXPECT_EQ(now.find("dimension_separator")->text(), "/");
  EXPECT_EQ(tree_of(*back).at("a/0/0"), tree_of(*store).at("a/0/0"));
}

TEST(V2Tools, ManyAttributesAreCopiedAndOfManyUnknownMembersAFewAreNamed) {
  constexpr int count = 200000;  // seconds if each were compared with all others
  const Json document = parsed(kArray);
  Json::Object members = document.members(), attributes{{"multiscales", parsed(R"([{"version": "0.4"}])")}};
  for (int i = 0; i < count; ++i) {
    members.emplace_back("m" + std::to_string(i), i);
    attributes.emplace_back("a" + std::to_string(i), i);
  }
  attributes.emplace_back("plate", parsed(R"({"version": "0.4"})"));
  const auto store = hierarchy(Json(members).dump()), v3 = memory_store(), back = memory_store();
  store->set("a/.zattrs", Json(attributes).dump()).value();
  store->set(".zattrs", Json(attributes).dump()).value();
  const auto warnings = copy(store, v3, {.format = "zarr3"}).value().warnings;
  ASSERT_EQ(warnings.size(), 9U);
  EXPECT_THAT(warnings.front(), HasSubstr("'a/.zarray': the member 'm0' is not copied"));
  EXPECT_EQ(warnings.back(), "'a/.zarray': 199992 more members are not copied");
  EXPECT_EQ(parsed(text_at(*v3, "zarr.json")).find("attributes")->members().front().first, "ome");
  copy(v3, back, {.format = "zarr2"}).value();
  EXPECT_TRUE(parsed(text_at(*back, "a/.zattrs")) == Json(attributes));
  EXPECT_EQ(parsed(text_at(*back, ".zattrs")).size(), attributes.size());
}

constexpr const char* kImage04 = R"({"first":1,"multiscales":[{"axes":[{"name":"y","type":"space"},)"
                                 R"({"name":"x","type":"space"}],"datasets":[{"path":"0","coordinateTransformations":)"
                                 R"([{"type":"scale","scale":[2,1]}]}],"custom":{"k":1.0},"version":"0.4"}],)"
                                 R"("omero":{"channels":[]},"last":2})";
constexpr const char* kImage05 =
    R"({"first":1,"ome":{"version":"0.5","multiscales":[{"axes":[{"name":"y","type":)"
    R"("space"},{"name":"x","type":"space"}],"datasets":[{"path":"0",)"
    R"("coordinateTransformations":[{"type":"scale","scale":[2,1]}]}],"custom":{"k":1.0}}],)"
    R"("omero":{"channels":[]}},"last":2})";

TEST(V2Tools, CopiesOfImagesHaveTheVersionOfOmeNgffOfTheirFormat) {
  const std::pair<std::string, std::string> groups[] = {
      {"image", kImage04},
      {"plate", R"({"plate":{"name":"p","wells":[],"version":"0.4"}})"},
      {"well", R"({"well":{"images":[],"version":"0.4"}})"},
      {"image/labels", R"({"labels":["cells"]})"},
      {"image/labels/cells", R"({"image-label":{"colors":[],"version":"0.4"}})"},
      {"other", R"({"labels":["not of an image"],"plate":"of food","multiscales":[]})"},
      {"older", R"({"multiscales":[{"version":"0.3"}]})"}};
  const auto v2 = memory_store(), v3 = memory_store(), back = memory_store();
  for (const auto& [path, attributes] : groups) create_group(v2, path, parsed(attributes), false, {}, "zarr2").value();
  create_array(v2, "image/0", new_array()).value();
  copy(v2, v3, {.format = "zarr3"}).value();
  const auto attributes = [&](const std::string& path) {
    return open_group(v3, {.path = path}).value().attributes().dump();
  };
  EXPECT_EQ(attributes("image"), kImage05);
  EXPECT_EQ(attributes("plate"), R"({"ome":{"version":"0.5","plate":{"name":"p","wells":[]}}})");
  EXPECT_EQ(attributes("image/labels"), R"({"ome":{"version":"0.5","labels":["cells"]}})");
  EXPECT_EQ(attributes("image/labels/cells"), R"({"ome":{"version":"0.5","image-label":{"colors":[]}}})");
  EXPECT_EQ(attributes("other"), groups[5].second);
  EXPECT_EQ(attributes("older"), groups[6].second);
  copy(v3, back, {.format = "zarr2"}).value();
  EXPECT_EQ(attributes_of(*back), attributes_of(*v2));
}

TEST(V2Tools, ACopyBackOfAnImageOfVersion05HasVersion04) {
  const auto store = hierarchy(), v3 = memory_store(), back = memory_store();
  store->set(".zattrs", kImage05).value();
  copy(store, v3, {.format = "zarr3"}).value();
  EXPECT_EQ(open_group(v3).value().attributes().dump(), parsed(kImage05).dump());
  copy(v3, back, {.format = "zarr2"}).value();
  EXPECT_EQ(parsed(text_at(*back, ".zattrs")), parsed(kImage04));
}

// Which the names of the axes replace in the copy to Zarr v3.
TEST(V2Tools, ARoundTripOfAnImageHasTheNamesOfItsAxes) {
  for (const char* names : {R"(["a","b"])", R"(["y"])", R"("yx")", R"([1,2])", R"(["y","x"])"}) {
    const auto store = hierarchy(), v3 = memory_store(), back = memory_store();
    Json image = parsed(kImage04);
    image.find("multiscales")->elements()[0].find("datasets")->elements()[0].set("path", "a");
    store->set(".zattrs", image.dump()).value();
    store->set("a/.zattrs", R"({"u": 1, "_ARRAY_DIMENSIONS": )" + std::string(names) + "}").value();
    copy(store, v3, {.format = "zarr3"}).value();
    EXPECT_EQ(open_a(v3).value().metadata().find("dimension_names")->dump(), R"(["y","x"])");
    copy(v3, back, {.format = "zarr2"}).value();
    EXPECT_EQ(parsed(text_at(*back, ".zattrs")), image);
    EXPECT_EQ(parsed(text_at(*back, "a/.zattrs")), parsed(R"({"u": 1, "_ARRAY_DIMENSIONS": ["y", "x"]})"));
  }
}

TEST(V2Tools, PyramidsAreImagesOfVersion04) {
  const auto store = memory_store(), to = memory_store();
  CreateOptions options = new_array({8, 8}, {4, 4});
  options.dimension_names = {{"y", "x"}};
  write(create_array(store, "", options).value(), counted(64));
  copy(store, to, {.pyramid = Pyramid{.levels = 1}}).value();
  const Json attributes = open_group(to).value().attributes();
  EXPECT_EQ(attributes.find("ome"), nullptr);
  EXPECT_EQ(attributes.find("multiscales")->elements()[0].find("version")->text(), "0.4");
  EXPECT_EQ(attributes.find("multiscales")->elements()[0].find("datasets")->size(), 2U);
  const auto again = memory_store();
  copy(to, again, {.format = "zarr3"}).value();
  EXPECT_EQ(open_group(again).value().attributes().find("ome")->find("version")->text(), "0.5");
}

TEST(V2Tools, CopyIsRefusedIfV2CannotExpressTheSource) {
  const auto refusal = [](CreateOptions options) {
    options.shape = {4, 4};
    if (!options.chunk_grid) options.chunks = {2, 2};
    const auto v3 = memory_store(), v2 = memory_store();
    create_array(v3, "a", options).value();
    const auto copied = copy(v3, v2, {.format = "zarr2"});
    EXPECT_EQ(code_of(copied), ErrorCode::unsupported);
    EXPECT_TRUE(keys_of(*v2).empty());
    return copied ? "" : copied.error().text();
  };
  EXPECT_THAT(refusal({.dtype = DType::float6_e2m3fn}), HasSubstr("float6_e2m3fn"));
  EXPECT_THAT(refusal({.dtype = DType::uint8, .shards = {4, 4}}), HasSubstr("Zarr v2 has no shards"));
  EXPECT_THAT(refusal({.dtype = DType::uint8, .codecs = std::vector<Json>{"packbits"}}), HasSubstr("'packbits'"));
  EXPECT_THAT(refusal({.dtype = DType::uint8, .dimension_names = {{"y", std::nullopt}}}), HasSubstr("dimension_names"));
  EXPECT_THAT(refusal({.dtype = DType::uint8, .codecs = std::vector<Json>{"bitround:3"}}),
              HasSubstr("'bitround' with float16, float32 and float64 only, not with uint8"));
  EXPECT_THAT(refusal({.dtype = DType::float16, .codecs = std::vector<Json>{"bitround:11"}}),
              HasSubstr("'bitround' with at most 10 bits for float16"));
  EXPECT_THAT(refusal({.dtype = DType::float32, .fill_value = Json("0x7fc00001")}),
              HasSubstr("fill_value: Zarr v2 has only one NaN"));
  EXPECT_THAT(refusal({.dtype = DType::complex64, .fill_value = parsed(R"([0, "0x7fc00001"])")}),
              HasSubstr("fill_value: Zarr v2 has only one NaN"));
  CreateOptions rectilinear{.dtype = DType::uint8};
  rectilinear.chunk_grid =
      parsed(R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 3], [4]]}})");
  EXPECT_THAT(refusal(rectilinear), HasSubstr("regular grids only"));
}

TEST(V2Tools, CreationWithShardsIsRefusedAndTheErrorSaysWhatToDo) {
  CreateOptions options = new_array();
  options.shards = {4, 4};
  const auto refused = create_array(memory_store(), "a", options);
  EXPECT_EQ(code_of(refused), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().text(), HasSubstr("Zarr v2 has no shards"));
}

TEST(V2Tools, ACopySaysWhatOfZarr3V2DoesNotKeep) {
  const auto v3 = memory_store();
  create_group(v3, "g").value();
  CreateOptions options{.shape = {4, 4}, .dtype = DType::int8};
  options.dimension_names = {{"a", "b"}};
  options.attributes = parsed(R"({"_ARRAY_DIMENSIONS": ["p", "q"], "x": 1})");
  create_array(v3, "g/lost", options).value();
  options.attributes = parsed(R"({"_ARRAY_DIMENSIONS": ["a", "b"], "x": 1})");
  create_array(v3, "g/same", options).value();
  for (const char* key : {"g/zarr.json", "g/same/zarr.json"}) {
    Json document = parsed(text_at(*v3, key));
    document.set("foo", parsed(R"({"must_understand": false, "v": 1})"));
    v3->set(key, document.dump()).value();
  }
  const auto warned = copy(v3, memory_store(), {.format = "zarr2"}).value().warnings;
  const std::string foo = ": the member 'foo' is not copied; the format zarr2 has no place for it";
  EXPECT_THAT(warned, testing::UnorderedElementsAre(
                          "'g/zarr.json'" + foo, "'g/same/zarr.json'" + foo,
                          "'g/lost/zarr.json': the attribute '_ARRAY_DIMENSIONS' is replaced by the names of the "
                          "dimensions, [\"a\",\"b\"]"));
  EXPECT_TRUE(copy(v3, memory_store()).value().warnings.empty());
}

TEST(V2Tools, CreationWithACodecOfAnotherTypeOfObjectsIsRefused) {
  const auto refusal = [](const DType& dtype, const char* codec) {
    CreateOptions options{.shape = {4}, .dtype = dtype, .format = "zarr2"};
    options.codecs = std::vector<Json>{codec};
    const auto made = create_array(memory_store(), "a", options);
    return made ? std::string() : made.error().text();
  };
  EXPECT_THAT(refusal(DType::string, "vlen-bytes"),
              HasSubstr("vlen-bytes: encodes elements of type bytes, not string"));
  EXPECT_THAT(refusal(DType::bytes, "vlen-utf8"), HasSubstr("vlen-utf8: encodes elements of type string, not bytes"));
  EXPECT_EQ(refusal(DType::bytes, "vlen-bytes"), "");
  EXPECT_THAT(refusal(DType::int8, "sharding_indexed"), HasSubstr("ask for shards"));
}

TEST(V2Tools, CopyBetweenTheDraftAndV2MovesTheChunks) {
  const auto draft = memory_store(), v2 = memory_store();
  CreateOptions options = new_array();
  options.codecs = std::vector<Json>{"blosc:lz4:5"};
  options.format = "draft2022";
  write(create_array(draft, "g/a", options).value(), counted(35));
  const CopyReport copied = copy(draft, v2, {.format = "zarr2"}).value();
  EXPECT_EQ(copied.chunks_encoded, 0U);
  EXPECT_EQ(elements(open_array(v2, {.path = "g/a"}).value()), counted(35));
}

TEST(V2Tools, ACopyOfAConsolidatedTreeIsConsolidated) {
  const auto store = memory_store(), copied = memory_store();
  write(create_array(store, "g/a", new_array()).value(), counted(35));
  open_group(store, {.writable = true}).value().consolidate().value();
  copy(store, copied).value();
  EXPECT_EQ(tree_of(*copied), tree_of(*store));
  copy(store, copied, {.chunks = Shape{7, 5}, .overwrite = true}).value();
  EXPECT_TRUE(check(copied, {.data = true}).value().faults.empty());
}

TEST(V2Tools, CopiesOfAConsolidatedTreeAreConsolidatedInEveryFormat) {
  const auto store = memory_store(), v3 = memory_store(), back = memory_store();
  write(create_array(store, "g/a", new_array()).value(), counted(35));
  create_group(store, "other").value();
  open_group(store, {.path = "g", .writable = true}).value().consolidate().value();
  open_group(store, {.writable = true}).value().consolidate().value();
  copy(store, v3, {.format = "zarr3"}).value();
  EXPECT_TRUE(check(v3).value().faults.empty());
  for (const char* document : {"zarr.json", "g/zarr.json"})
    EXPECT_NE(parsed(text_at(*v3, document)).find("consolidated_metadata"), nullptr) << document;
  EXPECT_EQ(parsed(text_at(*v3, "other/zarr.json")).find("consolidated_metadata"), nullptr);
  copy(v3, back, {.format = "zarr2"}).value();
  EXPECT_EQ(tree_of(*back), tree_of(*store));
}

TEST(V2Tools, AMovedArrayBecomesVisibleAfterItsChunks) {
  TempDir directory;
  const auto store = file_store(directory.path()).value();
  store->set("new/.zarray", "x").value();
  store->set("new/.zattrs", "x").value();
  store->set("new/0.0", "x").value();
  store->set("new/1/0", "x").value();
  store->set("old/.zarray/x", "in the way").value();
  EXPECT_FALSE(renaming(*store, "")->move_all("new/", "old/").has_value());
  EXPECT_TRUE(store->get("old/0.0").value().has_value());
  EXPECT_TRUE(store->get("old/1/0").value().has_value());
  EXPECT_TRUE(store->get("old/.zattrs").value().has_value());
}

TEST(V2Tools, CheckReportsForeignObjectsAndDamage) {
  const auto store = hierarchy();
  write(open_a(store, true).value(), counted(35));
  store->set("a/0.0", "short").value();
  store->set("a/9.9", "x").value();
  store->set("a/notes", "x").value();
  store->set("b/.zattrs", "{}").value();
  std::vector<std::string> told;
  const CheckReport report = check(store, {.data = true}).value();
  for (const Fault& fault : report.faults) told.push_back(fault.code + " " + fault.key);
  EXPECT_THAT(told, testing::UnorderedElementsAre(testing::EndsWith("a/0.0"), "chunk_outside a/9.9",
                                                  "foreign_object a/notes", "foreign_object b/"));
}

}  // namespace tools_test
}  // namespace sherd::v2
