// Plans as values: from an old index and changes to what is kept, moved and free. Then the same plans are carried out
// on shards in memory.
#include "shard/update.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "api/registry.hpp"
#include "shard/choose.hpp"
#include "shard/writer.hpp"
#include "store/amendment.hpp"
#include "store/span.hpp"

namespace sherd {
namespace update_test {

using testing::HasSubstr;

/// Only how many bytes at the beginning are the index's.
class HeadCoding final : public IndexCoding {
 public:
  HeadCoding(std::uint64_t slots, std::uint64_t head) : slots_(slots), head_(head) {}
  [[nodiscard]] std::uint64_t slots() const noexcept override { return slots_; }
  [[nodiscard]] Result<std::uint64_t> head_bytes() const override { return head_; }
  [[nodiscard]] Result<std::vector<Part>> encode(const ShardIndex&, std::uint64_t) const override {
    return std::vector<Part>();
  }

 private:
  const std::uint64_t slots_, head_;
};

constexpr Extent kNone{~std::uint64_t{0}, ~std::uint64_t{0}};

std::string text(const Extent& extent) { return std::to_string(extent.offset) + "+" + std::to_string(extent.length); }

/// A plan in one line, such as `dense: keep 1:0+10, move 20+10 to 0, free 5+5, end 10`.
std::string text(const ShardUpdate& update) {
  static const std::map<UpdateKind, std::string> kinds = {{UpdateKind::keep_offsets, "keep_offsets"},
                                                          {UpdateKind::dense, "dense"},
                                                          {UpdateKind::index_in_place, "index_in_place"},
                                                          {UpdateKind::amend, "amend"},
                                                          {UpdateKind::in_place, "in_place"}};
  std::string line = kinds.at(update.kind) + ":";
  for (std::uint64_t slot = 0; slot < update.index.slots(); ++slot)
    if (!update.index.empty(slot))
      line += " keep " + std::to_string(slot) + ":" + text(update.index.placed(slot)) + ",";
  for (const auto& [from, to] : update.moves) line += " move " + text(from) + " to " + std::to_string(to) + ",";
  for (const Extent& gap : update.gaps) line += " free " + text(gap) + ",";
  for (const auto& [slot, room] : update.rooms)
    line += " room of " + std::to_string(slot) + ": " + text(room.old) + " of " + std::to_string(room.length) + ",";
  if (update.copies_index) line += " copy the index,";
  return line + " end " + std::to_string(update.end);
}

struct Case {
  std::string name;
  UpdateKind kind;
  std::vector<Extent> entries;  // of the old index, by slot
  std::vector<Extent> index_bytes;
  std::uint64_t size = 0;  // of the old shard
  std::uint64_t head = 0;
  std::vector<std::uint64_t> changed;
  std::string plan;
  bool overlaps_index = false;
  std::uint64_t max_chunk_bytes = 100;
};

Result<ShardUpdate> planned(const Case& of) {
  ShardIndex index(of.entries.size(), of.size);
  for (std::size_t slot = 0; slot < of.entries.size(); ++slot) index.set(slot, of.entries[slot]);
  const OldShard old{std::make_shared<const ShardIndex>(std::move(index)), of.index_bytes, of.max_chunk_bytes,
                     of.overlaps_index};
  return plan_update(of.kind, old, of.changed, HeadCoding(of.entries.size(), of.head));
}

void expect_plans(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    const auto update = planned(each);
    ASSERT_TRUE(update) << each.name << ": " << update.error().message();
    EXPECT_EQ(text(*update), each.plan) << each.name;
    EXPECT_EQ(update->unchanged_chunks, update->index.count()) << each.name;
    EXPECT_EQ(update->old_size, each.size) << each.name;
    EXPECT_EQ(update->head, each.head) << each.name;
  }
}

constexpr UpdateKind kKeep = UpdateKind::keep_offsets;
constexpr UpdateKind kDense = UpdateKind::dense;
constexpr UpdateKind kInPlace = UpdateKind::index_in_place;
constexpr UpdateKind kAmend = UpdateKind::amend;

TEST(ShardUpdate, OfNothingBeginsAfterTheHead) {
  const ShardUpdate update = plan_new(HeadCoding(2, 64)).value();
  EXPECT_EQ(text(update), "dense: end 64");
  EXPECT_EQ(update.index.slots(), 2U);
  EXPECT_EQ(update, (ShardUpdate{.index = ShardIndex(2), .head = 64, .end = 64})) << "updates compare as values";
}

TEST(ShardUpdate, KeepsOffsetsAndFreesOnlyWhatTheOldIndexDoesNotUse) {
  const std::vector<Extent> entries = {{0, 10}, {10, 20}, kNone, {40, 10}};
  expect_plans({
      {"the bytes of the changed chunk are not free yet",
       kKeep,
       entries,
       {{60, 64}},
       124,
       0,
       {1},
       "keep_offsets: keep 0:0+10, keep 3:40+10, move 0+30 to 0, move 40+10 to 40, move 60+64 to 60, free 30+10, "
       "free 50+10, end 124"},
      {"a chunk that was missing",
       kKeep,
       entries,
       {{60, 64}},
       124,
       0,
       {2},
       "keep_offsets: keep 0:0+10, keep 1:10+20, keep 3:40+10, move 0+30 to 0, move 40+10 to 40, move 60+64 to 60, "
       "free 30+10, free 50+10, end 124"},
      {"every chunk", kKeep, {{0, 10}, {10, 10}}, {{20, 32}}, 52, 0, {0, 1}, "keep_offsets: move 0+52 to 0, end 52"},
      {"an index at the beginning",
       kKeep,
       {{64, 10}, {80, 10}},
       {{0, 64}},
       90,
       64,
       {0},
       "keep_offsets: keep 1:80+10, move 0+74 to 0, move 80+10 to 80, free 74+6, end 90"},
      {"bytes behind the last extent",
       kKeep,
       {{64, 10}},
       {{0, 64}},
       90,
       64,
       {},
       "keep_offsets: keep 0:64+10, move 0+74 to 0, end 90"},
      {"two parts of an index",
       kKeep,
       {{16, 10}},
       {{26, 4}, {0, 16}},
       30,
       16,
       {0},
       "keep_offsets: move 0+30 to 0, end 30"},
      {"ranges that overlap",
       kKeep,
       {{0, 10}, {0, 10}, {5, 10}},
       {{15, 5}},
       20,
       0,
       {},
       "keep_offsets: keep 0:0+10, keep 1:0+10, keep 2:5+10, move 0+20 to 0, end 20"},
      {"a chunk of no bytes",
       kKeep,
       {{0, 10}, {10, 0}},
       {{10, 5}},
       15,
       0,
       {},
       "keep_offsets: keep 0:0+10, keep 1:10+0, move 0+15 to 0, end 15"},
  });
}

TEST(ShardUpdate, ThatIsDenseMovesChunksTogetherInTheOrderOfTheirOffsets) {
  expect_plans({
      {"neighbours move as one",
       kDense,
       {{5, 10}, {15, 10}, {40, 1}},
       {{50, 5}},
       55,
       0,
       {},
       "dense: keep 0:0+10, keep 1:10+10, keep 2:20+1, move 5+20 to 0, move 40+1 to 20, end 21"},
      {"a changed chunk between",
       kDense,
       {{0, 10}, {10, 10}, {20, 10}},
       {{30, 5}},
       35,
       0,
       {1},
       "dense: keep 0:0+10, keep 2:10+10, move 0+10 to 0, move 20+10 to 10, end 20"},
      {"offsets against slots",
       kDense,
       {{20, 10}, {0, 9}},
       {{30, 5}},
       35,
       0,
       {},
       "dense: keep 0:9+10, keep 1:0+9, move 0+9 to 0, move 20+10 to 9, end 19"},
      {"behind the head",
       kDense,
       {{70, 10}, {90, 10}},
       {{0, 64}},
       100,
       64,
       {},
       "dense: keep 0:64+10, keep 1:74+10, move 70+10 to 64, move 90+10 to 74, end 84"},
      {"a range of two slots is copied for each",
       kDense,
       {{0, 10}, {0, 10}},
       {{10, 5}},
       15,
       0,
       {},
       "dense: keep 0:0+10, keep 1:10+10, move 0+10 to 0, move 0+10 to 10, end 20"},
      {"nothing is kept", kDense, {{0, 10}}, {{10, 5}}, 15, 0, {0}, "dense: end 0"},
  });
}

TEST(ShardUpdate, InPlacePutsTheIndexWhereItWas) {
  expect_plans({
      {"at the end",
       kInPlace,
       {{0, 10}, {10, 10}, {20, 10}},
       {{30, 5}},
       35,
       0,
       {1},
       "index_in_place: keep 0:0+10, keep 2:20+10, move 0+10 to 0, move 20+10 to 20, free 10+10, end 30"},
      {"at the end, of the last chunk",
       kInPlace,
       {{0, 10}, {10, 10}},
       {{20, 5}},
       25,
       0,
       {1},
       "index_in_place: keep 0:0+10, move 0+10 to 0, end 20"},
      {"at the beginning",
       kInPlace,
       {{64, 10}, {74, 10}},
       {{0, 64}},
       84,
       64,
       {1},
       "index_in_place: keep 0:64+10, move 0+74 to 0, end 84"},
  });
}

TEST(ShardUpdate, ThatAmendsMovesNothingAndAppends) {
  expect_plans({
      {"an index at the beginning", kAmend, {{64, 10}, kNone}, {}, 90, 64, {1}, "amend: keep 0:64+10, end 90"},
      {"a changed chunk", kAmend, {{64, 10}, {74, 10}}, {}, 90, 64, {1}, "amend: keep 0:64+10, end 90"},
      {"the first part of an object", kAmend, {kNone}, {}, 0, 64, {}, "amend: end 64"},
  });
}

/// The room of slots 0 to 4 of a shard of 200 bytes, as text, if each of them changes.
std::string rooms(const std::vector<Extent>& entries, std::uint64_t head) {
  ShardIndex index(entries.size(), 200);
  std::vector<std::uint64_t> changed;
  for (std::size_t slot = 0; slot < entries.size(); ++slot) {
    index.set(slot, entries[slot]);
    changed.push_back(slot);
  }
  const OldShard old{.index = std::make_shared<const ShardIndex>(std::move(index)),
                     .index_bytes = {head > 0 ? Extent{0, head} : Extent{180, 20}},
                     .starts_with_index = head > 0};
  const ShardUpdate update = plan_update(UpdateKind::in_place, old, changed, HeadCoding(entries.size(), head)).value();
  std::string text;
  for (const auto& [slot, room] : update.rooms) text += std::to_string(slot) + ":" + std::to_string(room.length) + " ";
  return text;
}

TEST(ShardUpdate, HasRoomInPlaceForWhatNothingOverlaps) {
  const std::vector<Extent> entries = {{20, 10}, {40, 10}, kNone, {45, 10}, {60, 30}};
  EXPECT_EQ(rooms(entries, 0), "0:10 4:30 ") << "an index at the end has the old lengths until it is replaced";
  EXPECT_EQ(rooms(entries, 20), "0:20 4:120 ") << "the last 20 bytes may be a copy of the index";
  EXPECT_EQ(rooms({{20, 10}, {185, 15}}, 20), "0:165 1:15 ") << "or are not";
  EXPECT_EQ(rooms({{20, 10}, {20, 10}, {30, 0}, {190, 20}}, 20), "") << "shared, empty, or beyond the shard";
  EXPECT_EQ(rooms({{10, 30}, {50, 10}}, 20), "1:130 ") << "a chunk in the index has none";
}

TEST(ShardUpdate, RefusesToKeepWhatIsDamagedAndReplacesIt) {
  struct Damage {
    std::string name;
    std::vector<Extent> entries;
    std::string error;
    bool is_kept_in_its_place = false;
  };
  const std::vector<Damage> damages = {
      {"an entry beyond the shard", {{0, 10}, {95, 10}}, "reaches beyond the shard's 100 bytes"},
      {"a chunk longer than any encoding", {{0, 10}, {10, 41}}, "an encoded chunk has at most 40"},
      {"a half-empty entry", {{0, 10}, {10, ~std::uint64_t{0}}}, "half-empty index entry", true},
      {"an entry whose end overflows", {{0, 10}, {~std::uint64_t{0} - 5, 10}}, "reaches beyond", true},
  };
  for (const Damage& damage : damages) {
    Case plan{damage.name, kKeep, damage.entries, {{90, 10}}, 100, 0, {0}, ""};
    plan.max_chunk_bytes = 40;
    for (const UpdateKind kind : {UpdateKind::keep_offsets, UpdateKind::index_in_place, UpdateKind::dense}) {
      plan.kind = kind;
      plan.changed = {0};
      const auto update = planned(plan);
      if (damage.is_kept_in_its_place && kind != UpdateKind::dense) {
        EXPECT_TRUE(update) << damage.name;
      } else {
        ASSERT_FALSE(update) << damage.name;
        EXPECT_EQ(update.error().code(), ErrorCode::corrupt) << damage.name;
        EXPECT_EQ(update.error().slot(), 1U) << damage.name;
        EXPECT_THAT(update.error().message(), HasSubstr(damage.error));
      }
      plan.changed = {1};
      EXPECT_TRUE(planned(plan)) << damage.name << ", replaced";
    }
  }
}

TEST(ShardUpdate, RefusesToKeepAChunkThatOverlapsTheIndex) {
  Case plan{"", kKeep, {{0, 10}, {85, 10}}, {{90, 10}}, 100, 0, {0}, ""};
  const auto update = planned(plan);
  ASSERT_FALSE(update);
  EXPECT_EQ(update.error().slot(), 1U);
  EXPECT_THAT(update.error().message(), HasSubstr("overlap the shard's index"));
  plan.kind = kDense;
  EXPECT_TRUE(planned(plan)) << "it moves away from it";
}

// ---- carried out ----

const Limits kLimits;
const Shape kGrid = {12};
using Chunks = std::map<std::uint64_t, std::string>;

IndexFormat index_at(IndexLocation location) {
  const std::vector<CodecSpec> codecs = {{.name = "bytes", .configuration = Json(Json::Object{{"endian", "little"}})},
                                         {.name = "crc32c", .configuration = {}}};
  return {CodecChain::build(codecs, tables().codecs, {DType::uint64, {kGrid[0], 2}}, kLimits).value(), location};
}

void put(ShardWriter& writer, const Chunks& chunks) {
  for (const auto& [slot, chunk] : chunks) {
    EncodedBatch batch;
    Buffer bytes;
    bytes.append(as_bytes(chunk)).value();
    batch.add(slot, bytes, !chunk.empty()).value();
    writer.put(std::move(batch)).value();
  }
}

class CarriedOut : public ::testing::TestWithParam<IndexLocation> {
 protected:
  [[nodiscard]] Extent index_bytes(const std::string& shard) const {
    const std::uint64_t size = format_.encoded_size(kGrid, kLimits).value();
    return {GetParam() == IndexLocation::start ? 0 : shard.size() - size, size};
  }
  [[nodiscard]] ShardIndex index_of(const std::string& shard) const {
    const Extent at = index_bytes(shard);
    return ShardIndex::decode(format_, kGrid, as_bytes(shard).subspan(at.offset, at.length), shard.size()).value();
  }
  static Chunks chunks_of(const std::string& shard, const ShardIndex& index) {
    Chunks chunks;
    for (std::uint64_t slot = 0; slot < index.slots(); ++slot)
      if (const auto extent = index.extent(slot).value()) chunks[slot] = shard.substr(extent->offset, extent->length);
    return chunks;
  }
  [[nodiscard]] std::string made(const Chunks& chunks) const {
    Buffer object;
    BufferWriter to(object);
    ShardWriter writer(coding_, plan_new(coding_).value(), 1);
    writer.start(to).value();
    put(writer, chunks);
    writer.finish(ShardWriter::Empty::stored).value();
    return {reinterpret_cast<const char*>(object.data()), object.size()};
  }
  [[nodiscard]] ShardUpdate plan(UpdateKind kind, const std::string& shard, const Chunks& changes,
                                 std::uint64_t alignment = 0) const {
    std::vector<std::uint64_t> changed;
    for (const auto& [slot, chunk] : changes) changed.push_back(slot);
    const OldShard old{.index = std::make_shared<const ShardIndex>(index_of(shard)),
                       .index_bytes = {index_bytes(shard)},
                       .appending = {.alignment = alignment},
                       .starts_with_index = GetParam() == IndexLocation::start};
    return plan_update(kind, old, changed, coding_).value();
  }
  /// An empty chunk is one that is removed. An amendment is of the object itself.
  [[nodiscard]] std::string updated(const ShardUpdate& update, const std::string& shard, const Chunks& changes) const {
    const auto store = memory_store();
    store->set("shard", shard).value();
    const auto old = store->open("shard").value();
    const auto write_to = [&](ObjectWriter& to) {
      ShardWriter writer(coding_, update, 1);
      writer.start(to, old.get()).value();
      put(writer, changes);
      writer.finish(ShardWriter::Empty::stored).value();
    };
    if (keeps_object(update.kind)) {
      AmendmentWriter to(old->generation().value(), old->size().value(), update.alignment);
      write_to(to);
      store->amend("shard", to.amendment().value()).value();
    } else {
      const auto to = store->write("shard").value();
      write_to(*to);
      to->commit().value();
    }
    return store->get("shard").value().value();
  }

  std::mt19937_64 random_{11};
  const IndexFormat format_ = index_at(GetParam());
  const SlotIndexCoding coding_{format_, kGrid, kLimits};

  Chunks some_chunks(std::size_t least_length) {
    Chunks chunks;
    for (std::uint64_t slot = 0; slot < kGrid[0]; ++slot)
      if (random_() % 2 == 0)
        chunks[slot] = std::string(least_length + random_() % 40, static_cast<char>('a' + random_() % 26));
    return chunks;
  }
};

TEST_P(CarriedOut, EveryKindLeadsToTheChunksOfAModel) {
  for (const UpdateKind kind : {kKeep, kDense, kInPlace, kAmend, UpdateKind::in_place}) {
    Chunks model = some_chunks(1);
    std::string shard = made(model);
    for (int round = 0; round < 60; ++round) {
      Chunks changes = some_chunks(0);
      if (kind == kInPlace)
        for (auto& [slot, chunk] : changes) chunk.clear();
      const ShardUpdate update = plan(kind, shard, changes);
      shard = updated(update, shard, changes);
      for (const auto& [slot, chunk] : changes) chunk.empty() ? void(model.erase(slot)) : void(model[slot] = chunk);
      ASSERT_EQ(chunks_of(shard, index_of(shard)), model) << round << ": " << text(update);
    }
  }
}

TEST_P(CarriedOut, AReaderWithTheOldIndexFindsKeptChunksInTheNewVersion) {
  std::string shard = made(some_chunks(1));
  for (int round = 0; round < 60; ++round) {
    const Chunks changes = some_chunks(0);
    const ShardIndex old_index = index_of(shard);
    Chunks expected = chunks_of(shard, old_index);
    shard = updated(plan(kKeep, shard, changes), shard, changes);
    for (const auto& [slot, chunk] : expected)
      if (!changes.contains(slot)) {
        const Extent extent = old_index.placed(slot);
        EXPECT_EQ(shard.substr(extent.offset, extent.length), chunk) << round;
      }
  }
}

TEST_P(CarriedOut, AnAmendmentKeepsEveryByteButAnIndexAtTheBeginning) {
  for (const std::uint64_t alignment : {0, 512}) {
    std::string shard = made(some_chunks(1));
    Chunks model = chunks_of(shard, index_of(shard));
    for (int round = 0; round < 30; ++round) {
      const Chunks changes = some_chunks(1);
      const ShardUpdate update = plan(kAmend, shard, changes, alignment);
      const std::string next = updated(update, shard, changes);
      EXPECT_EQ(next.substr(update.head, shard.size() - update.head), shard.substr(update.head));
      if (update.alignment != 0) {
        EXPECT_EQ(next.size() % alignment, 0U);
      }
      if (update.copies_index) {
        EXPECT_EQ(next.substr(next.size() - update.head), next.substr(0, update.head)) << "the copy";
      }
      for (const auto& [slot, chunk] : changes) model[slot] = chunk;
      ASSERT_EQ(chunks_of(next, index_of(next)), model) << round;
      shard = next;
    }
  }
}

TEST_P(CarriedOut, InPlaceOnlyChunksThatFitStayWhereTheyAre) {
  Chunks model;
  for (std::uint64_t slot = 0; slot < kGrid[0]; ++slot) model[slot] = std::string(20, 'a');
  std::string shard = made(model);
  const ShardIndex before = index_of(shard);
  const Chunks same = {{1, std::string(20, 'b')}, {2, std::string(20, 'c')}};
  const std::string next = updated(plan(UpdateKind::in_place, shard, same, 512), shard, same);
  EXPECT_EQ(next.size(), shard.size()) << "nothing is appended";
  EXPECT_EQ(index_of(next).placed(1), before.placed(1));
  const Chunks others = {{0, std::string(21, 'd')}, {1, std::string(5, 'e')}, {3, ""}};
  const std::string last = updated(plan(UpdateKind::in_place, next, others, 512), next, others);
  EXPECT_GT(last.size(), next.size());
  EXPECT_GE(index_of(last).placed(0).offset, next.size()) << "longer, and there is no room";
  EXPECT_EQ(index_of(last).placed(1).offset == before.placed(1).offset, GetParam() == IndexLocation::start)
      << "shorter";
  for (const Chunks& changes : {same, others})
    for (const auto& [slot, chunk] : changes) chunk.empty() ? void(model.erase(slot)) : void(model[slot] = chunk);
  EXPECT_EQ(chunks_of(last, index_of(last)), model);
}

INSTANTIATE_TEST_SUITE_P(IndexAtStartAndEnd, CarriedOut, testing::Values(IndexLocation::start, IndexLocation::end),
                         [](const auto& each) { return each.param == IndexLocation::start ? "Start" : "End"; });

}  // namespace update_test
}  // namespace sherd
