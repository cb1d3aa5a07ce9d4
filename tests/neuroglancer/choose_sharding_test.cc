// The rule of docs/chunking.md for the parameters of Neuroglancer's shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shard/uint64.hpp"
#include "sherd/sharded_build.hpp"

namespace sherd::neuroglancer {
namespace choose_sharding_test {

using testing::HasSubstr;

constexpr auto kMurmur = Uint64Sharding::Hash::murmurhash3_x86_128;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

Uint64Sharding chosen(const VolumeToShard& volume) {
  return Uint64Sharding::parse(choose_sharding(volume).value()).value();
}
Uint64Sharding chosen(const ValuesToShard& values) {
  return Uint64Sharding::parse(choose_sharding(values).value()).value();
}

Uint64Sharding identity(unsigned preshift, unsigned minishard, unsigned shard, bool gzip_data = true) {
  return {preshift, minishard, shard, Uint64Sharding::Hash::identity, true, gzip_data};
}
Uint64Sharding hashed(unsigned minishard, unsigned shard) { return {0, minishard, shard, kMurmur, true, true}; }

TEST(ChooseSharding, MatchesTheDocumentedExamples) {
  const Shape cube{512, 512, 512}, large{25000, 18000, 6000}, chunk{64, 64, 64};
  EXPECT_EQ(chosen({cube, chunk, DType::uint8}), identity(9, 0, 0));
  EXPECT_EQ(chosen({cube, chunk, DType::uint64, "compressed_segmentation"}), identity(9, 0, 0));
  EXPECT_EQ(chosen({large, chunk, DType::uint8}), identity(9, 0, 16));
  EXPECT_EQ(chosen({large, {128, 128, 16}, DType::uint8, "jpeg"}), identity(9, 2, 14, false));
  EXPECT_EQ(chosen({large, chunk, DType::uint64, "compressed_segmentation"}), identity(9, 1, 15));
}

TEST(ChooseSharding, CountsBitsOfTheCompressedMortonCode) {
  const auto bits = [](const Shape& grid) {
    const Uint64Sharding sharding = chosen({grid, {1, 1, 1}, DType::uint8});
    return sharding.preshift_bits + sharding.minishard_bits + sharding.shard_bits;
  };
  EXPECT_EQ(bits({3, 3, 3}), 6U);
  EXPECT_EQ(bits({8, 8, 2}), 7U) << "a power of two needs no further bit";
  EXPECT_EQ(bits({2, 1, 5}), 4U);
  EXPECT_EQ(bits({1, 1, 1}), 0U);
  EXPECT_EQ(bits({0, 4, 4}), 4U);
  EXPECT_EQ(bits({std::uint64_t{1} << 32, std::uint64_t{1} << 31, 2}), 64U);
  const auto refused =
      choose_sharding(VolumeToShard{{std::uint64_t{1} << 32, std::uint64_t{1} << 31, 3}, {1, 1, 1}, DType::uint8});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("65 bits"));
}

TEST(ChooseSharding, KeepsShardsWithinTheTarget) {
  const VolumeToShard volume{{4096, 4096, 4096, 3}, {64, 64, 64}, DType::uint16};  // 1.5 MiB a chunk, with its channels
  for (std::uint64_t target = 1; target < std::uint64_t{1} << 50; target = target * 3 + 1) {
    VolumeToShard wanted = volume;
    wanted.target_shard_bytes = target;
    const Uint64Sharding sharding = chosen(wanted);
    EXPECT_EQ(sharding.preshift_bits + sharding.minishard_bits + sharding.shard_bits, 18U);
    EXPECT_LE(sharding.minishard_bits, 13U);
    const unsigned within = sharding.preshift_bits + sharding.minishard_bits;
    const std::uint64_t bytes = (3 * kMiB / 2) << within;
    EXPECT_TRUE(within == 0 || bytes <= target) << target;
    EXPECT_TRUE(within == 18 || 2 * bytes > target) << target;
  }
}

TEST(ChooseSharding, ChoosesNoMoreMinishardsThanRequested) {
  VolumeToShard volume{{1 << 20, 1 << 20, 1 << 20}, {1, 1, 1}, DType::uint8};
  volume.target_shard_bytes = std::uint64_t{1} << 25;
  EXPECT_EQ(chosen(volume), identity(12, 13, 35));
}

TEST(ChooseSharding, NamesWhatIsWrongWithAVolume) {
  const auto member_of = [](const VolumeToShard& volume) { return choose_sharding(volume).error().member(); };
  EXPECT_EQ(member_of({{4, 4}, {1, 1}, DType::uint8}), "shape");
  EXPECT_EQ(member_of({{4, 4, 4}, {1, 1}, DType::uint8}), "chunk_shape");
  EXPECT_EQ(member_of({{4, 4, 4}, {1, 1, 0}, DType::uint8}), "chunk_shape");
  EXPECT_EQ(member_of({{4, 4, 4, 3}, {1, 1, 1, 1}, DType::uint8}), "chunk_shape");
  EXPECT_EQ(member_of({{4, 4, 4}, {1, 1, 1}, DType::uint8, "zstd"}), "encoding");
  EXPECT_EQ(member_of({{4, 4, 4}, {1, 1, 1}, DType::string}), "dtype");
  EXPECT_EQ(member_of({{4, 4, 4}, {1, 1, 1}, DType::uint8, "raw", 0}), "target_shard_bytes");
}

TEST(ChooseSharding, SpreadsValuesOverShardsAndMinishards) {
  EXPECT_EQ(chosen(ValuesToShard{0, 0}), hashed(0, 0));
  EXPECT_EQ(chosen(ValuesToShard{512, 1000}), hashed(0, 0));
  EXPECT_EQ(chosen(ValuesToShard{513, 1000}), hashed(1, 0));
  EXPECT_EQ(chosen(ValuesToShard{10'000'000, 8}), hashed(13, 2));
  EXPECT_EQ(chosen(ValuesToShard{1'000'000, 20'000}), hashed(3, 8));
  EXPECT_EQ(chosen(ValuesToShard{3, std::uint64_t{1} << 40}), hashed(0, 2)) << "at most one shard per value";
  EXPECT_EQ(chosen(ValuesToShard{std::uint64_t{1} << 58, 1, 1}), hashed(0, 58));
  EXPECT_EQ(choose_sharding(ValuesToShard{~std::uint64_t{0}, 1}).error().member(), "mean_bytes");
  EXPECT_EQ(choose_sharding(ValuesToShard{1, 1, 0}).error().member(), "target_shard_bytes");
}

}  // namespace choose_sharding_test
}  // namespace sherd::neuroglancer
