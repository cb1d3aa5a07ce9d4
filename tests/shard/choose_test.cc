// The choice of how a shard is changed, as a table.
#include "shard/choose.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "store/amendment.hpp"

namespace sherd {
namespace choose_test {

struct Case {
  std::string name;
  Update update = Update::automatic;
  AmendCost cost = AmendCost::at_once;
  std::uint64_t writer_bytes = 0;
  bool has_parts = true;
  std::uint64_t put_bytes = 0;
  std::uint64_t replaced_lists = 0;
  std::optional<std::uint64_t> unused = 0;  // none: as the index says
  bool overlaps_index = false;
  bool is_exclusive = true;
  std::optional<PrescribedUpdate> prescribed = {};
  UpdateKind chosen = UpdateKind::dense;
  std::uint64_t alignment = 0;     // of appends that become visible in one step
  bool starts_with_index = false;  // which has a checksum
  bool is_copy = false;            // of the index, which is torn
  std::string why = {};            // it is not appended to, if it is rewritten
  std::string_view obstacle = Appending().obstacle;
};

void PrintTo(const Case& each, std::ostream* to) { *to << each.name; }

class Choice : public ::testing::TestWithParam<Case> {};

// The shard has 1000 bytes: an index and two chunks. One chunk changes.
TEST_P(Choice, IsMadeBySettingStoreAndShard) {
  const Case& of = GetParam();
  Config config;
  config.update = of.update;
  config.memory_budget = 4000;
  config.recorder = std::make_shared<Recorder>();
  ShardIndex index(2, 1000);
  index.set(0, {100, 400});
  index.set(1, {500, 300});
  if (of.is_copy) index.set_copy();
  const OldShard old{.index = std::make_shared<const ShardIndex>(std::move(index)),
                     .index_bytes = {{0, 100}},
                     .overlaps_index = of.overlaps_index,
                     .has_parts = of.has_parts,
                     .appending = {.alignment = of.alignment, .obstacle = of.obstacle},
                     .starts_with_index = of.starts_with_index,
                     .checks_index = true,
                     .is_exclusive = of.is_exclusive,
                     .unused = of.unused};
  const std::vector<std::uint64_t> slots = {0};
  const auto kind = choose(
      config, {.amend = of.cost, .writer_bytes = of.writer_bytes}, old,
      {.slots = slots, .put_bytes = of.put_bytes, .replaced_lists = of.replaced_lists, .prescribed = of.prescribed});
  EXPECT_EQ(kind, of.chosen);
  if (kind == UpdateKind::in_place) record_in_place(config, old, 1000);
  const auto updates = config.recorder->updates();
  ASSERT_EQ(updates.size(), 1U);
  if (!of.why.empty()) {
    EXPECT_EQ(updates.begin()->first, "rewrite: " + of.why);
  }
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
        Case{.name = "AutoOfAWriterThatNeedsBytesInOrder",
             .writer_bytes = 1,
             .has_parts = false,
             .unused = kByIndex,
             .chosen = kDense},
        Case{.name = "AppendWhereTheIndexIsTorn",
             .update = Update::append,
             .has_parts = false,
             .unused = kByIndex,
             .chosen = kKeep,
             .alignment = 4096,
             .starts_with_index = true,
             .is_copy = true,
             .why = "the index at the beginning is written in part"},
        Case{.name = "InPlaceWhereTheIndexIsTorn",
             .update = Update::in_place,
             .has_parts = false,
             .unused = kByIndex,
             .chosen = kKeep,
             .alignment = 4096,
             .starts_with_index = true,
             .is_copy = true,
             .why = "the index at the beginning is written in part"},
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
        Case{.name = "AppendWithOneIndexWhereThatIsACopy",
             .update = Update::append,
             .has_parts = false,
             .unused = kByIndex,
             .chosen = kKeep,
             .why = "the store replaces objects"},
        Case{.name = "AutoWithOneIndexInOneStep", .has_parts = false, .chosen = kAmend, .alignment = 4096},
        Case{.name = "AutoWithOneIndexThatWouldWaste",
             .has_parts = false,
             .unused = 1,
             .alignment = 4096,
             .why = "more than max_unused would be dead"},
        Case{.name = "AutoBehindTheIndexInOneStep",
             .has_parts = false,
             .unused = kByIndex,
             .chosen = kKeep,
             .alignment = 4096,
             .starts_with_index = true,
             .why = "the index is at the beginning"},
        Case{.name = "AppendBehindTheIndexInOneStep",
             .update = Update::append,
             .has_parts = false,
             .chosen = kAmend,
             .alignment = 4096,
             .starts_with_index = true},
        Case{.name = "AutoOfChunksWhereTheIndexGoes",
             .has_parts = false,
             .unused = kByIndex,
             .overlaps_index = true,
             .alignment = 4096,
             .why = "chunks are where the index goes"},
        Case{.name = "RewriteWhereAppendingIsPossible",
             .update = Update::rewrite,
             .has_parts = false,
             .unused = kByIndex,
             .chosen = kKeep,
             .alignment = 4096,
             .why = "as configured"},
        Case{.name = "InPlace", .update = Update::in_place, .has_parts = false, .chosen = UpdateKind::in_place},
        Case{.name = "InPlaceOfChunksById", .update = Update::in_place, .chosen = UpdateKind::in_place},
        Case{.name = "InPlaceOfAFileWithTwoNames",
             .update = Update::in_place,
             .unused = kByIndex,
             .chosen = kKeep,
             .why = "the file has several names",
             .obstacle = kSeveralNames},
        Case{.name = "AppendToAFileWithTwoNames",
             .update = Update::append,
             .unused = kByIndex,
             .chosen = kKeep,
             .why = "the file has several names",
             .obstacle = kSeveralNames},
        Case{.name = "InPlaceOnAnotherMachine",
             .update = Update::in_place,
             .has_parts = false,
             .unused = kByIndex,
             .chosen = kKeep,
             .why = "the file system is on another machine",
             .obstacle = kFarAway},
        Case{.name = "InPlaceOfChunksThatShareBytes",
             .update = Update::in_place,
             .is_exclusive = false,
             .chosen = kAmend},
        Case{.name = "InPlaceWhereObjectsAreReplaced",
             .update = Update::in_place,
             .cost = AmendCost::copy,
             .has_parts = false,
             .unused = kByIndex,
             .chosen = kKeep,
             .why = "the store replaces objects"},
        Case{.name = "PrescribedInPlace",
             .update = Update::in_place,
             .prescribed = {{kDense, "compacted"}},
             .chosen = kDense,
             .why = "compacted"},
        Case{.name = "Prescribed",
             .prescribed = {{UpdateKind::index_in_place, "chunks are erased"}},
             .chosen = UpdateKind::index_in_place,
             .why = "chunks are erased"}),
    [](const auto& instance) { return instance.param.name; });

// Unused are the 200 bytes after the chunks; the limit is a share of the 1000.
TEST(ChosenRewrite, IsDenseAboveTheShareOfDeadBytes) {
  ShardIndex index(1, 1000);
  index.set(0, {100, 700});
  const OldShard old{.index = std::make_shared<const ShardIndex>(std::move(index)), .index_bytes = {{0, 100}}};
  EXPECT_EQ(old.unused_bytes(), 200U);
  Config config;
  config.max_unused = 0.2;
  EXPECT_EQ(choose(config, {}, old, {}), kKeep);
  config.max_unused = 0.199;
  EXPECT_EQ(choose(config, {}, old, {}), kDense);
}

// Without its 200 dead bytes, the next changes of a shard can be appended.
TEST(ChosenRewrite, IsDenseWhereDeadBytesPreventAppends) {
  ShardIndex index(1, 1000);
  index.set(0, {0, 700});
  const OldShard old{.index = std::make_shared<const ShardIndex>(std::move(index)),
                     .index_bytes = {{900, 100}},
                     .appending = {.alignment = 4096}};
  const std::vector<std::uint64_t> slots = {0};
  const StoreTraits traits{.amend = AmendCost::at_once};
  Config config;
  config.max_unused = 0.5;
  EXPECT_EQ(choose(config, traits, old, {.slots = slots}), kKeep);
  config.max_unused = 0.3;
  EXPECT_EQ(choose(config, traits, old, {.slots = slots}), kDense);
  config.update = Update::rewrite;
  EXPECT_EQ(choose(config, traits, old, {.slots = slots}), kKeep);
}

// A hostile index may have an entry of any length; it counts as unused, as nothing of it is kept.
TEST(ChosenRewrite, DoesNotOverflowWithEntriesOfAnyLength) {
  ShardIndex index(2, 1000);
  index.set(0, {0, ~std::uint64_t{0} - 1});
  index.set(1, {~std::uint64_t{0} - 5, 10});
  const OldShard old{.index = std::make_shared<const ShardIndex>(std::move(index)), .has_parts = true};
  const std::vector<std::uint64_t> slots = {0, 1};
  EXPECT_EQ(choose({}, {.amend = AmendCost::at_once}, old, {.slots = slots}), kDense);
}

}  // namespace choose_test
}  // namespace sherd
