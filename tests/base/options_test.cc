// Limits by name.
#include "sherd/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/limits.hpp"

namespace sherd {
namespace options_test {

TEST(Limits, AreSetAndListedByName) {
  Limits limits;
  for (const auto& [name, value] : limits.entries()) ASSERT_TRUE(limits.set(name, value + 1)) << name;
  const auto before = Limits().entries(), after = limits.entries();
  ASSERT_EQ(after.size(), sizeof(Limits) / sizeof(std::uint64_t)) << "a limit without a name";
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].second, before[i].second + 1) << after[i].first;
  EXPECT_EQ(limits.json_depth, 129u);
}

TEST(Limits, OfAShardAreThoseOfItsChunksAndItsIndexUpToTheLargestNumber) {
  Limits limits;
  limits.chunk_bytes = 1000;
  limits.index_bytes = 100;
  EXPECT_EQ(max_shard_bytes(limits), 1100u);
  limits.chunk_bytes = ~std::uint64_t{0};
  EXPECT_EQ(max_shard_bytes(limits), ~std::uint64_t{0});
}

TEST(Limits, ListKnownNamesForAnUnknownOne) {
  Limits limits;
  const auto result = limits.set("jason_depth", 1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::invalid_argument);
  for (const auto& [name, value] : limits.entries())
    EXPECT_NE(result.error().text().find(name), std::string::npos) << name;
}

}  // namespace options_test
}  // namespace sherd
