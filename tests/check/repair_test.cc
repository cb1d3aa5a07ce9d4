// Repairs of stored shards: which index they find, what they keep, and that a newer version is never touched.
#include "check/repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/claim.hpp"
#include "tests/check/check_testing.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/test_store.hpp"
#include "tests/test_data.hpp"

namespace sherd {
namespace repair_test {

using namespace check_testing;
using testing::ElementsAre;
using testing::HasSubstr;

CheckReport repaired(const std::shared_ptr<Store>& store, RepairOptions how = {}, bool data = false) {
  return check(store, {.data = data, .repair = how}).value();
}

std::vector<std::string> actions(const CheckReport& report) {
  std::vector<std::string> names;
  for (const Repair& each : report.repaired) names.push_back(each.action);
  return names;
}

std::vector<std::string> codes(const CheckReport& report) {
  std::vector<std::string> names;
  for (const Fault& each : report.faults) names.push_back(each.code);
  return names;
}

std::vector<std::uint16_t> values_in(const std::shared_ptr<Store>& store) {
  const Array array = open_array(store).value();
  std::vector<std::uint16_t> values(*element_count(array.shape()));
  array.read(Box{Shape(array.shape().size(), 0), array.shape()}, std::span(values)).value();
  return values;
}

TEST(Check, ListsWhatAKillLeavesInABucketAndRemovesProbes) {
  const std::shared_ptr<Store> store = lockless(false);
  create_group(store, "").value();
  create_array(store, "a", sharded()).value();
  const std::string probe = ".sherd-probe-0123", inner = "a/.sherd-probe-4567", claim = "b/.sherd-new-00000000/claim";
  store->set(probe, "p").value();
  store->set(inner, "p").value();
  store->set(claim, R"({"path": "b", "format": "zarr3", "note": ""})").value();
  store->set("b/c/0/0", "is part of what is claimed").value();
  const CheckReport report = check(store).value();
  EXPECT_TRUE(report.ok());
  EXPECT_THAT(codes(report), ElementsAre("probe_left", "probe_left", "node_claimed"));
  EXPECT_THAT(report.faults.back().message, testing::AllOf(HasSubstr("'b'"), HasSubstr("sherd rm")));
  const CheckReport after = repaired(store);
  EXPECT_THAT(actions(after), ElementsAre("probe_removed", "probe_removed"));
  EXPECT_THAT(codes(after), ElementsAre("node_claimed")) << "which may be in use";
  EXPECT_FALSE(store->get(probe).value() || store->get(inner).value());
  EXPECT_TRUE(store->get(claim).value());
}

TEST(Check, ListsTheClaimOfAKilledProcessWhereThereIsNothingElse) {
  const std::shared_ptr<Store> store = lockless(false);
  create_group(store, "").value();
  create_array(store, "a", sharded()).value();
  const auto claim = [&](const std::string& path) { return claim_key({.store = store, .path = path, .tables = {}}); };
  store->set(claim("b"), R"({"path": "b", "format": "zarr3", "note": ""})").value();
  const CheckReport report = check(store, {.path = "b"}).value();
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(codes(report), ElementsAre("node_claimed"));
  EXPECT_EQ(report.faults.front().key, claim("b"));
  EXPECT_THAT(report.faults.front().message,
              testing::AllOf(HasSubstr("'b'"), HasSubstr("--resume"), HasSubstr("sherd rm")));
  EXPECT_THAT(codes(check(prefixed_store(store, "b/")).value()), ElementsAre("node_claimed")) << "a URL names it so";
  EXPECT_EQ(check(store, {.path = "c"}).error().code(), ErrorCode::not_found);
  erase(store, {.path = "b"}).value();
  EXPECT_EQ(check(store, {.path = "b"}).error().code(), ErrorCode::not_found);
}

CreateOptions with_index_at_start() {
  CreateOptions options = sharded();
  options.index_location = IndexLocation::start;
  return options;
}

CreateOptions nested(std::vector<Json> outside = {}) {
  CreateOptions options = sharded();
  const Json inner = Json::parse(R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 2],
      "codecs": ["bytes", "crc32c"], "index_codecs": ["bytes", "crc32c"]}})")
                         .value();
  options.codecs = {inner};
  options.codecs->insert(options.codecs->end(), outside.begin(), outside.end());
  return options;
}

/// An older version of a shard, and parts of a newer one behind it.
std::string with_torn_tail(const std::string& shard, std::size_t cut) {
  const std::string appended = shard.substr(0, 60) + shard.substr(shard.size() - Index::kBytes);
  return shard + appended.substr(0, appended.size() - cut);
}

TEST(Repair, CutsATornTailToTheLastSoundIndex) {
  for (const std::size_t cut : {std::size_t{1}, std::size_t{40}, Index::kBytes, Index::kBytes + 30}) {
    const auto store = store_with(sharded());
    const auto expected = values_in(store);
    const std::string shard = load(*store, "c/0/0");
    save(*store, "c/0/0", with_torn_tail(shard, cut));
    ASSERT_FALSE(checked(store).ok());
    const CheckReport report = repaired(store);
    EXPECT_THAT(actions(report), ElementsAre("tail_cut"));
    EXPECT_THAT(codes(report), ElementsAre()) << report.to_json().dump(1);
    EXPECT_EQ(load(*store, "c/0/0"), shard);
    EXPECT_EQ(values_in(store), expected);
    EXPECT_EQ(report.repaired.front().backup, "c/0/0.sherd-backup");
    EXPECT_EQ(load(*store, "c/0/0.sherd-backup"), with_torn_tail(shard, cut));
  }
}

TEST(Repair, FindsAnIndexFarFromTheEndInAnyBlock) {
  const auto store = store_with(sharded());
  const std::string shard = load(*store, "c/0/0");
  constexpr std::size_t kBlock = std::size_t{4} << 20;
  for (const std::size_t tail : {kBlock - Index::kBytes, kBlock - 1, kBlock, kBlock + 1, 2 * kBlock + 5}) {
    save(*store, "c/0/0", shard + std::string(tail, '\x5a'));
    EXPECT_THAT(actions(repaired(store, {.backup = false})), ElementsAre("tail_cut")) << tail;
    EXPECT_EQ(load(*store, "c/0/0"), shard) << tail;
  }
}

TEST(Repair, DoesNotTakeTheIndexOfAnInnerShardForThatOfTheShard) {
  CreateOptions options = nested();
  options.shape = options.shards = {8, 8};
  options.chunks = {4, 4};  // four shards inside, each with four chunks: all indexes have the same size
  const auto store = store_with(options);
  const std::string shard = load(*store, "c/0/0");
  save(*store, "c/0/0", shard.substr(0, shard.size() - 1));
  const CheckReport report = repaired(store);
  EXPECT_THAT(actions(report), ElementsAre());
  EXPECT_THAT(codes(report), testing::Contains("not_repaired"));
  EXPECT_EQ(load(*store, "c/0/0"), shard.substr(0, shard.size() - 1));
  save(*store, "c/0/0", shard + shard.substr(0, 100));
  EXPECT_THAT(actions(repaired(store)), ElementsAre("tail_cut"));
  EXPECT_EQ(load(*store, "c/0/0"), shard);
}

TEST(Repair, CopiesASecondIndexOverATornHead) {
  const auto store = store_with(with_index_at_start());
  const auto expected = values_in(store);
  const std::string whole = load(*store, "c/0/0") + load(*store, "c/0/0").substr(0, Index::kBytes);
  for (const std::size_t torn : {std::size_t{0}, std::size_t{17}, Index::kBytes - 1}) {
    std::string shard = whole;
    shard[torn] ^= 0x10;
    save(*store, "c/0/0", shard);
    EXPECT_THAT(codes(checked(store)), ElementsAre("index_checksum"));
    const CheckReport report = repaired(store, {.backup = false});
    EXPECT_THAT(actions(report), ElementsAre("index_restored"));
    EXPECT_TRUE(report.faults.empty()) << report.to_json().dump(1);
    EXPECT_EQ(load(*store, "c/0/0"), whole);
    EXPECT_EQ(values_in(store), expected);
  }
}

TEST(Repair, RestoresNoHeadWithoutASoundSecondIndex) {
  const auto store = store_with(with_index_at_start());
  const std::string shard = load(*store, "c/0/0");
  std::string lies = shard.substr(0, Index::kBytes);
  lies[9] ^= 0x10;  // an extent far beyond the end, under a correct checksum
  const std::uint32_t sum = crc32c(as_bytes(std::string_view(lies).substr(0, Index::kBytes - 4)));
  std::memcpy(lies.data() + Index::kBytes - 4, &sum, 4);
  for (const std::string& tail : {std::string(), std::string(Index::kBytes, 'x'), lies}) {
    std::string torn = shard + tail;
    torn[3] ^= 1;
    save(*store, "c/0/0", torn);
    const CheckReport report = repaired(store);
    EXPECT_THAT(codes(report), ElementsAre("index_checksum", "not_repaired"));
    EXPECT_FALSE(report.ok());
    EXPECT_EQ(load(*store, "c/0/0"), torn);
  }
}

TEST(Repair, OfAnIndexWithoutAChecksumIsNotAttemptedAndSaysSo) {
  CreateOptions options = with_index_at_start();
  options.index_codecs = std::vector<Json>{"bytes"};
  const auto store = store_with(options);
  const std::string shard = load(*store, "c/0/0").substr(0, 50);  // shorter than its index
  save(*store, "c/0/0", shard);
  EXPECT_THAT(codes(repaired(store)), ElementsAre("index_size", "not_repaired"));
  options.index_location = IndexLocation::end;
  const auto other = store_with(options);
  const std::string torn = load(*other, "c/0/0") + "tail";
  save(*other, "c/0/0", torn);
  const CheckReport report = repaired(other);
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(report.faults.back().message, HasSubstr("--drop-broken")) << report.to_json().dump(1);
  EXPECT_EQ(load(*other, "c/0/0"), torn);
}

TEST(DropBroken, EmptiesOnlyTheSlotsThatCannotBeRead) {
  const auto store = store_with(sharded({"bytes", "crc32c"}));
  auto expected = values_in(store);
  std::string shard = load(*store, "c/0/0");
  shard[Index(shard).offset(2)] ^= 1;
  save(*store, "c/0/0", shard);
  change_index(*store, [](Index& index, std::string&) { index.length(1) = 1U << 30; });
  EXPECT_THAT(codes(repaired(store, {}, true)), ElementsAre("extent_out_of_bounds", "chunk_decode", "not_repaired"));

  const CheckReport report = repaired(store, {.drop_broken = true}, true);
  EXPECT_TRUE(report.ok() && report.faults.empty()) << report.to_json().dump(1);
  ASSERT_THAT(actions(report), ElementsAre("slots_emptied"));
  EXPECT_EQ(report.repaired.front().message, "emptied 2 slots: 1, 2");
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t column = 0; column < 4; ++column)
      expected[row * 8 + 4 + column] = expected[(row + 4) * 8 + column] = 0;
  EXPECT_EQ(values_in(store), expected);
}

TEST(DropBroken, KeepsTheOtherChunksOfShardsInsideShards) {
  for (const auto& outside : {std::vector<Json>{}, std::vector<Json>{"zstd:1"}}) {
    CreateOptions options = nested(outside);
    const auto store = store_with(options);
    auto expected = values_in(store);
    const std::string good = load(*store, "c/0/0");
    if (outside.empty()) {
      std::string shard = good;
      shard[Index(shard).offset(3)] ^= 1;  // the first chunk of the last shard inside
      save(*store, "c/0/0", shard);
      const CheckReport report = repaired(store, {.drop_broken = true}, true);
      EXPECT_TRUE(report.ok()) << report.to_json().dump(1);
      ASSERT_THAT(actions(report), ElementsAre("slots_emptied"));
      EXPECT_EQ(report.repaired.front().message, "emptied 1 slot: 3/0");
      for (const std::size_t at : {36U, 37U, 44U, 45U}) expected[at] = 0;
      EXPECT_EQ(values_in(store), expected);
    } else {
      change_index(*store, [](Index& index, std::string& shard) { shard[index.offset(3) + 5] ^= 1; });
      const CheckReport report = repaired(store, {.drop_broken = true}, true);
      EXPECT_TRUE(report.ok()) << report.to_json().dump(1);
      EXPECT_EQ(report.repaired.front().message, "emptied 1 slot: 3");
    }
  }
}

TEST(DropBroken, ErasesAnObjectInWhichNothingCanBeRead) {
  const auto store = store_with(sharded());
  const std::string shard = load(*store, "c/0/0").substr(0, 40);
  save(*store, "c/0/0", shard);
  const CheckReport report = repaired(store, {.drop_broken = true});
  EXPECT_THAT(actions(report), ElementsAre("object_erased"));
  EXPECT_TRUE(report.ok());
  EXPECT_FALSE(store->get("c/0/0").value());
  EXPECT_EQ(load(*store, "c/0/0.sherd-backup"), shard);
  EXPECT_EQ(values_in(store), std::vector<std::uint16_t>(64, 0));
}

TEST(DropBroken, ErasesChunksOfTheirOwnThatCannotBeDecoded) {
  const auto store =
      store_with({.shape = {8, 8}, .dtype = DType::uint16, .chunks = {4, 4}, .codecs = std::vector<Json>{"gzip:1"}});
  save(*store, "c/0/1", "not gzip");
  EXPECT_THAT(codes(repaired(store, {.drop_broken = true})), ElementsAre()) << "only decoding finds it";
  EXPECT_THAT(actions(repaired(store, {.drop_broken = true, .backup = false}, true)), ElementsAre("object_erased"));
  EXPECT_FALSE(store->get("c/0/1").value());
  EXPECT_FALSE(store->get("c/0/1.sherd-backup").value());
  EXPECT_TRUE(store->get("c/0/0").value());
}

TEST(DropBroken, KeepsWhatIsBeyondALimitOrCannotBeReadNow) {
  CreateOptions options = sharded();
  options.codecs = std::vector<Json>{"zstd:1"};
  const auto store = std::make_shared<TestStore>(store_with(options));
  const std::string shard = load(*store, "c/0/0");
  CheckOptions limited{.data = true, .repair = RepairOptions{.drop_broken = true}};
  limited.config.limits.index_bytes = 32;
  EXPECT_FALSE(check(store, limited).value().ok());
  EXPECT_EQ(load(*store, "c/0/0"), shard);
  store->fail_at("c/0/0", Op::read);
  EXPECT_THAT(codes(repaired(store, {.drop_broken = true})), testing::Contains("unreadable"));
}

TEST(Repair, KeepsEveryOldObjectUnderANameOfItsOwn) {
  const auto store = store_with(sharded());
  const std::string shard = load(*store, "c/0/0");
  for (const char* name : {"c/0/0.sherd-backup", "c/0/0.sherd-backup-2", "c/0/0.sherd-backup-3"}) {
    save(*store, "c/0/0", shard + name);
    EXPECT_EQ(repaired(store).repaired.front().backup, name);
    EXPECT_EQ(load(*store, name), shard + name);
  }
  const CheckReport report = checked(store);
  EXPECT_THAT(codes(report), ElementsAre("backup", "backup", "backup"));
  EXPECT_TRUE(report.ok());
  create_array(store, "",
               [] {
                 CreateOptions options = sharded();
                 options.overwrite = true;
                 return options;
               }())
      .value();
  EXPECT_FALSE(store->get("c/0/0.sherd-backup").value()) << "backups belong to the array";
}

TEST(Repair, NeverChangesAVersionThatItHasNotExamined) {
  const auto memory = store_with(sharded());
  const std::string shard = load(*memory, "c/0/0");
  std::string newer = shard;
  Index index(newer);
  index.offset(0) = index.length(0) = kEmpty;
  index.put(newer);
  save(*memory, "c/0/0", shard + "torn");
  // Another process replaces the object while its backup is made.
  const auto store = std::make_shared<TestStore>(memory);
  store->before = [&, is_done = false](const Asked& asked) mutable {
    if (asked.op == Op::commit && asked.key == "c/0/0.sherd-backup" && !std::exchange(is_done, true))
      save(*memory, "c/0/0", newer);
  };
  const CheckReport report = repaired(store);
  EXPECT_TRUE(report.ok()) << report.to_json().dump(1);
  EXPECT_THAT(actions(report), ElementsAre());
  EXPECT_EQ(load(*memory, "c/0/0"), newer);
  EXPECT_FALSE(memory->get("c/0/0.sherd-backup").value()) << "no backup of what was not changed";
}

TEST(Repair, OfShardsOfValuesByIdIsNotAttemptedAndSaysSo) {
  const auto store = memory_store();
  neuroglancer::VolumeInfo info;
  info.data_type = DType::uint16;
  info.scales.push_back({.key = "s", .size = {32, 32, 32}, .chunk_sizes = {{16, 16, 16}}, .resolution = {8, 8, 8}});
  info.scales[0].encoding = "raw";
  info.scales[0].sharding = Json::Object{{"@type", "neuroglancer_uint64_sharded_v1"},
                                         {"preshift_bits", 1},
                                         {"hash", "identity"},
                                         {"minishard_bits", 1},
                                         {"shard_bits", 1}};
  const Array array = neuroglancer::create_precomputed(store, "", info).value();
  const std::vector<std::uint16_t> values(32 * 32 * 32, 3);
  array.write(Box{{0, 0, 0, 0}, array.shape()}, std::span<const std::uint16_t>(values)).value();
  const std::string torn = load(*store, "s/0.shard").substr(0, 5000);
  save(*store, "s/0.shard", torn);
  const CheckReport report = repaired(store, {.drop_broken = true}, true);
  EXPECT_FALSE(report.ok());
  EXPECT_EQ(report.faults.back().code, "not_repaired");
  EXPECT_TRUE(report.repaired.empty());
  EXPECT_EQ(load(*store, "s/0.shard"), torn);
}

TEST(Repair, OfAReadOnlyStoreIsRefused) {
  const auto report = check("https://127.0.0.1:1/a.zarr", {.repair = RepairOptions{}});
  EXPECT_FALSE(report.has_value());
}

TEST(Repair, ChangesNothingThatIsSound) {
  auto store = std::make_shared<TestStore>(store_with(sharded()));
  const CheckReport report = repaired(store, {.drop_broken = true}, true);
  EXPECT_TRUE(report.ok() && report.repaired.empty());
  EXPECT_FALSE(store->get("c/0/0.sherd-backup").value());
}

// ---- shards that other programs left torn when they were killed ----

class KilledPeer : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Peers, KilledPeer, testing::Values("zarr-python", "zarrs"), [](const auto& instance) {
  return std::string(instance.param == std::string("zarrs") ? "Zarrs" : "ZarrPython");
});

std::shared_ptr<Store> torn(const std::string& peer, const std::string& location) {
  auto copy = memory_store();
  const auto stored = file_store(test_data("torn/" + peer + "-" + location)).value();
  for (const char* key : {"zarr.json", "c/0/0"}) save(*copy, key, load(*stored, key));
  return copy;
}

TEST_P(KilledPeer, LeavesChunksThatAreKeptIfTheIndexIsAtTheStart) {
  const auto store = torn(GetParam(), "start");
  EXPECT_FALSE(checked(store).ok());
  const CheckReport report = repaired(store, {.drop_broken = true}, true);
  EXPECT_TRUE(report.ok()) << report.to_json().dump(1);
  EXPECT_THAT(actions(report), ElementsAre("slots_emptied"));
  const auto values = values_in(store);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_TRUE(values[i] == i || values[i] == 0) << i;
    kept += values[i] == i ? 1 : 0;
  }
  EXPECT_EQ(kept / 64, 30U) << "of (5000 - 1028) bytes in chunks of 132";
  EXPECT_TRUE(checked(store, true).ok());
}

TEST_P(KilledPeer, LeavesNothingToRestoreIfTheIndexIsAtTheEnd) {
  const auto store = torn(GetParam(), "end");
  EXPECT_THAT(codes(repaired(store)), ElementsAre("index_checksum", "not_repaired"));
  const CheckReport report = repaired(store, {.drop_broken = true});
  EXPECT_TRUE(report.ok());
  EXPECT_THAT(actions(report), ElementsAre("object_erased"));
  EXPECT_EQ(values_in(store), std::vector<std::uint16_t>(4096, 0));
}

}  // namespace repair_test
}  // namespace sherd
