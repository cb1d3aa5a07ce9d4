// Where the chunks of a new shard are put: in the order of batches, as they arrive, and with room between them.
#include "shard/writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "api/registry.hpp"
#include "base/buffer.hpp"

namespace sherd {
namespace writer_test {

const Limits kLimits;
const Shape kGrid = {3};
constexpr std::uint64_t kHead = 48;

IndexFormat index_at(IndexLocation location) {
  const std::vector<CodecSpec> codecs = {{.name = "bytes", .configuration = Json(Json::Object{{"endian", "little"}})}};
  return {CodecChain::build(codecs, tables().codecs, {DType::uint64, {kGrid[0], 2}}, kLimits).value(), location};
}

class NewShard : public testing::Test {
 protected:
  /// Writes three chunks. The first waits until the second is put.
  void write(ChunkOrder order, const Slack& slack = {}) {
    const SlotIndexCoding coding(format_, kGrid, kLimits);
    ShardUpdate update = plan_new(coding).value();
    update.as_they_arrive = order == ChunkOrder::arrival;
    update.slack = slack;
    ShardWriter writer(coding, std::move(update), 3);
    const auto object = store_->write("shard").value();
    writer.start(*object).value();
    Config config;
    config.threads = 2;
    std::atomic<bool> second_is_put{false};
    writer
        .put(3, config,
             [&](std::size_t number) -> Result<EncodedBatch> {
               // The thread that encodes the third chunk has put the second.
               if (number == 2) second_is_put = true;
               while (number == 0 && !second_is_put) std::this_thread::yield();
               EncodedBatch batch;
               Buffer bytes;
               bytes.append(as_bytes(std::string(4, static_cast<char>('a' + number)))).value();
               batch.add(number, bytes, true).value();
               return batch;
             })
        .value();
    writer.finish().value();
    object->commit().value();
  }
  [[nodiscard]] std::string chunks() const { return store_->get("shard").value().value().substr(kHead); }

  const IndexFormat format_ = index_at(IndexLocation::start);
  const std::shared_ptr<Store> store_ = memory_store();
};

TEST_F(NewShard, HasChunksInTheOrderOfBatchesWhoeverIsFirst) {
  write(ChunkOrder::c);
  EXPECT_EQ(chunks(), "aaaabbbbcccc");
}

TEST_F(NewShard, HasChunksAsTheyArriveIfNoOrderIsAskedFor) {
  write(ChunkOrder::arrival);
  EXPECT_EQ(chunks().substr(0, 4), "bbbb");
  const std::string bytes = store_->get("shard").value().value();
  const ShardIndex index = ShardIndex::decode(format_, kGrid, as_bytes(bytes).subspan(0, kHead), bytes.size()).value();
  for (std::uint64_t slot = 0; slot < 3; ++slot)
    EXPECT_EQ(bytes.substr(index.placed(slot).offset, 4), std::string(4, static_cast<char>('a' + slot)));
}

TEST_F(NewShard, HasRoomAfterEachChunkAlsoTheLast) {
  write(ChunkOrder::c, {.bytes = 2});
  EXPECT_EQ(chunks(), std::string("aaaa\0\0bbbb\0\0cccc\0\0", 18));
  write(ChunkOrder::c, {.share = 0.25});
  EXPECT_EQ(chunks(), std::string("aaaa\0bbbb\0cccc\0", 15));
  write(ChunkOrder::c, {.share = 0.2});
  EXPECT_EQ(chunks(), "aaaabbbbcccc") << "less than a byte is no room, and no byte of the last chunk is lost";
}

}  // namespace writer_test
}  // namespace sherd
