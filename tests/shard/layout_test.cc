// How metadata becomes a tree of chains and shards, and which sizes and shapes the tree allows.
#include "shard/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "api/registry.hpp"

namespace sherd {
namespace layout_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const Limits kLimits;
const std::string kBytes = R"({"name": "bytes", "configuration": {"endian": "little"}})";
const std::string kIndex = R"([{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"])";

std::string list(const std::string& codecs) { return "[" + codecs + "]"; }

std::string sharding(const std::string& chunk_shape, const std::string& inner = kBytes,
                     const std::string& index = kIndex) {
  return R"({"name": "sharding_indexed", "configuration": {"chunk_shape": )" + chunk_shape + R"(, "codecs": )" +
         list(inner) + R"(, "index_codecs": )" + index + "}}";
}

std::string transpose(const std::string& order) {
  return R"({"name": "transpose", "configuration": {"order": )" + order + "}}";
}

Result<ChunkLayout> build(const std::string& codecs, const Shape& shape, const DType& dtype = DType::uint16,
                          const Limits& limits = kLimits) {
  const auto specs = parse_codec_list(Json::parse(list(codecs)).value()).value();
  return ChunkLayout::build(specs, tables().codecs, {dtype, shape}, default_scalar(dtype), limits);
}

TEST(ChunkLayout, WithoutAShardHasOnlyAChain) {
  const auto layout = build(kBytes, {40, 60}).value();
  EXPECT_FALSE(layout.shard);
  EXPECT_FALSE(layout.opaque_shard());
  EXPECT_EQ(&layout.leaf(), &layout);
  EXPECT_EQ(layout.leaf_shape({40, 60}), (Shape{40, 60}));
}

TEST(ChunkLayout, OfAShardHasTheLayoutOfItsInnerChunks) {
  const auto layout = build(sharding("[20, 15]"), {40, 60}).value();
  ASSERT_TRUE(layout.shard);
  EXPECT_EQ(layout.shard->inner_shape, (Shape{20, 15}));
  EXPECT_EQ(layout.shard->grid({40, 60}), (Shape{2, 4}));
  EXPECT_EQ(&layout.leaf(), layout.shard->inner.get());
  EXPECT_EQ(layout.leaf_shape({40, 60}), (Shape{20, 15}));
  EXPECT_FALSE(layout.opaque_shard());
}

TEST(ChunkLayout, OfNestedShardsReachesTheInnermostChunks) {
  const auto layout = build(sharding("[20, 30]", sharding("[10, 15]", sharding("[5, 5]"))), {40, 60}).value();
  EXPECT_FALSE(layout.leaf().shard);
  EXPECT_EQ(layout.leaf_shape({40, 60}), (Shape{5, 5}));
}

TEST(ChunkLayout, HasShapesInTheStoredOrderOfTheTransposesAroundThem) {
  const auto layout = build(transpose("[1, 0]") + "," + sharding("[30, 10]"), {40, 60}).value();
  EXPECT_EQ(layout.shard->grid(layout.chain.stored_shape({40, 60})), (Shape{2, 4}));
  EXPECT_EQ(layout.leaf_shape({40, 60}), (Shape{10, 30})) << "in the order of the array";
  EXPECT_FALSE(layout.opaque_shard()) << "a leading transpose is only another order of strides";
}

TEST(ChunkLayout, IsReadableOnlyWholeWhereCodecsAreAroundTheShard) {
  EXPECT_TRUE(build(sharding("[20, 15]") + R"(,{"name": "gzip", "configuration": {"level": 1}})", {40, 60})
                  .value()
                  .opaque_shard());
}

TEST(ChunkLayout, HasItsIndexAtTheEndUnlessTheDocumentSaysStart) {
  EXPECT_EQ(build(sharding("[20]"), {40}).value().shard->slots()->location, IndexLocation::end);
  std::string codecs = sharding("[20]");
  codecs.insert(codecs.size() - 2, R"(, "index_location": "start")");
  EXPECT_EQ(build(codecs, {40}).value().shard->slots()->location, IndexLocation::start);
}

struct Refused {
  std::string codecs;
  const char* member;
  const char* reason;
};

TEST(ChunkLayout, NamesTheMemberThatIsWrong) {
  const Refused cases[] = {
      {sharding("[20]"), "chunk_shape", "has 1 dimensions, the shard 2"},
      {sharding("[20, 7]"), "chunk_shape", "does not divide the shard (40, 60) along dimension 1"},
      {sharding("[0, 60]"), "chunk_shape", "integers of at least 1"},
      {sharding("[20.5, 60]"), "chunk_shape", "integers of at least 1"},
      {sharding("20"), "chunk_shape", "list of integers"},
      {sharding("[20, 15]", sharding("[20, 10]")), "codecs[0].configuration.chunk_shape", "does not divide"},
      {sharding("[20, 15]", kBytes, list(kBytes + R"(,{"name": "gzip", "configuration": {"level": 1}})")),
       "index_codecs", ""},
      {sharding("[20, 15]", kBytes, list(sharding("[1, 1, 2]"))), "index_codecs", "cannot be sharding_indexed"},
  };
  for (const auto& [codecs, member, reason] : cases) {
    const auto layout = build(codecs, {40, 60});
    ASSERT_FALSE(layout) << codecs;
    EXPECT_THAT(layout.error().text(), HasSubstr(reason)) << codecs;
    EXPECT_THAT(layout.error().text(), HasSubstr(member)) << codecs;
  }
}

TEST(ChunkLayout, NestsNoDeeperThanTheLimit) {
  Limits limits;
  limits.shard_nesting = 2;
  EXPECT_TRUE(build(sharding("[20]", sharding("[10]")), {40}, DType::uint8, limits));
  const auto deeper = build(sharding("[20]", sharding("[10]", sharding("[5]"))), {40}, DType::uint8, limits);
  ASSERT_FALSE(deeper);
  EXPECT_EQ(deeper.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(deeper.error().text(), HasSubstr("shard_nesting"));
}

TEST(ChunkLayout, LimitsTheDecodedSizeOfChunksButNotOfShards) {
  Limits limits;
  limits.chunk_bytes = 1000;
  EXPECT_TRUE(build(kBytes, {500}, DType::uint16, limits));
  EXPECT_EQ(build(kBytes, {501}, DType::uint16, limits).error().code(), ErrorCode::unsupported);
  EXPECT_TRUE(build(sharding("[500]"), {5000}, DType::uint16, limits));
  EXPECT_FALSE(build(sharding("[501]"), {5010}, DType::uint16, limits));
  const std::string opaque = sharding("[500]") + R"(,{"name": "gzip", "configuration": {"level": 1}})";
  EXPECT_FALSE(build(opaque, {5000}, DType::uint16, limits)) << "such a shard is decoded whole";
}

TEST(ChunkLayout, AcceptsOtherShapesOfTheSameGridIfInnerChunksDivideThem) {
  const auto layout = build(sharding("[20, 15]"), {40, 60}).value();
  EXPECT_TRUE(layout.check_shape({20, 15}, kLimits));
  EXPECT_TRUE(layout.check_shape({60, 30}, kLimits));
  const auto refused = layout.check_shape({40, 20}, kLimits);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().text(), HasSubstr("dimension 1"));
}

TEST(ChunkLayout, RefusesEncodingsThatAreLargerThanAnyWriterMakes) {
  const auto layout = build(kBytes, {1000, 1000}).value();
  EXPECT_TRUE(layout.check_encoded_size({1000, 1000}, 0));
  EXPECT_TRUE(layout.check_encoded_size({1000, 1000}, 2'000'000));
  const auto larger = layout.check_encoded_size({1000, 1000}, 2'000'001);
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(larger.error().text(), HasSubstr("2000001 bytes"));
}

TEST(ChunkLayout, RefusesObjectsThatAreTooLargeToBeReadAtOnce) {
  Limits limits;
  limits.chunk_bytes = 3'000'000;
  limits.index_bytes = 1000;
  const auto chunk = build(kBytes, {1000, 1000}, DType::uint16, limits).value();
  EXPECT_TRUE(chunk.check_object_size({1000, 1000}, 2'000'000, limits));
  EXPECT_EQ(chunk.check_object_size({1000, 1000}, 2'000'001, limits).error().code(), ErrorCode::corrupt);
  EXPECT_EQ(chunk.check_object_size({1000, 1000}, 3'001'001, limits).error().code(), ErrorCode::unsupported);
  const auto shard = build(sharding("[500, 1000]"), {1000, 1000}, DType::uint16, limits).value();
  EXPECT_TRUE(shard.check_object_size({1000, 1000}, 2'900'000, limits)) << "a shard may have dead bytes";
}

// The layout of a 30 x 25 x 10 array whose shards are boxes of 2 x 2 x 1 chunks.
Result<ChunkLayout> build_ids(const IdSharding& ids, const Shape& shard) {
  const auto specs = parse_codec_list(Json::parse(list(kBytes)).value()).value();
  return ChunkLayout::build(ids, specs, tables().codecs, {DType::uint16, shard}, default_scalar(DType::uint16),
                            kLimits);
}

IdSharding some_ids() {
  return {.sharding = {.minishard_bits = 2, .shard_bits = 4}, .chunk_shape = {10, 10, 10}, .grid = {3, 3, 1}};
}

TEST(LayoutOfIds, FindsInnerChunksByIdAndNotBySlot) {
  const auto layout = build_ids(some_ids(), {20, 20, 10}).value();
  ASSERT_TRUE(layout.shard);
  EXPECT_EQ(layout.shard->slots(), nullptr);
  ASSERT_NE(layout.shard->ids(), nullptr);
  EXPECT_EQ(layout.leaf_shape({20, 20, 10}), (Shape{10, 10, 10}));
  EXPECT_FALSE(layout.opaque_shard());
}

TEST(LayoutOfIds, ClipsShardsAndInnerChunksWhereTheArrayEnds) {
  const auto layout = build_ids(some_ids(), {20, 20, 10}).value();
  EXPECT_EQ(layout.shard->grid({10, 5, 10}), (Shape{1, 1, 1}));
  EXPECT_EQ(layout.shard->grid({20, 15, 10}), (Shape{2, 2, 1}));
  EXPECT_EQ(layout.shard->inner_shape_at({1, 1, 0}, {20, 15, 10}), (Shape{10, 5, 10}));
}

TEST(LayoutOfIds, NumbersTheChunksOfAShardByTheirMortonCodes) {
  const auto layout = build_ids(some_ids(), {20, 20, 10}).value();
  EXPECT_THAT(layout.shard->all_ids({2, 2, 1}, 4, kLimits).value(), ElementsAre(4, 6, 5, 7));
  EXPECT_THAT(layout.shard->all_ids({1, 1, 1}, 12, kLimits).value(), ElementsAre(12));
}

TEST(LayoutOfIds, RefusesShardsOfMoreIdsThanTheLimit) {
  const auto layout = build_ids(some_ids(), {20, 20, 10}).value();
  Limits limits;
  limits.index_bytes = 24 * 100;
  EXPECT_THAT(layout.shard->all_ids({10, 10, 1}, 0, limits).value(), SizeIs(100));
  const auto more = layout.shard->all_ids({10, 10, 2}, 0, limits);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), ErrorCode::unsupported);
  EXPECT_THAT(more.error().text(), HasSubstr("index_bytes"));
}

TEST(LayoutOfIds, HasInnerChunksInTheOrderOfTheArrayWhereThatIsAnother) {
  IdSharding ids = some_ids();
  ids.order = {2, 1, 0};  // the array has z, y, x
  const auto layout = build_ids(ids, {10, 20, 20}).value();
  EXPECT_EQ(layout.chain.stored_shape({10, 20, 20}), (Shape{20, 20, 10}));
  EXPECT_EQ(layout.leaf_shape({10, 20, 20}), (Shape{10, 10, 10}));
}

}  // namespace layout_test
}  // namespace sherd
