// The layout of a copy, and which chunks are moved as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/location.hpp"
#include "array/array_state.hpp"
#include "copy/options.hpp"
#include "copy/planned_copy.hpp"
#include "sherd/sherd.hpp"
#include "tests/copy/copy_testing.hpp"

namespace sherd {
namespace layout_test {

using namespace copy_testing;

TEST(Copy, ChunksThatAgreeAreMovedAndNothingIsDecoded) {
  const CreateOptions plain{.chunks = {6, 4}};
  const CreateOptions small{.chunks = {6, 4}, .shards = {12, 8}};
  const CreateOptions large{.chunks = {6, 4}, .shards = {36, 16}, .index_location = IndexLocation::start};
  const auto options = [](const CreateOptions& to) {
    return CopyOptions{.chunks = to.chunks, .shards = to.shards, .index_location = to.index_location};
  };
  for (const auto& from : {plain, small, large})
    for (const auto& to : {plain, small, large}) {
      auto recorder = std::make_shared<Recorder>();
      auto source = memory_store();
      auto destination = memory_store();
      const Array array = filled(source, "", from);
      CopyOptions wanted = options(to);
      wanted.config.recorder = recorder;
      const CopyReport report = copy(source, destination, wanted).value();
      const std::uint64_t stored = array.nchunks_initialized().value();
      EXPECT_EQ(report.chunks_moved, stored);
      EXPECT_EQ(report.chunks_encoded, 0U);
      EXPECT_EQ(recorder->stats().chunks_decoded, 0U);
      EXPECT_EQ(recorder->stats().chunks_moved, stored);
      EXPECT_EQ(open_array(destination).value().nchunks_initialized().value(), stored);
      EXPECT_EQ(elements(open_array(destination).value()), elements(array));
    }
}

TEST(Copy, ChunksOfTransposedNestedShardsAreMoved) {
  auto source = memory_store();
  auto destination = memory_store();
  const Array from = filled(source, "", nested());
  ASSERT_EQ(from.chunks(), (Shape{6, 4}));
  const CopyReport report = copy(source, destination, {.shards = Shape{}}).value();
  EXPECT_EQ(report.chunks_encoded, 0U);
  EXPECT_EQ(report.chunks_moved, check(source).value().chunks);
  EXPECT_EQ(elements(open_array(destination).value()), elements(from));
}

TEST(Copy, OtherCodecsEncodeEveryStoredChunkOnce) {
  auto source = memory_store();
  auto destination = memory_store();
  const Array from = filled(source, "", {.chunks = {6, 4}, .shards = {12, 8}});
  const CopyReport report = copy(source, destination, {.codecs = std::vector<Json>{"zstd:7"}}).value();
  EXPECT_EQ(report.chunks_moved, 0U);
  EXPECT_EQ(report.chunks_encoded, from.nchunks_initialized().value());
  EXPECT_EQ(open_array(destination).value().shards(), (Shape{12, 8}));
}

class CopiedLayout : public ::testing::Test {
 protected:
  Result<ArraySpec> spec(CreateOptions source, const CopyOptions& options, const std::string& format = "zarr3") {
    const auto store = memory_store();
    const Array array = filled(store, "", std::move(source));
    return copied_spec(array.state(), new_location(memory_store(), "", format, options.config).value(), options,
                       nullptr);
  }
  static std::vector<std::string> names(const ArraySpec& spec) {
    std::vector<std::string> all;
    for (const CodecSpec& each : spec.codecs) all.push_back(each.name);
    return all;
  }
  static const Shape& chunks(const ArraySpec& spec) { return std::get<RegularGrid>(spec.grid).chunk_shape; }
};

TEST_F(CopiedLayout, IsThatOfTheSourceByDefault) {
  const CreateOptions source{.chunks = {6, 4}, .shards = {12, 8}, .index_location = IndexLocation::start};
  const ArraySpec copied = spec(source, {}).value();
  EXPECT_EQ(chunks(copied), (Shape{12, 8}));
  EXPECT_EQ(copied.codecs.front().configuration.find("index_location")->text(), "start");
  const ArraySpec wider = spec(source, {.shards = Shape{24, 8}}).value();
  EXPECT_EQ(chunks(wider), (Shape{24, 8}));
  EXPECT_EQ(wider.codecs.front().configuration.find("index_location")->text(), "start");
  const ArraySpec moved = spec(source, {.index_location = IndexLocation::end}).value();
  EXPECT_EQ(chunks(moved), (Shape{12, 8}));
  EXPECT_EQ(moved.codecs.front().configuration.find("index_location")->text(), "end");
}

TEST_F(CopiedLayout, PutsCodecsAroundShardsAroundEachChunk) {
  CreateOptions opaque = nested();
  opaque.raw_codecs->push_back(json(R"({"name":"crc32c"})"));
  const ArraySpec plain = spec(opaque, {.shards = Shape{}}).value();
  EXPECT_EQ(chunks(plain), (Shape{6, 4}));
  EXPECT_THAT(names(plain), ::testing::ElementsAre("transpose", "bytes", "gzip", "crc32c"));
}

TEST_F(CopiedLayout, OfUnequalChunksMustBeChosen) {
  const CreateOptions source{
      .chunk_grid = json(R"({"name":"rectilinear","configuration":{"kind":"inline","chunk_shapes":[[10,20,7],10]}})")};
  EXPECT_TRUE(spec(source, {}));
  EXPECT_EQ(spec(source, {.shards = Shape{20, 20}}).error().member(), "chunks");
  EXPECT_EQ(chunks(spec(source, {.chunks = Shape{5, 5}}).value()), (Shape{5, 5}));
}

TEST_F(CopiedLayout, HasNoOrderThatAFormatCannotExpress) {
  CreateOptions source{.shape = {4, 4, 4}, .chunks = {2, 2}};
  source.codecs = std::vector<Json>{json(R"({"name":"transpose","configuration":{"order":[0,1]}})"), "zstd"};
  EXPECT_THAT(names(spec(source, {}).value()), ::testing::Contains("transpose"));
  const ArraySpec order_c = in_c_order(spec(source, {}).value()).value().value();
  EXPECT_THAT(names(order_c), ::testing::ElementsAre("bytes", "zstd"));
  EXPECT_EQ(in_c_order(order_c).value(), std::nullopt);
}

}  // namespace layout_test
}  // namespace sherd
