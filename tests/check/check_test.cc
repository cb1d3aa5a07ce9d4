// check(): a sound store has no faults; each kind of damage has its own fault and location.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "base/scalar.hpp"
#include "base/scalar_dtype.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/store/failing_store.hpp"

namespace sherd {
namespace {

using tools_testing::FailingStore;

constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

CreateOptions sharded(std::vector<Json> codecs = {"zstd:1"}) {
  return {.shape = {8, 8}, .dtype = DType::uint16, .chunks = {4, 4}, .shards = {8, 8}, .codecs = std::move(codecs)};
}

std::shared_ptr<Store> store_with(const CreateOptions& options, const std::string& path = "") {
  auto store = memory_store();
  const Array array = create_array(store, path, options).value();
  std::vector<std::uint16_t> values(*element_count(options.shape));
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  array.write(Box{Shape(options.shape.size(), 0), options.shape}, std::span<const std::uint16_t>(values)).value();
  return store;
}

std::string load(Store& store, const std::string& key) { return store.get(key).value().value(); }
void save(Store& store, const std::string& key, const std::string& bytes) { store.set(key, bytes).value(); }

/// The index at the end of the shard of 2 x 2 chunks, sealed again after a change.
struct Index {
  static constexpr std::size_t kWords = 8;
  static constexpr std::size_t kBytes = kWords * 8 + 4;
  std::uint64_t words[kWords];

  explicit Index(const std::string& shard) { std::memcpy(words, shard.data() + shard.size() - kBytes, sizeof words); }
  void put(std::string& shard) const {
    char* at = shard.data() + shard.size() - kBytes;
    std::memcpy(at, words, sizeof words);
    const std::uint32_t sum = crc32c(as_bytes(std::string_view(at, sizeof words)));
    std::memcpy(at + sizeof words, &sum, 4);
  }
  std::uint64_t& offset(std::size_t slot) { return words[2 * slot]; }
  std::uint64_t& length(std::size_t slot) { return words[2 * slot + 1]; }
};

template <class Change>
void change_index(Store& store, const Change& change, const std::string& key = "c/0/0") {
  std::string shard = load(store, key);
  Index index(shard);
  change(index, shard);
  index.put(shard);
  save(store, key, shard);
}

CheckReport checked(std::shared_ptr<Store> store, bool data = false) {
  return check(std::move(store), {.data = data}).value();
}

/// The one fault that there is.
Fault only(const CheckReport& report) {
  if (report.faults.size() == 1) return report.faults.front();
  ADD_FAILURE() << report.to_json().dump(1);
  return {};
}

TEST(Check, AStructWithoutAByteOrderCausesAWarning) {
  const Json list = Json::parse(R"({"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "int16"},
      {"name": "y", "data_type": "uint8"}]}})")
                        .value();
  for (const Shape& shards : {Shape{}, Shape{4}}) {
    auto store = memory_store();
    create_array(store, "", {.shape = {4}, .dtype = parse_dtype(list).value(), .chunks = {2}, .shards = shards})
        .value();
    EXPECT_TRUE(checked(store).faults.empty());
    Json document = Json::parse(load(*store, "zarr.json")).value();
    Json& codec = document.find("codecs")->elements()[0];
    Json& bytes = shards.empty() ? codec : codec.find("configuration")->find("codecs")->elements()[0];
    ASSERT_TRUE(bytes.erase("configuration"));
    save(*store, "zarr.json", document.dump());
    const CheckReport report = checked(store);
    EXPECT_TRUE(report.ok());
    EXPECT_EQ(only(report).code, "byte_order_missing");
    EXPECT_EQ(only(report).key, "zarr.json");
  }
}

TEST(Check, ASoundHierarchyHasNoFaultsAndIsCounted) {
  auto store = memory_store();
  Group group = create_group(store, "").value();
  const Array array = group.create_array("a/b", sharded()).value();
  const std::vector<std::uint16_t> values(16, 7);
  array.write(Box{{0, 0}, {4, 4}}, std::span<const std::uint16_t>(values)).value();
  for (const bool data : {false, true}) {
    const CheckReport report = checked(store, data);
    EXPECT_TRUE(report.ok());
    EXPECT_TRUE(report.faults.empty()) << report.to_json().dump(1);
    EXPECT_EQ(report.documents, 3U);
    EXPECT_EQ(report.shards, 1U);
    EXPECT_EQ(report.chunks, 1U);
    EXPECT_EQ(report.live_bytes, load(*store, "a/b/c/0/0").size());
    EXPECT_EQ(report.dead_bytes, 0U);
  }
}

TEST(Check, EveryLayoutThatIsWrittenPassesWithData) {
  const Json transposed = Json::parse(R"({"name":"transpose","configuration":{"order":[1,0]}})").value();
  const Json nested = Json::parse(R"([{"name":"transpose","configuration":{"order":[1,0]}},
    {"name":"sharding_indexed","configuration":{"chunk_shape":[4,8],"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}],
     "codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[2,4],"index_location":"start",
       "index_codecs":[{"name":"bytes","configuration":{"endian":"big"}},{"name":"crc32c"}],
       "codecs":[{"name":"bytes","configuration":{"endian":"big"}},{"name":"gzip","configuration":{"level":1}}]}}]}},
    {"name":"crc32c"}])")
                          .value();
  std::vector<CreateOptions> layouts{sharded(), sharded({transposed, "zstd:1"}), sharded({Json("bytes")}),
                                     sharded({"bytes", "crc32c"})};
  layouts.push_back({.shape = {7, 13}, .dtype = DType::uint16, .chunks = {3, 4}});
  layouts.push_back({.shape = {16, 8},
                     .dtype = DType::uint16,
                     .raw_codecs = nested,
                     .chunk_grid = Json::parse(R"({"name":"regular","configuration":{"chunk_shape":[8,8]}})").value()});
  layouts.push_back({.shape = {}, .dtype = DType::uint16});
  for (const CreateOptions& options : layouts) {
    const auto report = checked(store_with(options), true);
    EXPECT_TRUE(report.faults.empty()) << report.to_json().dump(1);
    EXPECT_GT(report.chunks, 0U);
  }
}

TEST(Check, WithoutANodeIsNotFoundRatherThanAFault) {
  const auto report = check(memory_store());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::not_found);
}

TEST(Check, ADamagedDocumentIsDocumentCorruptAndItsMembersAreStillChecked) {
  auto store = store_with(sharded(), "group/array");
  save(*store, "group/zarr.json", "{");
  change_index(*store, [](Index& index, const std::string&) { index.offset(0) = kEmpty; }, "group/array/c/0/0");
  const auto report = checked(store);
  ASSERT_EQ(report.faults.size(), 2U);
  EXPECT_EQ(report.faults[0].code, "document_corrupt");
  EXPECT_EQ(report.faults[0].key, "group/zarr.json");
  EXPECT_EQ(report.faults[1].code, "entry_half_empty");
  EXPECT_FALSE(report.ok());
}

TEST(Check, AnUnknownCodecIsDocumentUnsupportedAndNamesItsMember) {
  auto store = store_with(sharded());
  std::string text = load(*store, "zarr.json");
  text.replace(text.find("\"zstd\""), 6, "\"zzzz\"");
  save(*store, "zarr.json", text);
  const Fault fault = only(checked(store));
  EXPECT_EQ(fault.code, "document_unsupported");
  EXPECT_EQ(fault.key, "zarr.json");
  EXPECT_THAT(fault.message, ::testing::HasSubstr("codecs[0]"));
}

TEST(Check, AKeyThatBelongsToNoNodeIsAForeignObject) {
  auto store = store_with(sharded(), "a");
  for (const std::string key : {"a/c/0/x", "README", "b/c/0/0", "a/.sherd-left", ".sherd-copy.json"}) {
    save(*store, key, "x");
  }
  const auto report = checked(store);
  EXPECT_TRUE(report.ok());
  std::vector<std::string> keys;
  for (const Fault& fault : report.faults) {
    EXPECT_EQ(fault.code, "foreign_object");
    EXPECT_EQ(fault.severity, Fault::Severity::warning);
    keys.push_back(fault.key);
  }
  EXPECT_THAT(keys, ::testing::UnorderedElementsAre("README", "a/c/0/x", "b/"));
}

TEST(Check, AChunkBeyondTheShapeIsAChunkOutside) {
  auto store = store_with(sharded());
  save(*store, "c/1/0", load(*store, "c/0/0"));
  const Fault fault = only(checked(store));
  EXPECT_EQ(fault.code, "chunk_outside");
  EXPECT_EQ(fault.key, "c/1/0");
  EXPECT_EQ(fault.severity, Fault::Severity::warning);
}

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

/// A group "g" with the arrays "a" and "b", consolidated in it and at the root.
std::shared_ptr<Store> consolidated_store() {
  auto store = store_with(sharded(), "g/a");
  create_array(store, "g/b", sharded()).value();
  for (const char* path : {"", "g"}) open_group(store, {.path = path, .writable = true}).value().consolidate().value();
  return store;
}

/// The store's only faults: one of each of the two groups, which both begin so.
std::string stale(const std::shared_ptr<Store>& store, Fault::Severity severity = Fault::Severity::warning) {
  const CheckReport report = checked(store);
  EXPECT_EQ(report.faults.size(), 2U);
  std::vector<std::string> keys;
  for (const Fault& fault : report.faults) {
    EXPECT_EQ(fault.code, "consolidated_stale");
    EXPECT_EQ(fault.severity, severity);
    keys.push_back(fault.key);
  }
  EXPECT_THAT(keys, ::testing::UnorderedElementsAre("zarr.json", "g/zarr.json"));
  return report.faults.empty() ? "" : report.faults.front().message;
}

TEST(Check, ConsolidatedMetadataThatDiffersFromADocumentIsStale) {
  auto store = consolidated_store();
  EXPECT_TRUE(checked(store).faults.empty());
  std::string text = load(*store, "g/a/zarr.json");
  save(*store, "g/a/zarr.json", text.insert(text.rfind("\"zarr_format\""), R"("dimension_names": ["y", "x"], )"));
  EXPECT_THAT(stale(store), ::testing::HasSubstr("'g/a' differs from its document"));
}

TEST(Check, ConsolidatedMetadataThatNamesWhatDoesNotExistIsAnError) {
  auto store = consolidated_store();
  store->erase_prefix("g/a/").value();
  EXPECT_THAT(stale(store, Fault::Severity::error), ::testing::HasSubstr("names 'g/a', which does not exist"));
}

TEST(Check, ConsolidatedMetadataThatLeavesOutANodeIsStale) {
  auto store = consolidated_store();
  save(*store, "g/c/zarr.json", load(*store, "g/b/zarr.json"));
  EXPECT_THAT(stale(store), ::testing::HasSubstr("leaves out 'g/c'"));
}

TEST(Check, ADamagedDocumentIsNotAFaultOfConsolidatedMetadata) {
  auto store = consolidated_store();
  save(*store, "g/a/zarr.json", "{");
  EXPECT_EQ(only(checked(store)).code, "document_corrupt");
}

TEST(Check, AnObjectThatCannotBeReadIsUnreadable) {
  auto store = std::make_shared<FailingStore>(store_with(sharded()));
  store->unreadable = "c/0/0";
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

TEST(Check, ADamagedCompressedShardIsShardDecode) {
  const Json around = Json::parse(R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[4,4],
    "codecs":[{"name":"bytes","configuration":{"endian":"little"}}],
    "index_codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}]}},{"name":"crc32c"}])")
                          .value();
  auto store =
      store_with({.shape = {8, 8},
                  .dtype = DType::uint16,
                  .raw_codecs = around,
                  .chunk_grid = Json::parse(R"({"name":"regular","configuration":{"chunk_shape":[8,8]}})").value()});
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
  auto store =
      store_with({.shape = {8, 8},
                  .dtype = DType::uint16,
                  .raw_codecs = nested,
                  .chunk_grid = Json::parse(R"({"name":"regular","configuration":{"chunk_shape":[8,8]}})").value()});
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

TEST(Check, OneChunkInAHugeArrayIsCheckedWithoutLookingForTheOthers) {
  auto recorder = std::make_shared<Recorder>();
  auto store = memory_store();
  CreateOptions options{
      .shape = {25000, 18000, 6000}, .dtype = DType::uint16, .chunks = {64, 64, 64}, .shards = {2048, 2048, 2048}};
  const Array array = create_array(store, "", options).value();
  const std::uint16_t value = 5;
  array.fill(Box{{24999, 17999, 5999}, {1, 1, 1}}, std::as_bytes(std::span(&value, 1))).value();
  const auto report = check(store, {.data = true, .config = {.recorder = recorder}}).value();
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.chunks, 1U);
  EXPECT_LT(recorder->stats().requests, 20U);
}

TEST(Check, CanBeInterrupted) {
  auto store = store_with(sharded());
  const auto report = check(store, {.config = {.interrupted = [] { return true; }}});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), ErrorCode::unavailable);
}

TEST(Check, TheReportHasTheDocumentedJson) {
  auto store = store_with(sharded());
  change_index(*store, [](Index& index, const std::string&) { index.offset(2) = kEmpty; });
  const Json json = checked(store).to_json();
  EXPECT_EQ(json.find("ok")->as_bool(), false);
  EXPECT_EQ(json.find("checked")->find("shards")->as_uint(), 1U);
  EXPECT_TRUE(json.find("space")->find("dead")->is_number());
  const Json& fault = json.find("faults")->elements()[0];
  EXPECT_EQ(fault.find("severity")->text(), "error");
  EXPECT_EQ(fault.find("slot")->as_uint(), 2U);
  EXPECT_TRUE(fault.find("offset")->is_null());
  EXPECT_EQ(json.find("repaired")->size(), 0U);
}

}  // namespace
}  // namespace sherd
