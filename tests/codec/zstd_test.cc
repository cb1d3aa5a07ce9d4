// zstd: frames that lie about their content, window or dictionary.
#include "tests/codec/compressors_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::compressors_testing {
namespace zstd_test {

using ::testing::HasSubstr;

// A frame header without single-segment flag and content size; window byte 0x38: 128 KiB.
const char kOpenFrame[] = "28b52ffd0038";

TEST(Zstd, AContentSizeThatLiesIsCorrupt) {
  const auto codec = try_bytes_codec(zstd_codec).value();
  const Bytes bytes = sample(1000);
  Bytes packed = encoded(*codec, bytes);
  ASSERT_EQ(packed[4], std::byte{0x60}) << "single segment, two bytes of content size";
  packed[5] ^= std::byte{1};
  for (const bool high : {false, true}) {
    packed[6] = static_cast<std::byte>(high ? 0xff : 0x00);
    const auto whole = decoded(*codec, packed, 1000);
    EXPECT_TRUE(!whole ? code_of(whole) == ErrorCode::corrupt : *whole == std::nullopt) << high;
    EXPECT_EQ(code_of(decoded(*codec, packed, 100000)), ErrorCode::corrupt) << high;
    EXPECT_EQ(code_of(decoded_in_blocks(*codec, packed, 64, 1000)), ErrorCode::corrupt) << high;
  }
}

TEST(Zstd, ASmallFrameThatDeclaresATebibyteIsCorrupt) {
  const auto codec = try_bytes_codec(zstd_codec).value();
  const Bytes packed = from_hex("28b52ffde00000000000010000010000");
  EXPECT_EQ(decoded(*codec, packed, 4096).value(), std::nullopt);
  EXPECT_FALSE(codec->decode_blocks(packed, {}, 4096, [](auto) { return true; }).value());
}

TEST(Zstd, APartialDecodeOfTheWrongSizeIsCorrupt) {
  const Bytes bytes = sample(1000);
  const Bytes stated = encoded(*try_bytes_codec(zstd_codec).value(), bytes);
  const Bytes verified = encoded(*try_bytes_codec(zstd_codec, R"({"checksum": true})").value(), bytes);
  Bytes unstated = from_hex(std::string(kOpenFrame) + "411f00");  // one raw block, the last one, of 1000 bytes
  unstated.insert(unstated.end(), bytes.begin(), bytes.end());
  const auto codec = try_bytes_codec(zstd_codec).value();
  Bytes block(100);
  const std::pair<Bytes, std::uint64_t> cases[] = {
      {stated, 1000}, {verified, 1000}, {unstated, 1000}, {concatenated({stated, unstated}), 2000}};
  for (const auto& each : cases) {
    const Bytes& packed = each.first;
    const std::uint64_t size = each.second;
    const auto first_of = [&](std::uint64_t expected) {
      return codec->decode_blocks(packed, block, expected, [](std::span<const std::byte>) { return false; });
    };
    EXPECT_TRUE(first_of(size).value());
    for (const std::uint64_t other : {size - 1, size + 1, size + 100, 2 * size})
      EXPECT_EQ(code_of(first_of(other)), ErrorCode::corrupt) << other;
  }
}

TEST(Zstd, ABombIsCutOffAtTheExpectedSize) {
  const auto codec = try_bytes_codec(zstd_codec).value();
  Bytes bomb = from_hex(kOpenFrame);
  for (int i = 0; i < 8192; ++i) {
    const Bytes block = from_hex(i == 8191 ? "030010aa" : "020010aa");  // 128 KiB of 0xaa
    bomb.insert(bomb.end(), block.begin(), block.end());
  }
  EXPECT_EQ(decoded(*codec, bomb, 4096).value(), std::nullopt);
  EXPECT_EQ(code_of(decoded_in_blocks(*codec, bomb, 4096, 100000)), ErrorCode::corrupt);
  EXPECT_LE((std::uint64_t{1} << 30) / bomb.size(), codec->max_ratio());
}

TEST(Zstd, WindowsThatNoLevelWritesAreUnsupported) {
  const auto codec = try_bytes_codec(zstd_codec).value();
  const Bytes huge = from_hex("28b52ffd00a8010000");  // 2^31
  EXPECT_EQ(code_of(decoded(*codec, huge, 10)), ErrorCode::unsupported);
  EXPECT_THAT(decoded(*codec, huge, 10).error().message(), HasSubstr("window of 2147483648 bytes"));
  EXPECT_EQ(code_of(decoded_in_blocks(*codec, huge, 10, 10)), ErrorCode::unsupported);
  const Bytes largest = from_hex("28b52ffd0088010000");  // 2^27
  EXPECT_EQ(decoded(*codec, largest, 10).value(), Bytes());
}

TEST(Zstd, MalformedBlocksAreCorruptInEveryWayOfDecoding) {
  const auto codec = try_bytes_codec(zstd_codec).value();
  const std::string good = std::string(kOpenFrame) + "090000aa";
  EXPECT_EQ(decoded(*codec, from_hex(good), 1).value(), from_hex("aa"));
  EXPECT_EQ(decoded_in_blocks(*codec, from_hex(good), 64, 1).value(), from_hex("aa"));
  for (const std::string_view blocks : {"", "0900", "090000", "080000aa", "070000", "0b00", "020000", "050000"}) {
    const Bytes packed = from_hex(std::string(kOpenFrame) + std::string(blocks));
    EXPECT_EQ(code_of(decoded(*codec, packed, 10)), ErrorCode::corrupt) << blocks;
    EXPECT_EQ(code_of(decoded_in_blocks(*codec, packed, 64, 10)), ErrorCode::corrupt) << blocks;
  }
  const Bytes no_checksum = from_hex(
      "28b52ffd0438"
      "010000"
      "99e9d8");  // one byte of it is missing
  EXPECT_EQ(code_of(decoded(*codec, no_checksum, 10)), ErrorCode::corrupt);
  EXPECT_EQ(code_of(decoded_in_blocks(*codec, no_checksum, 64, 10)), ErrorCode::corrupt);
}

TEST(Zstd, ADictionaryIsUnsupported) {
  const auto codec = try_bytes_codec(zstd_codec).value();
  const Bytes packed = from_hex("28b52ffd013805010000");
  EXPECT_EQ(code_of(decoded(*codec, packed, 10)), ErrorCode::unsupported);
  EXPECT_THAT(decoded(*codec, packed, 10).error().message(), HasSubstr("dictionary"));
  EXPECT_EQ(decoded(*codec, from_hex("28b52ffd013800010000"), 10).value(), Bytes()) << "id 0 is none";
}

TEST(Zstd, ManySkippableFramesAreScannedOnce) {
  const auto codec = try_bytes_codec(zstd_codec).value();
  Bytes flood;
  const Bytes skippable = from_hex("502a4d1800000000");
  for (int i = 0; i < 500000; ++i) flood.insert(flood.end(), skippable.begin(), skippable.end());
  EXPECT_EQ(decoded(*codec, flood, 10).value(), Bytes());
  const Bytes bytes = sample(100);
  const Bytes packed = concatenated({flood, encoded(*codec, bytes)});
  EXPECT_EQ(decoded(*codec, packed, 100).value(), bytes);
  EXPECT_EQ(decoded_in_blocks(*codec, packed, 64, 100).value(), bytes);
}

TEST(Zstd, ASkippableFrameLongerThanTheChunkIsCorrupt) {
  const auto codec = try_bytes_codec(zstd_codec).value();
  EXPECT_EQ(code_of(decoded(*codec, from_hex("502a4d18ffffffff"), 10)), ErrorCode::corrupt);
  EXPECT_EQ(code_of(decoded(*codec, {}, 10)), ErrorCode::corrupt);
}

}  // namespace zstd_test
}  // namespace sherd::test::compressors_testing
