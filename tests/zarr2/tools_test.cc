// What is done with hierarchies of Zarr v2 as with any other: copies to and from the other formats, and checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/store/temp_dir.hpp"
#include "tests/zarr2/zarr2_testing.hpp"

namespace sherd::v2 {
namespace {

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

TEST(V2Tools, CopyIsLeftUndoneWhereV2CannotSayIt) {
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
  EXPECT_THAT(refusal({.dtype = DType::bfloat16}), HasSubstr("bfloat16"));
  EXPECT_THAT(refusal({.dtype = DType::uint8, .shards = {4, 4}}), HasSubstr("Zarr v2 has no shards"));
  EXPECT_THAT(refusal({.dtype = DType::uint8, .codecs = std::vector<Json>{"packbits"}}), HasSubstr("'packbits'"));
  EXPECT_THAT(refusal({.dtype = DType::uint8, .dimension_names = {{"y", std::nullopt}}}), HasSubstr("dimension_names"));
  CreateOptions rectilinear{.dtype = DType::uint8};
  rectilinear.chunk_grid =
      parsed(R"({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 3], [4]]}})");
  EXPECT_THAT(refusal(rectilinear), HasSubstr("regular grids only"));
}

TEST(V2Tools, CreationWithShardsIsRefusedWithWhatToDo) {
  CreateOptions options = new_array();
  options.shards = {4, 4};
  const auto refused = create_array(memory_store(), "a", options);
  EXPECT_EQ(code_of(refused), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().text(), HasSubstr("Zarr v2 has no shards"));
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

TEST(V2Tools, AMovedArrayBecomesVisibleAfterItsChunks) {
  TempDir directory;
  const auto store = file_store(directory.path()).value();
  store->set("new/.zarray", "x").value();
  store->set("new/.zattrs", "x").value();
  store->set("new/0.0", "x").value();
  store->set("new/1/0", "x").value();
  store->set("old/.zarray/x", "in the way").value();
  EXPECT_FALSE(store->move_prefix("new/", "old/").has_value());
  EXPECT_TRUE(store->get("old/0.0").value().has_value());
  EXPECT_TRUE(store->get("old/1/0").value().has_value());
  EXPECT_TRUE(store->get("old/.zattrs").value().has_value());
}

TEST(V2Tools, CheckTellsStraysAndDamage) {
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
                                                  "stray_object a/notes", "stray_object b/"));
}

}  // namespace
}  // namespace sherd::v2
