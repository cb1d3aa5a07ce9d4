// What the sharding transformer reads from a store whose requests have latency: requests for several shards overlap.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/draft2022/transformer_testing.hpp"
#include "tests/store/round_trips.hpp"

namespace sherd::draft {
namespace read_test {

/// 64 shards, each with the value "I-K" in its chunks K = 0 and 1.
class LatencyOfTransformers : public ::testing::Test {
 protected:
  explicit LatencyOfTransformers(const std::string& transformers_of_array = indexed("[2, 2]"),
                                 std::uint64_t shards = 64)
      : world_(changed(changed(kArray, transformers(transformers_of_array)),
                       R"({"shape": [)" + std::to_string(shards * kShardRows) + ", 2]}")) {
    for (std::uint64_t i = 0; i < shards; ++i)
      for (std::uint64_t k = 0; k < 2; ++k) {
        const std::string chunk = "c" + std::to_string(i * kShardRows / 2 + k) + "/0";
        world_.put({{chunk, std::to_string(i) + "-" + std::to_string(k)}});
        ranges_.push_back({world_.key(chunk)});
      }
    transformer_ = ShardingTransformer::open(store_, "a", {.erase = EraseMode::rewrite, .config = {}}).value();
    store_->reset();
  }
  void expect_values(const std::vector<std::optional<std::string>>& values) const {
    ASSERT_EQ(values.size(), ranges_.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(values[i], std::to_string(i / 2) + "-" + std::to_string(i % 2));
  }

  static constexpr std::uint64_t kShardRows = 8;
  World world_;
  std::shared_ptr<RoundTrips> store_ = slow_store(world_.store);
  std::optional<ShardingTransformer> transformer_;
  std::vector<KeyRange> ranges_;
};

TEST_F(LatencyOfTransformers, ValuesOfManyShardsTakeTwoBatches) {
  expect_values(transformer_->get_partial_values(ranges_).value());
  EXPECT_EQ(store_->requests, 128U);
  EXPECT_EQ(store_->rounds, 4U);
}

TEST_F(LatencyOfTransformers, ValuesOfSmallShardsTakeOneRequestPerShard) {
  Config config;
  config.tail_read_bytes = 1 << 16;
  transformer_ = ShardingTransformer::open(store_, "a", {.erase = EraseMode::rewrite, .config = config}).value();
  store_->reset();
  expect_values(transformer_->get_partial_values(ranges_).value());
  EXPECT_EQ(store_->requests, 64U);
  EXPECT_EQ(store_->rounds, 2U);
}

TEST_F(LatencyOfTransformers, KeysOfSixtyFourShardsTakeOneRequestPerShard) {
  const auto keys = transformer_->list_prefix(world_.key("")).value();
  EXPECT_EQ(keys.size(), ranges_.size());
  for (const KeyRange& each : ranges_) EXPECT_TRUE(std::ranges::binary_search(keys, each.key)) << each.key;
  EXPECT_EQ(store_->rounds, 2U) << "in addition to the list";
}

TEST_F(LatencyOfTransformers, MissingShardsAndPartsOfValuesAreReadTogether) {
  const auto values = transformer_
                          ->get_partial_values(std::vector<KeyRange>{{world_.key("c9999/0")},
                                                                     {ranges_[5].key, {1, 2}},
                                                                     {ranges_[5].key, {-1, {}}},
                                                                     {"meta/root/a.array.json", {0, 1}}})
                          .value();
  EXPECT_EQ(values, (std::vector<std::optional<std::string>>{std::nullopt, "-1", "1", "{"}));
  EXPECT_LE(store_->rounds, 2U);
}

class LatencyOfStackedTransformers : public LatencyOfTransformers {
 protected:
  LatencyOfStackedTransformers() : LatencyOfTransformers(indexed("[2, 1]") + ", " + indexed("[2, 1]"), 32) {
    config_.tail_read_bytes = 0;
    transformer_ = ShardingTransformer::open(store_, "a", {.erase = EraseMode::rewrite, .config = config_}).value();
    store_->reset();
  }
  Config config_;
};

TEST_F(LatencyOfStackedTransformers, IsARoundTripForEachLevelAndTheValues) {
  expect_values(transformer_->get_partial_values(ranges_).value());
  EXPECT_EQ(store_->rounds, 3U);
}

TEST_F(LatencyOfTransformers, ADamagedShardIsCorruptWithItsKey) {
  world_.store->set(world_.key("c0/0"), "short").value();
  const auto values = transformer_->get_partial_values(ranges_);
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code(), ErrorCode::corrupt);
  EXPECT_EQ(values.error().key(), world_.key("c0/0"));
}

}  // namespace read_test
}  // namespace sherd::draft
