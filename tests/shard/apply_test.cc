// Storing the next version of a shard: by an amendment or a new object, or not at all.
#include "shard/apply.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "api/registry.hpp"
#include "base/buffer.hpp"
#include "shard/choose.hpp"

namespace sherd {
namespace apply_test {

const Limits kLimits;
const Shape kGrid = {4};
using Chunks = std::map<std::uint64_t, std::string>;  // an empty one is removed

IndexFormat index_at_start() {
  const std::vector<CodecSpec> codecs = {{.name = "bytes", .configuration = Json(Json::Object{{"endian", "little"}})}};
  return {CodecChain::build(codecs, tables().codecs, {DType::uint64, {kGrid[0], 2}}, kLimits).value(),
          IndexLocation::start};
}

class Applied : public testing::TestWithParam<UpdateKind> {
 protected:
  void SetUp() override { change(plan_new(coding_).value(), {{0, "zero"}, {1, "one"}}, nullptr).value(); }

  Result<AppliedUpdate> change(ShardUpdate update, const Chunks& chunks, ByteSource* old,
                               const Condition& condition = {}) {
    const auto put = [&](ShardWriter& writer) -> Result<void> {
      for (const auto& [slot, chunk] : chunks) {
        EncodedBatch batch;
        Buffer bytes;
        bytes.append(as_bytes(chunk)).value();
        batch.add(slot, bytes, !chunk.empty()).value();
        writer.put(std::move(batch)).value();
      }
      return {};
    };
    return apply({*store_, key_, old, condition}, coding_, std::move(update), 1, ShardWriter::Empty::absent, put);
  }
  /// Changes the version `old`, and no other.
  Result<AppliedUpdate> change(const Chunks& chunks, const std::shared_ptr<ByteSource>& old) {
    std::vector<std::uint64_t> changed;
    for (const auto& [slot, chunk] : chunks) changed.push_back(slot);
    const std::string bytes = store_->get(key_).value().value();
    ShardIndex index = ShardIndex::decode(format_, kGrid, as_bytes(bytes).subspan(0, kHead), bytes.size()).value();
    ShardUpdate update =
        plan_update(GetParam(), {std::make_shared<const ShardIndex>(std::move(index)), {{0, kHead}}}, changed, coding_)
            .value();
    return change(std::move(update), chunks, old.get(), Condition::matches(old->generation().value()));
  }
  [[nodiscard]] std::string chunk(std::uint64_t slot) const {
    const std::string bytes = store_->get(key_).value().value();
    const auto extent = ShardIndex::decode(format_, kGrid, as_bytes(bytes).subspan(0, kHead), bytes.size())
                            .value()
                            .extent(slot)
                            .value();
    return extent ? bytes.substr(extent->offset, extent->length) : "";
  }

  static constexpr std::uint64_t kHead = 64;
  const std::string key_ = "shard";
  const std::shared_ptr<Store> store_ = memory_store();
  const IndexFormat format_ = index_at_start();
  const SlotIndexCoding coding_{format_, kGrid, kLimits};
};

TEST_P(Applied, StoresWhatChangesAndKeepsTheRest) {
  const auto done = change({{1, "1"}, {3, "three"}}, store_->open(key_).value()).value();
  EXPECT_TRUE(done.exists);
  EXPECT_EQ(done.unchanged, 1U);
  EXPECT_EQ(done.generation, store_->open(key_).value()->generation().value());
  EXPECT_EQ(done.size, store_->get(key_).value()->size());
  EXPECT_EQ(chunk(0), "zero");
  EXPECT_EQ(chunk(1), "1");
  EXPECT_EQ(chunk(3), "three");
}

TEST_P(Applied, ChangesOnlyTheVersionThatWasRead) {
  const auto old = store_->open(key_).value();
  const std::string newer = store_->get(key_).value().value();
  store_->set(key_, newer).value();
  EXPECT_EQ(change({{1, "1"}}, old).error().code(), ErrorCode::conflict);
  EXPECT_EQ(store_->get(key_).value(), newer);
}

TEST_P(Applied, StoresNothingIfNoChunkRemains) {
  const auto old = store_->open(key_).value();
  EXPECT_FALSE(change({{0, ""}, {1, ""}}, old).value().exists);
  EXPECT_EQ(store_->open(key_).value()->generation().value(), old->generation().value());
}

INSTANTIATE_TEST_SUITE_P(Kinds, Applied,
                         testing::Values(UpdateKind::amend, UpdateKind::keep_offsets, UpdateKind::dense),
                         [](const auto& kind) {
                           return kind.param == UpdateKind::amend   ? "Amend"
                                  : kind.param == UpdateKind::dense ? "Dense"
                                                                    : "KeepOffsets";
                         });

class AppliedAmendment : public Applied {};
INSTANTIATE_TEST_SUITE_P(Kinds, AppliedAmendment, testing::Values(UpdateKind::amend));

TEST_P(AppliedAmendment, IsNotStoredIfItChangesNothing) {
  const auto old = store_->open(key_).value();
  const auto done = change({{2, ""}}, old).value();
  EXPECT_TRUE(done.exists);
  EXPECT_EQ(done.generation, old->generation().value());
  EXPECT_EQ(store_->open(key_).value()->generation().value(), old->generation().value());
}

}  // namespace apply_test
}  // namespace sherd
