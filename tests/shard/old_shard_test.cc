// What an update reads of a shard, and shards that it refuses.
#include "shard/old_shard.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/buffer.hpp"
#include "store/span.hpp"

namespace sherd {
namespace old_shard_test {

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

TEST_F(Hdf5Shard, MayBeShorterThanASignature) {
  SpanSource source("shard", as_bytes(std::string_view("\x89HDF")));
  EXPECT_TRUE(refuse_hdf5({std::make_shared<const ShardIndex>(1, 4)}, source));
}

}  // namespace old_shard_test
}  // namespace sherd
