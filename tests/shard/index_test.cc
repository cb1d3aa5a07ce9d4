// The index of a shard: words to extents and back, and what is wrong with a word.
#include "shard/index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/registry.hpp"
#include "base/endian.hpp"

namespace sherd {
namespace index_test {

using testing::HasSubstr;

const Limits kLimits;
constexpr std::uint64_t kMax = ~std::uint64_t{0};

CodecSpec codec(std::string name, const std::string& configuration) {
  return {.name = std::move(name), .configuration = Json::parse(configuration).value()};
}

Result<IndexFormat> format_of(const Shape& grid, std::vector<CodecSpec> codecs,
                              IndexLocation location = IndexLocation::end) {
  Shape shape = grid;
  shape.push_back(2);
  auto chain = CodecChain::build(codecs, tables().codecs, {DType::uint64, shape}, kLimits);
  if (!chain) return std::move(chain).error();
  return IndexFormat{*std::move(chain), location};
}

const CodecSpec kLittle = codec("bytes", R"({"endian": "little"})");
const CodecSpec kBig = codec("bytes", R"({"endian": "big"})");

TEST(ShardIndex, IsEmptyAtFirst) {
  const ShardIndex index(3);
  EXPECT_EQ(index.slots(), 3U);
  EXPECT_EQ(index.count(), 0U);
  EXPECT_TRUE(index.empty(2));
  EXPECT_EQ(index.extent(2).value(), std::nullopt);
  EXPECT_EQ(index.entry(2), ShardIndex::Entry::empty);
}

TEST(ShardIndex, ReturnsTheExtentsThatWereSetUntilTheyAreCleared) {
  ShardIndex index(2, 100);
  index.set(1, {90, 10});
  EXPECT_EQ(index.extent(1).value(), (Extent{90, 10})) << "to the last byte of the shard";
  EXPECT_EQ(index.count(), 1U);
  index.clear(1);
  EXPECT_TRUE(index.empty(1));
  EXPECT_EQ(index, ShardIndex(2, 100));
  EXPECT_NE(index, ShardIndex(2, 99));
}

TEST(ShardIndex, AChunkOfNoBytesIsStored) {
  ShardIndex index(1, 0);
  index.set(0, {0, 0});
  EXPECT_FALSE(index.empty(0));
  EXPECT_EQ(index.extent(0).value(), (Extent{0, 0}));
}

TEST(ShardIndex, ReportsWhatIsWrongWithAnEntryAndReadsTheOthers) {
  struct Wrong {
    Extent extent;
    ShardIndex::Entry entry;
    std::string message;
  };
  const std::vector<Wrong> entries = {
      {{kMax, 10}, ShardIndex::Entry::half_empty, "half-empty index entry: offset 18446744073709551615, nbytes 10"},
      {{10, kMax}, ShardIndex::Entry::half_empty, "half-empty index entry: offset 10, nbytes 18446744073709551615"},
      {{kMax - 1, 2}, ShardIndex::Entry::overflow, "reaches beyond the shard's 100 bytes"},
      {{91, 10}, ShardIndex::Entry::out_of_bounds, "(offset 91, nbytes 10) reaches beyond the shard's 100 bytes"},
      {{101, 0}, ShardIndex::Entry::out_of_bounds, "(offset 101, nbytes 0) reaches beyond the shard's 100 bytes"},
  };
  for (const Wrong& wrong : entries) {
    ShardIndex index(2, 100);
    index.set(0, {0, 100});
    index.set(1, wrong.extent);
    EXPECT_EQ(index.entry(1), wrong.entry) << wrong.message;
    const auto extent = index.extent(1);
    ASSERT_FALSE(extent) << wrong.message;
    EXPECT_EQ(extent.error().code(), ErrorCode::corrupt);
    EXPECT_EQ(extent.error().slot(), 1U);
    EXPECT_THAT(extent.error().message(), HasSubstr(wrong.message));
    EXPECT_TRUE(index.extent(0));
  }
}

TEST(ShardIndex, IsEncodedAsPairsOfWordsInCOrder) {
  const Shape grid = {2, 2};
  ShardIndex index(4);
  index.set(2, {0x10, 0x20});
  for (const auto& [spec, big] : {std::pair(kLittle, false), std::pair(kBig, true)}) {
    Buffer bytes;
    index.encode(format_of(grid, {spec}).value(), grid, bytes).value();
    ASSERT_EQ(bytes.size(), 64U);
    const std::size_t byte = big ? 7 : 0;
    EXPECT_EQ(bytes.data()[32 + byte], std::byte{0x10});
    EXPECT_EQ(bytes.data()[40 + byte], std::byte{0x20});
    EXPECT_EQ(load_little<std::uint64_t>(bytes.data()), kMax) << "missing chunks are the greatest words";
  }
}

TEST(ShardIndex, IsDecodedAsItWasEncodedThroughAnyCodecsOfAFixedSize) {
  const Shape grid = {2, 3};
  ShardIndex index(6, 1000);
  index.set(0, {7, 9});
  index.set(4, {100, 50});
  index.set(5, {16, 80});
  const std::vector<std::vector<CodecSpec>> chains = {
      {kLittle},
      {kBig, codec("crc32c", "{}")},
      {codec("transpose", R"({"order": [2, 1, 0]})"), kLittle, codec("crc32c", "{}")},
      {codec("transpose", R"({"order": [1, 0, 2]})"), kBig},
  };
  for (const auto& chain : chains) {
    const IndexFormat format = format_of(grid, chain).value();
    Buffer bytes;
    index.encode(format, grid, bytes).value();
    EXPECT_EQ(bytes.size(), format.encoded_size(grid, kLimits).value());
    EXPECT_EQ(ShardIndex::decode(format, grid, bytes.span(), 1000).value(), index) << chain.front().name;
  }
}

TEST(ShardIndex, IsRefusedWhereItsChecksumOrItsSizeIsWrong) {
  const Shape grid = {2};
  const IndexFormat format = format_of(grid, {kLittle, codec("crc32c", "{}")}).value();
  Buffer bytes;
  ShardIndex(2).encode(format, grid, bytes).value();
  EXPECT_EQ(ShardIndex::decode(format, grid, bytes.span().first(35), 36).error().code(), ErrorCode::corrupt);
  bytes.data()[3] ^= std::byte{1};
  const auto damaged = ShardIndex::decode(format, grid, bytes.span(), 36);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(damaged.error().message(), HasSubstr("crc32c"));
}

TEST(IndexFormat, RefusesIndicesThatAreTooLargeOrOfVariableSize) {
  const IndexFormat format = format_of({4}, {kLittle, codec("crc32c", "{}")}).value();
  EXPECT_EQ(format.encoded_size({4}, kLimits).value(), 68U);
  Limits small;
  small.index_bytes = 63;
  EXPECT_EQ(format.encoded_size({4}, small).error().code(), ErrorCode::unsupported);
  EXPECT_EQ(format.encoded_size({kMax / 2, 4}, kLimits).error().code(), ErrorCode::unsupported) << "no overflow";
  const IndexFormat compressed = format_of({4}, {kLittle, codec("gzip", R"({"level": 1})")}).value();
  EXPECT_EQ(compressed.encoded_size({4}, kLimits).error().code(), ErrorCode::invalid_argument);
}

TEST(SlotIndexCoding, PutsTheIndexAtTheBeginningOrAfterTheChunks) {
  for (const IndexLocation location : {IndexLocation::start, IndexLocation::end}) {
    const bool at_start = location == IndexLocation::start;
    const IndexFormat format = format_of({4}, {kLittle}, location).value();
    const SlotIndexCoding coding(format, {4}, kLimits);
    EXPECT_EQ(coding.slots(), 4U);
    EXPECT_EQ(coding.head_bytes().value(), at_start ? 64U : 0U);
    const auto parts = coding.encode(ShardIndex(4), 200).value();
    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].offset, at_start ? 0U : 200U);
    EXPECT_EQ(parts[0].bytes.size(), 64U);
  }
}

}  // namespace index_test
}  // namespace sherd
