// copy(): the same elements in any layout, chunks moved where they can be, in bounded memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/copy/copy_testing.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace copy_test {

using namespace copy_testing;

struct Layout {
  const char* name;
  CreateOptions create;
};
std::vector<Layout> layouts() {
  CreateOptions opaque = nested();
  opaque.raw_codecs->push_back(json(R"({"name":"crc32c"})"));
  return {{"plain", {.chunks = {6, 4}}},
          {"sharded", {.chunks = {6, 4}, .shards = {12, 16}}},
          {"start", {.chunks = {6, 4}, .shards = {18, 8}, .index_location = IndexLocation::start}},
          {"nested", nested()},
          {"opaque", opaque},
          {"rectilinear",
           {.chunk_grid =
                json(R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[10,20,7],10]}})")}}};
}

struct Change {
  const char* name;
  CopyOptions options;
};
std::vector<Change> changes() {
  return {{"nothing", {}},
          {"chunks", {.chunks = Shape{5, 7}, .shards = Shape{}}},
          {"shards", {.chunks = Shape{6, 4}, .shards = Shape{24, 8}}},
          {"coarser", {.chunks = Shape{3, 2}, .shards = Shape{60, 60}}},
          {"codecs", {.codecs = std::vector<Json>{"gzip:3", "crc32c"}}},
          {"auto", {.chunks = Shape{6, 4}, .auto_shards = true}},
          {"location", {.index_location = IndexLocation::start}}};
}

TEST(Copy, ConvertsAnyLayoutToAnyOther) {
  for (const Layout& layout : layouts())
    for (Change change : changes())
      for (const ChunkOrder order : {ChunkOrder::morton, ChunkOrder::f, ChunkOrder::c}) {
        SCOPED_TRACE(std::string(layout.name) + " -> " + change.name);
        auto source = memory_store();
        auto destination = memory_store();
        const Array from = filled(source, "", layout.create);
        change.options.config.chunk_order = order;
        const auto report = copy(source, destination, change.options);
        ASSERT_TRUE(report) << report.error().text();
        const Array to = open_array(destination).value();
        EXPECT_EQ(elements(to), elements(from));
        EXPECT_EQ(to.fill_value()[0], std::byte{9});
        const auto checked = check(destination, {.data = true}).value();
        EXPECT_TRUE(checked.faults.empty()) << checked.to_json().dump(1);
        EXPECT_EQ(checked.dead_bytes, 0U);
        if (std::string_view(change.name) == "nothing") {
          EXPECT_EQ(tree_of(*destination), tree_of(*source));
        }
      }
}

TEST(Copy, AHierarchyIsCopiedWithItsDocumentsToTheByte) {
  auto source = memory_store();
  auto destination = memory_store();
  create_group(source, "", json(R"({"a":1})")).value();
  filled(source, "x/y", {.chunks = {6, 4}, .shards = {12, 8}, .attributes = json(R"({"u":"m"})")});
  filled(source, "z", {.chunks = {6, 4}});
  std::string text = source->get("z/zarr.json").value().value();
  text.insert(text.rfind('}'), R"(,  "later": {"must_understand": false, "n": 1.50})");
  source->set("z/zarr.json", text).value();
  source->set("foreign", std::string_view("x")).value();
  const CopyReport report = copy(source, destination).value();
  EXPECT_EQ(report.arrays, 2U);
  EXPECT_EQ(report.groups, 2U);
  Tree expected = tree_of(*source);
  expected.erase("foreign");
  EXPECT_EQ(tree_of(*destination), expected);
}

TEST(Copy, AChangedLayoutKeepsUnknownMembersAndUpdatesConsolidatedMetadata) {
  auto source = memory_store();
  auto destination = memory_store();
  filled(source, "z", {.chunks = {6, 4}});
  std::string text = source->get("z/zarr.json").value().value();
  text.insert(text.rfind('}'), R"(,  "later": {"must_understand": false, "n": 1.50})");
  source->set("z/zarr.json", text).value();
  create_array(source, "one", {.shape = {5}, .dtype = DType::uint8, .chunks = {2}}).value();
  open_group(source, {.writable = true}).value().consolidate().value();
  copy(source, destination, {.shards = Shape{12, 8}}).value();
  EXPECT_EQ(open_array(destination, {.path = "z"}).value().shards(), (Shape{12, 8}));
  EXPECT_FALSE(open_array(destination, {.path = "one"}).value().shards()) << "it has another rank";
  EXPECT_THAT(destination->get("z/zarr.json").value().value(), ::testing::HasSubstr("1.50"));
  EXPECT_TRUE(check(destination).value().faults.empty());
  const auto wrong = copy(source, memory_store(), {.chunks = Shape{1, 2, 3}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code(), ErrorCode::invalid_argument);
}

TEST(Copy, ConsolidatedMetadataDescribesWhatWasCopied) {
  auto source = memory_store();
  for (const char* path : {"g/same", "g/changed", "g/gone"}) filled(source, path, {.chunks = {6, 4}});
  for (const char* path : {"g", ""}) open_group(source, {.path = path, .writable = true}).value().consolidate().value();
  auto exact = memory_store();
  copy(source, exact).value();
  EXPECT_EQ(tree_of(*exact), tree_of(*source)) << "what is true stays to the byte";
  // Another program's changes, which leave the copies of documents behind.
  std::string text = source->get("g/changed/zarr.json").value().value();
  source->set("g/made/zarr.json", text).value();
  source->set("g/changed/zarr.json", text.insert(text.rfind("\"zarr_format\""), R"("dimension_names": ["y", "x"], )"))
      .value();
  source->erase_prefix("g/gone/").value();
  EXPECT_EQ(check(source).value().faults.size(), 6U);
  auto destination = memory_store();
  const auto incomplete = copy(source, destination);
  ASSERT_FALSE(incomplete);
  EXPECT_THAT(incomplete.error().message(), ::testing::HasSubstr("without /g/gone: is in the consolidated metadata"));
  copy(source, destination, {.skip_damaged = true}).value();
  EXPECT_THAT(check(destination).value().faults, ::testing::IsEmpty());
  copy(source, destination, {.overwrite = true, .source_path = "g", .skip_damaged = true}).value();
  EXPECT_THAT(check(destination).value().faults, ::testing::IsEmpty());
}

TEST(Copy, OneChunkOfAHugeArrayIsCopiedWithoutLookingForTheOthers) {
  auto source = memory_store();
  CreateOptions layout{
      .shape = {25000, 18000, 6000}, .dtype = DType::uint16, .chunks = {64, 64, 64}, .shards = {2048, 2048, 2048}};
  const std::uint16_t value = 5;
  const Box corner{{24999, 17999, 5999}, {1, 1, 1}};
  create_array(source, "", layout).value().fill(corner, std::as_bytes(std::span(&value, 1))).value();
  for (const CopyOptions& options :
       {CopyOptions{}, CopyOptions{.shards = Shape{1024, 1024, 1024}}, CopyOptions{.chunks = Shape{32, 32, 128}},
        CopyOptions{.shards = Shape{}}, CopyOptions{.codecs = std::vector<Json>{"gzip:1"}}}) {
    auto destination = memory_store();
    auto recorder = std::make_shared<Recorder>();
    CopyOptions recorded = options;
    recorded.config.recorder = recorder;
    const CopyReport report = copy(source, destination, recorded).value();
    EXPECT_EQ(report.shards, 1U);
    EXPECT_EQ(report.chunks_moved + report.chunks_encoded, 1U);
    EXPECT_LT(recorder->stats().requests, 60U);
    std::uint16_t read = 0;
    open_array(destination).value().read(corner, std::span(&read, 1)).value();
    EXPECT_EQ(read, 5);
  }
}

#if SHERD_MEASURES_MEMORY
TEST(Copy, OfAShardOfEightTimesTheBudgetStaysWithinTheBudget) {
  const TempDir folder;
  const Shape shape{512, 512, 256};  // 128 MiB
  make_sharded(folder / "a", shape, {64, 64, 64});
  EXPECT_LE(growth_of_copy(folder / "a", folder / "b", {.chunks = Shape{32, 64, 64}, .shards = shape}, 512), 16U);
  EXPECT_TRUE(check(folder / "b").value().faults.empty());
}

TEST(Copy, OfLongStringsStaysWithinTheBudget) {
  const TempDir folder;
  constexpr std::uint64_t count = 96, shard = 24;
  const std::string text(std::size_t{1} << 20, 'x');
  {
    const std::vector<VarBytes> values(shard, VarBytes{text.data(), text.size()});
    for (const bool compressed : {false, true}) {
      const auto codecs = compressed ? std::vector<Json>{"zstd:1"} : std::vector<Json>{};
      const Array array =
          create_array(folder / (compressed ? "short" : "long"),
                       {.shape = {count}, .dtype = DType::string, .chunks = {1}, .shards = {shard}, .codecs = codecs})
              .value();
      for (std::uint64_t i = 0; i < count; i += shard)
        array.write(Box{{i}, {shard}}, std::span<const VarBytes>(values)).value();
    }
  }
  for (const char* source : {"long", "short"}) {
    for (const std::uint64_t chunk : {1, 4}) {
      const CopyOptions options{
          .chunks = Shape{chunk}, .shards = Shape{count}, .codecs = std::vector<Json>{"gzip:1"}, .overwrite = true};
      // Four strings are a chunk of 4 MiB, each step of its codecs holds one.
      EXPECT_LE(growth_of_copy(folder / source, folder / "b", options, count / chunk), 16 + 4 * chunk)
          << source << ' ' << chunk;
    }
  }
}
#endif

}  // namespace copy_test
}  // namespace sherd
