// bzip2 streams: one, several, broken.
#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry bz2_codec;

namespace test {
namespace bz2_test {

TEST(Bz2, RoundTripsAtEverySize) {
  for (const auto configuration : {"", R"({"level": 9})"}) {
    const auto codec = bytes_codec(bz2_codec, configuration);
    for (const std::size_t size : {0, 1, 2, 99, 5000, 250000}) {
      expect_round_trip(*codec, runs(size));
      expect_round_trip(*codec, noise(size));
    }
  }
}

TEST(Bz2, EveryTruncationAndEveryTailIsRefused) { expect_exact_end(*bytes_codec(bz2_codec, ""), runs(2000)); }

TEST(Bz2, StreamsMayFollowEachOther) {
  const auto codec = bytes_codec(bz2_codec, "");
  Bytes stored = encoded(*codec, runs(1000));
  const Bytes empty = encoded(*codec, Bytes());
  const Bytes second = encoded(*codec, noise(500));
  stored.insert(stored.end(), empty.begin(), empty.end());
  stored.insert(stored.end(), second.begin(), second.end());
  Bytes both = runs(1000);
  const Bytes tail = noise(500);
  both.insert(both.end(), tail.begin(), tail.end());
  EXPECT_EQ(decoded(*codec, stored, 1500).value(), both);
  EXPECT_EQ(decoded(*codec, stored, 1499).value(), std::nullopt);
  EXPECT_EQ(decoded(*codec, stored, 1000).value(), std::nullopt) << "the second stream must not be overlooked";
}

TEST(Bz2, ADecompressionBombIsStopped) {
  const auto codec = bytes_codec(bz2_codec, R"({"level": 9})");
  const Bytes stored = encoded(*codec, Bytes(10 << 20));
  EXPECT_LT(stored.size(), 1000u);
  EXPECT_EQ(decoded(*codec, stored, 1000).value(), std::nullopt);
  EXPECT_EQ(decoded(*codec, stored, 0).value(), std::nullopt);
}

TEST(Bz2, DamageIsSurvivedAndFound) {
  const auto codec = bytes_codec(bz2_codec, "");
  const Bytes stored = encoded(*codec, runs(5000));
  survive_damage(*codec, stored, 5000);
  Bytes damaged = stored;
  damaged[10] ^= std::byte{1};  // the block's checksum
  EXPECT_EQ(decoded(*codec, damaged, 5000).error().code(), ErrorCode::corrupt);
}

TEST(Bz2, LevelsHaveBounds) {
  EXPECT_EQ(try_bytes_codec(bz2_codec, R"({"level": 0})").error().member(), "configuration.level");
  EXPECT_EQ(try_bytes_codec(bz2_codec, R"({"level": 10})").error().member(), "configuration.level");
}

}  // namespace bz2_test
}  // namespace test
}  // namespace sherd
