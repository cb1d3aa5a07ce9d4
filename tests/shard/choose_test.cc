// The choice of how a shard is changed, as a table, and shards that are not changed.
#include "shard/choose.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "shard/apply.hpp"
#include "store/span.hpp"

namespace sherd {
namespace {

struct Case {
  std::string name;
  Update update = Update::automatic;
  bool has_parts = true, is_most = false;
  std::uint64_t put_bytes = 0, dead = 0;
  std::optional<UpdateKind> prescribed = {};
  std::optional<UpdateKind> chosen = {};  // none: refused
};

void PrintTo(const Case& each, std::ostream* to) { *to << each.name; }

class Choice : public ::testing::TestWithParam<Case> {};

TEST_P(Choice, IsMadeBySettingAndShard) {
  Config config;
  config.update = GetParam().update;
  config.memory_budget = 4000;
  const auto policy = choose(config, {.size = 1000,
                                      .has_parts = GetParam().has_parts,
                                      .is_most = GetParam().is_most,
                                      .put_bytes = GetParam().put_bytes,
                                      .dead = GetParam().dead,
                                      .prescribed = GetParam().prescribed});
  ASSERT_EQ(policy.has_value(), GetParam().chosen.has_value());
  if (policy) {
    EXPECT_EQ(policy->kind, *GetParam().chosen);
    return;
  }
  EXPECT_EQ(policy.error().code(), ErrorCode::unsupported);
  EXPECT_NE(policy.error().message().find("update = '"), std::string::npos);
}

constexpr auto kKeep = UpdateKind::keep_offsets;
INSTANTIATE_TEST_SUITE_P(
    Cases, Choice,
    testing::Values(
        Case{.name = "AutoAppends", .chosen = UpdateKind::amend},
        Case{.name = "AutoWithOneIndex", .has_parts = false, .chosen = kKeep},
        Case{.name = "AutoOfMostChunks", .is_most = true, .chosen = kKeep},
        Case{.name = "AutoThatWouldWaste", .dead = 501, .chosen = kKeep},
        Case{.name = "AutoBeyondMemory", .put_bytes = 1001, .chosen = kKeep},
        Case{.name = "Rewrite", .update = Update::rewrite, .chosen = kKeep},
        Case{.name = "AppendOfMostChunks", .update = Update::append, .is_most = true, .chosen = UpdateKind::amend},
        Case{.name = "AppendWithOneIndex", .update = Update::append, .has_parts = false},
        Case{.name = "InPlace", .update = Update::in_place},
        Case{.name = "Prescribed", .prescribed = UpdateKind::index_in_place, .chosen = UpdateKind::index_in_place}),
    [](const auto& instance) { return instance.param.name; });

class Hdf5Shard : public ::testing::Test {
 protected:
  /// Of a shard of 4096 bytes with a signature of HDF5 at an offset, and one chunk.
  static Result<void> refused(std::uint64_t signature, Extent chunk) {
    std::string bytes(4096, '.');
    bytes.replace(signature, 8, "\x89HDF\r\n\x1a\n");
    SpanSource source("shard", as_bytes(bytes));
    ShardIndex index(1, bytes.size());
    index.set(0, chunk);
    return refuse_hdf5({std::make_shared<const ShardIndex>(std::move(index)), {{4076, 20}}}, source);
  }
};

TEST_F(Hdf5Shard, IsRefusedWhereverASignatureMayBe) {
  for (const std::uint64_t at : {0, 512, 1024, 2048}) {
    const auto done = refused(at, {100, 50});
    ASSERT_FALSE(done) << at;
    EXPECT_EQ(done.error().code(), ErrorCode::unsupported);
  }
  EXPECT_TRUE(refused(700, {100, 50})) << "HDF5 has signatures at 0 and at powers of two from 512";
}

TEST_F(Hdf5Shard, IsNoShardWhoseChunkHasTheSignature) {
  EXPECT_TRUE(refused(0, {0, 200}));
  EXPECT_TRUE(refused(512, {500, 200}));
}

}  // namespace
}  // namespace sherd
