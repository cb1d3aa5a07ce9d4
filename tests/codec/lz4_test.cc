// numcodecs' lz4: a size, then a block that must have that size.
#include "base/endian.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry lz4_codec;

namespace test {
namespace lz4_test {

TEST(Lz4, RoundTripsAtEverySize) {
  for (const auto configuration :
       {"", R"({"acceleration": 1})", R"({"acceleration": 50})", R"({"acceleration": -3})"}) {
    const auto codec = bytes_codec(lz4_codec, configuration);
    for (const std::size_t size : {0, 1, 2, 12, 13, 17, 255, 1000, 1 << 20}) {
      expect_round_trip(*codec, runs(size));
      expect_round_trip(*codec, noise(size));
    }
  }
}

TEST(Lz4, EveryTruncationAndEveryTailIsRefused) { expect_exact_end(*bytes_codec(lz4_codec, ""), runs(2000)); }

TEST(Lz4, AWrongHeaderIsRefused) {
  const auto codec = bytes_codec(lz4_codec, "");
  const Bytes good = encoded(*codec, runs(2000));
  for (const std::uint32_t size : {0u, 1999u, 2001u, 0x7e000001u, 0xffffffffu}) {
    Bytes stored = good;
    store_little(stored.data(), size);
    const auto result = decoded(*codec, stored, 4000);
    ASSERT_FALSE(result.has_value()) << size;
    EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
  }
  Bytes stored = good;
  store_little(stored.data(), std::uint32_t{4001});
  EXPECT_EQ(decoded(*codec, stored, 4000).value(), std::nullopt);
}

TEST(Lz4, ALiteralRunBeyondTheEndIsRefused) {
  const auto codec = bytes_codec(lz4_codec, "");
  Bytes stored(64, std::byte{0xff});
  store_little(stored.data(), std::uint32_t{1000});
  EXPECT_EQ(decoded(*codec, stored, 1000).error().code(), ErrorCode::corrupt);
}

TEST(Lz4, DamageIsSurvived) {
  const auto codec = bytes_codec(lz4_codec, "");
  survive_damage(*codec, encoded(*codec, runs(5000)), 5000);
}

TEST(Lz4, NothingGrowsByMoreThanTheStatedRatio) {
  const auto codec = bytes_codec(lz4_codec, "");
  const Bytes zeros(1 << 20);
  EXPECT_LE(zeros.size(), encoded(*codec, zeros).size() * codec->max_ratio());
}

TEST(Lz4, UnknownMembersAreRefused) {
  EXPECT_EQ(try_bytes_codec(lz4_codec, R"({"level": 1})").error().code(), ErrorCode::unsupported);
  EXPECT_EQ(try_bytes_codec(lz4_codec, R"({"acceleration": "fast"})").error().member(), "configuration.acceleration");
}

}  // namespace lz4_test
}  // namespace test
}  // namespace sherd
