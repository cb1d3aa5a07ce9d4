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
#include "tests/check/check_testing.hpp"
#include "tests/store/unlisted.hpp"

namespace sherd {
namespace check_test {

using namespace check_testing;

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

TEST(Check, NothingIsMissingWhereListsAreDenied) {
  for (const char* below : {"", "g/"}) {
    const CheckReport report = checked(denying_lists(consolidated_store(), below));
    EXPECT_EQ(only(report).code, "unreadable");
    EXPECT_EQ(only(report).key, below);
    EXPECT_THAT(only(report).message, ::testing::HasSubstr("does not allow"));
  }
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

}  // namespace check_test
}  // namespace sherd
