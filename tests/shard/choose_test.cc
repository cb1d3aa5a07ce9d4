// The choice of how a shard is changed, as a table.
#include "shard/choose.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sherd {
namespace {

struct Case {
  std::string name;
  Update update = Update::automatic;
  AmendCost cost = AmendCost::at_once;
  bool has_parts = true;
  std::uint64_t put_bytes = 0;
  std::uint64_t replaced_lists = 0;
  std::optional<std::uint64_t> unused = 0;  // none: as the index says
  bool overlaps_index = false;
  std::optional<UpdateKind> prescribed = {};
  std::optional<UpdateKind> chosen = {};  // none: refused
};

void PrintTo(const Case& each, std::ostream* to) { *to << each.name; }

class Choice : public ::testing::TestWithParam<Case> {};

// The shard has 1000 bytes: an index and two chunks. One chunk changes.
TEST_P(Choice, IsMadeBySettingStoreAndShard) {
  const Case& of = GetParam();
  Config config;
  config.update = of.update;
  config.memory_budget = 4000;
  ShardIndex index(2, 1000);
  index.set(0, {100, 400});
  index.set(1, {500, 300});
  const OldShard old{.index = std::make_shared<const ShardIndex>(std::move(index)),
                     .index_bytes = {{0, 100}},
                     .overlaps_index = of.overlaps_index,
                     .has_parts = of.has_parts,
                     .unused = of.unused};
  const std::vector<std::uint64_t> slots = {0};
  const auto kind = choose(
      config, {.amend = of.cost}, old,
      {.slots = slots, .put_bytes = of.put_bytes, .replaced_lists = of.replaced_lists, .prescribed = of.prescribed});
  ASSERT_EQ(kind.has_value(), of.chosen.has_value());
  if (kind) {
    EXPECT_EQ(*kind, *of.chosen);
    return;
  }
  EXPECT_EQ(kind.error().code(), ErrorCode::unsupported);
  EXPECT_NE(kind.error().message().find("update = '"), std::string::npos);
}

constexpr auto kKeep = UpdateKind::keep_offsets, kDense = UpdateKind::dense, kAmend = UpdateKind::amend;
constexpr std::optional<std::uint64_t> kByIndex;
INSTANTIATE_TEST_SUITE_P(
    Cases, Choice,
    testing::Values(
        Case{.name = "AutoAppends", .chosen = kAmend},
        Case{.name = "AutoAppendsOnTheServer", .cost = AmendCost::on_server, .chosen = kAmend},
        Case{.name = "AutoWhereAppendingIsACopy", .cost = AmendCost::copy, .chosen = kDense},
        Case{.name = "AutoWhereAppendingIsACopyOfAll", .cost = AmendCost::copy, .unused = kByIndex, .chosen = kKeep},
        Case{.name = "AutoWithOneIndex", .has_parts = false, .unused = kByIndex, .chosen = kKeep},
        Case{.name = "AutoThatJustIsNotWasteful", .replaced_lists = 100, .chosen = kAmend},
        Case{.name = "AutoThatWouldWasteLists", .replaced_lists = 101, .chosen = kDense},
        Case{.name = "AutoThatWouldWasteChunks", .unused = 101, .chosen = kDense},
        Case{.name = "AutoOfAShardWithHoles", .unused = kByIndex, .chosen = kKeep},
        Case{.name = "AutoBeyondMemory", .put_bytes = 1001, .chosen = kDense},
        Case{.name = "Rewrite", .update = Update::rewrite, .unused = kByIndex, .chosen = kKeep},
        Case{.name = "RewriteOfPartOfTheIndex", .update = Update::rewrite, .chosen = kDense},
        Case{.name = "RewriteOfChunksInTheWay",
             .update = Update::rewrite,
             .unused = kByIndex,
             .overlaps_index = true,
             .chosen = kDense},
        Case{.name = "AppendWhereThatIsACopy", .update = Update::append, .cost = AmendCost::copy, .chosen = kAmend},
        Case{.name = "AppendThatWouldWaste", .update = Update::append, .unused = 101, .chosen = kDense},
        Case{.name = "AppendBeyondMemory", .update = Update::append, .put_bytes = 1001, .chosen = kDense},
        Case{.name = "AppendWithOneIndex", .update = Update::append, .has_parts = false},
        Case{.name = "InPlace", .update = Update::in_place},
        Case{.name = "PrescribedInPlace", .update = Update::in_place, .prescribed = kDense},
        Case{.name = "Prescribed", .prescribed = UpdateKind::index_in_place, .chosen = UpdateKind::index_in_place}),
    [](const auto& instance) { return instance.param.name; });

// Unused are the 200 bytes after the chunks; the limit is a share of the 1000.
TEST(ChosenRewrite, IsDenseAboveTheShareOfDeadBytes) {
  ShardIndex index(1, 1000);
  index.set(0, {100, 700});
  const OldShard old{.index = std::make_shared<const ShardIndex>(std::move(index)), .index_bytes = {{0, 100}}};
  EXPECT_EQ(old.unused_bytes(), 200U);
  Config config;
  config.max_unused = 0.2;
  EXPECT_EQ(choose(config, {}, old, {}).value(), kKeep);
  config.max_unused = 0.199;
  EXPECT_EQ(choose(config, {}, old, {}).value(), kDense);
}

// A hostile index may have an entry of any length; it counts as unused, as nothing of it is kept.
TEST(ChosenRewrite, DoesNotOverflowWithEntriesOfAnyLength) {
  ShardIndex index(2, 1000);
  index.set(0, {0, ~std::uint64_t{0} - 1});
  index.set(1, {~std::uint64_t{0} - 5, 10});
  const OldShard old{.index = std::make_shared<const ShardIndex>(std::move(index)), .has_parts = true};
  const std::vector<std::uint64_t> slots = {0, 1};
  EXPECT_EQ(choose({}, {.amend = AmendCost::at_once}, old, {.slots = slots}).value(), kDense);
}

}  // namespace
}  // namespace sherd
