// One stored chunk or shard: each kind of damage has its own fault and location.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/check/check_testing.hpp"
#include "tests/store/test_store.hpp"

namespace sherd {
namespace object_test {

using namespace check_testing;

TEST(Check, AChunkLargerThanAnyEncodingIsChunkSize) {
  auto store =
      store_with({.shape = {8, 8}, .dtype = DType::uint16, .chunks = {4, 4}, .codecs = std::vector<Json>{"zstd:1"}});
  save(*store, "c/0/1", std::string(1 << 20, 'x'));
  for (const bool data : {false, true}) {
    const Fault fault = only(check(store, {.data = data}).value());
    EXPECT_EQ(fault.code, "chunk_size");
    EXPECT_EQ(fault.key, "c/0/1");
    EXPECT_THAT(fault.message, ::testing::HasSubstr("an encoded chunk"));
  }
}

TEST(Check, AnObjectThatCannotBeReadIsUnreadable) {
  auto store = std::make_shared<TestStore>(store_with(sharded()));
  store->fail_at("c/0/0", Op::read);
  const Fault fault = only(checked(store));
  EXPECT_EQ(fault.code, "unreadable");
  EXPECT_EQ(fault.key, "c/0/0");
}

TEST(Check, AShardSmallerThanItsIndexIsIndexSize) {
  auto store = store_with(sharded());
  for (const std::size_t size : {std::size_t{0}, Index::kBytes - 1}) {
    save(*store, "c/0/0", load(*store, "c/0/0").substr(0, size));
    const Fault fault = only(checked(store));
    EXPECT_EQ(fault.code, "index_size");
    EXPECT_EQ(fault.offset, 0U);
  }
}

TEST(Check, AFlippedBitInTheIndexIsIndexChecksum) {
  auto store = store_with(sharded());
  std::string shard = load(*store, "c/0/0");
  shard[shard.size() - 20] ^= 4;
  save(*store, "c/0/0", shard);
  const Fault fault = only(checked(store));
  EXPECT_EQ(fault.code, "index_checksum");
  EXPECT_EQ(fault.offset, shard.size() - Index::kBytes);
}

struct Entry {
  const char* name;
  void (*change)(Index&, const std::string&);
  const char* code;
};
class CheckEntries : public ::testing::TestWithParam<Entry> {};

TEST_P(CheckEntries, AreReportedBySlot) {
  auto store = store_with(sharded());
  change_index(*store, GetParam().change);
  for (const bool data : {false, true}) {
    const Fault fault = only(checked(store, data));
    EXPECT_EQ(fault.code, GetParam().code);
    EXPECT_EQ(fault.slot, 2U);
    EXPECT_EQ(fault.key, "c/0/0");
    EXPECT_EQ(fault.severity, Fault::Severity::error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, CheckEntries,
    ::testing::Values(
        Entry{"OffsetMissing", [](Index& index, const std::string&) { index.offset(2) = kEmpty; }, "entry_half_empty"},
        Entry{"LengthMissing", [](Index& index, const std::string&) { index.length(2) = kEmpty; }, "entry_half_empty"},
        Entry{"Wraps", [](Index& index, const std::string&) { index.offset(2) = kEmpty - 1; }, "extent_overflow"},
        Entry{"BeyondTheEnd", [](Index& index, const std::string& shard) { index.offset(2) = shard.size() - 1; },
              "extent_out_of_bounds"},
        Entry{"IntoTheIndex",
              [](Index& index, const std::string& shard) {
                index.offset(2) = shard.size() - 10;
                index.length(2) = 4;
              },
              "extent_in_index"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(Check, SharedRangesAreFineAndPartialOverlapsCauseAWarning) {
  auto store = store_with(sharded());
  change_index(*store, [](Index& index, const std::string&) {
    index.offset(3) = index.offset(2);
    index.length(3) = index.length(2);
  });
  auto report = checked(store, true);
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.chunks, 4U);
  EXPECT_GT(report.dead_bytes, 0U);
  change_index(*store, [](Index& index, const std::string&) { index.offset(3) = index.offset(2) + 1; });
  const Fault fault = only(checked(store));
  EXPECT_EQ(fault.code, "extent_overlap");
  EXPECT_EQ(fault.slot, 3U);
  EXPECT_EQ(fault.severity, Fault::Severity::warning);
}

TEST(Check, ARawChunkOfAnotherLengthIsChunkSize) {
  auto store = store_with(sharded({Json("bytes")}));
  change_index(*store, [](Index& index, const std::string&) { index.length(1) -= 2; });
  const Fault fault = only(checked(store));
  EXPECT_EQ(fault.code, "chunk_size");
  EXPECT_EQ(fault.slot, 1U);
  CreateOptions plain{.shape = {4}, .dtype = DType::uint16, .chunks = {4}, .codecs = std::vector<Json>{"bytes"}};
  store = store_with(plain);
  save(*store, "c/0", "1234567");
  EXPECT_EQ(only(checked(store)).code, "chunk_size");
}

TEST(Check, OneFlippedBitIsNamedBySlotAndOffset) {
  for (const std::vector<Json>& codecs : {std::vector<Json>{"bytes", "crc32c"}, std::vector<Json>{"gzip:1"}}) {
    auto store = store_with(sharded(codecs));
    std::string shard = load(*store, "c/0/0");
    Index index(shard);
    shard[index.offset(2) + index.length(2) / 2] ^= 16;
    save(*store, "c/0/0", shard);
    EXPECT_TRUE(checked(store).ok()) << "without data nothing is decoded";
    const Fault fault = only(checked(store, true));
    EXPECT_EQ(fault.code, "chunk_decode");
    EXPECT_EQ(fault.key, "c/0/0");
    EXPECT_EQ(fault.slot, 2U);
    EXPECT_EQ(fault.offset, index.offset(2));
  }
}

TEST(Check, ADamagedUnshardedChunkHasNoSlot) {
  auto store = store_with({.shape = {8}, .dtype = DType::uint16, .chunks = {4}, .codecs = std::vector<Json>{"gzip:1"}});
  std::string chunk = load(*store, "c/1");
  chunk[12] ^= 1;
  save(*store, "c/1", chunk);
  const Fault fault = only(checked(store, true));
  EXPECT_EQ(fault.code, "chunk_decode");
  EXPECT_EQ(fault.key, "c/1");
  EXPECT_FALSE(fault.slot);
}

TEST(Check, ObjectsThatAreNotTextsAreNoDamage) {
  const auto store = memory_store();
  save(*store, ".zarray", R"({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|O", "fill_value": null,
    "order": "C", "compressor": null, "filters": [{"id": "json2"}]})");
  save(*store, "0", R"([{"a": 1}, 3, "|O", [2]])");
  const CheckReport report = checked(store, true);
  EXPECT_TRUE(report.ok());
  const Fault fault = only(report);
  EXPECT_EQ(fault.code, "chunk_unsupported");
  EXPECT_EQ(fault.severity, Fault::Severity::warning);
  save(*store, "0", R"(["a", "b", "|O", [3]])");
  EXPECT_EQ(only(checked(store, true)).code, "chunk_decode");
}

/// An array of 8 x 8 uint16 in one chunk with these codecs.
std::shared_ptr<Store> with_one_shard(const Json& codecs) {
  return store_with({.shape = {8, 8},
                     .dtype = DType::uint16,
                     .raw_codecs = codecs,
                     .chunk_grid = Json::parse(R"({"name":"regular","configuration":{"chunk_shape":[8,8]}})").value()});
}

TEST(Check, ADamagedCompressedShardIsShardDecode) {
  const Json around = Json::parse(R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[4,4],
    "codecs":[{"name":"bytes","configuration":{"endian":"little"}}],
    "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}]}},{"name":"crc32c"}])")
                          .value();
  auto store = with_one_shard(around);
  EXPECT_EQ(checked(store, true).chunks, 4U);
  std::string shard = load(*store, "c/0/0");
  shard[3] ^= 1;
  save(*store, "c/0/0", shard);
  EXPECT_EQ(only(checked(store, true)).code, "shard_decode");
}

TEST(Check, AFaultInANestedShardNamesBothSlots) {
  const Json nested = Json::parse(R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[4,4],
    "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}],
    "codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[2,2],
      "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}],
      "codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}]}}]}}])")
                          .value();
  auto store = with_one_shard(nested);
  std::string shard = load(*store, "c/0/0");
  Index outer(shard);
  std::string inner = shard.substr(outer.offset(3), outer.length(3));
  const std::uint64_t offset = outer.offset(3) + Index(inner).offset(1);
  shard[offset] ^= 1;
  save(*store, "c/0/0", shard);
  const Fault fault = only(checked(store, true));
  EXPECT_EQ(fault.code, "chunk_decode");
  EXPECT_EQ(fault.slot, 1U);
  EXPECT_EQ(fault.offset, offset);
  EXPECT_THAT(fault.message, ::testing::HasSubstr("slot 3: "));
}

TEST(Check, AThousandFaultsOfOneKeyAreReportedAndTheRestCounted) {
  CreateOptions options{
      .shape = {2048}, .dtype = DType::uint16, .chunks = {1}, .shards = {2048}, .codecs = std::vector<Json>{"bytes"}};
  options.index_codecs = std::vector<Json>{"bytes"};
  auto store = store_with(options);
  std::string shard = load(*store, "c/0");
  std::memset(shard.data() + shard.size() - 2048 * 16, 0x7f, 2048 * 16);
  save(*store, "c/0", shard);
  const auto report = checked(store);
  ASSERT_EQ(report.faults.size(), 1001U);
  EXPECT_EQ(report.faults.back().code, "more_faults");
  EXPECT_THAT(report.faults.back().message, ::testing::StartsWith("1048 "));
}

TEST(Check, DeadBytesOfAShardAreCounted) {
  auto store = store_with(sharded({Json("bytes")}));
  change_index(*store, [](Index& index, const std::string&) { index.offset(1) = index.length(1) = kEmpty; });
  const auto report = checked(store);
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.dead_bytes, 32U);
  EXPECT_EQ(report.live_bytes + report.dead_bytes, load(*store, "c/0/0").size());
}

}  // namespace object_test
}  // namespace sherd
