// zstd, gzip and zlib: round trips, other writers' bytes, streaming, and protection against hostile bytes.
#include "tests/codec/compressors_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::compressors_testing {
namespace compressors_test {

using ::testing::HasSubstr;

TEST(Compressors, RoundTripEverySample) {
  for (const Case& c : kCompressors) {
    const auto codec = try_bytes_codec(*c.entry, c.configuration).value();
    for (const std::size_t size : {0, 1, 2, 3, 255, 256, 257, 4096, 65537, 131072, 1000003}) {
      for (const Bytes& bytes : {sample(size), noise(size), Bytes(size)}) {
        const Bytes packed = encoded(*codec, bytes);
        EXPECT_EQ(decoded(*codec, packed, size).value(), bytes) << name_of(c) << " " << size;
        EXPECT_EQ(decoded(*codec, packed, size + 7).value(), bytes) << name_of(c) << " " << size;
        for (const std::size_t block : {std::size_t{997}, std::size_t{131072}, size + 1})
          EXPECT_EQ(decoded_in_blocks(*codec, packed, block, size).value(), bytes) << name_of(c) << " " << size;
      }
    }
  }
}

TEST(Compressors, ReportContentThatDoesNotFit) {
  for (const Case& c : kCompressors) {
    const auto codec = try_bytes_codec(*c.entry, c.configuration).value();
    const Bytes packed = encoded(*codec, sample(10000));
    for (const std::size_t capacity : {0, 1, 9999})
      EXPECT_EQ(decoded(*codec, packed, capacity).value(), std::nullopt) << name_of(c) << " " << capacity;
    EXPECT_EQ(code_of(decoded_in_blocks(*codec, packed, 100, 9999)), ErrorCode::corrupt) << name_of(c);
  }
}

TEST(Compressors, EncodeDeterministicallyOnReusedThreads) {
  for (const Case& c : kCompressors) {
    const auto codec = try_bytes_codec(*c.entry, c.configuration).value();
    const Bytes bytes = sample(300000);
    const Bytes packed = encoded(*codec, bytes);
    for (const Case& other : kCompressors)
      encoded(*try_bytes_codec(*other.entry, other.configuration).value(), noise(70000));
    EXPECT_EQ(encoded(*codec, bytes), packed) << name_of(c);
  }
}

TEST(Compressors, ReadDataOfOtherImplementations) {
  const auto goldens = read_goldens(test_data("codec/bytes_codecs.tsv"));
  ASSERT_GT(goldens.size(), 80u);
  const Limits limits;
  for (const Golden& golden : goldens) {
    const CodecEntry* entry = find_codec(kTable, golden.name);
    ASSERT_NE(entry, nullptr) << golden.name;
    const auto codec =
        entry->bytes_codec({golden.name, golden.configuration}, {.in = {DType::uint8, {1}}, .limits = &limits}).value();
    const std::string what = golden.writer + " " + golden.name + " " + golden.configuration.dump();
    EXPECT_EQ(decoded(*codec, golden.encoded, golden.decoded.size()).value(), golden.decoded) << what;
    if (codec->frame()) {
      EXPECT_EQ(encoded(*codec, golden.decoded), golden.encoded) << what;
    } else {
      EXPECT_EQ(decoded_in_blocks(*codec, golden.encoded, 13, golden.decoded.size()).value(), golden.decoded) << what;
    }
  }
}

TEST(Compressors, NeverDecodeDamagedDataToWrongBytes) {
  const Bytes bytes = sample(700);
  for (const Case& c : kCompressors) {
    const auto codec = try_bytes_codec(*c.entry, c.configuration).value();
    const Bytes packed = encoded(*codec, bytes);
    const auto is_harmless = [&](const Bytes& damaged) {
      const auto whole = decoded(*codec, damaged, bytes.size());
      const auto blocks = decoded_in_blocks(*codec, damaged, 64, bytes.size());
      return (!whole || !*whole || **whole == bytes) && (!blocks || *blocks == bytes);
    };
    for (std::size_t i = 0; i < packed.size(); ++i) {
      for (const unsigned mask : {0x01u, 0x80u, 0xffu}) {
        Bytes damaged = packed;
        damaged[i] ^= static_cast<std::byte>(mask);
        EXPECT_TRUE(is_harmless(damaged)) << name_of(c) << " byte " << i;
      }
    }
    for (std::size_t size = 0; size < packed.size(); ++size) {
      const Bytes cut(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
      const auto whole = decoded(*codec, cut, bytes.size());
      EXPECT_TRUE(!whole || !*whole) << name_of(c) << " cut to " << size;
      EXPECT_EQ(code_of(decoded_in_blocks(*codec, cut, 64, bytes.size())), ErrorCode::corrupt)
          << name_of(c) << " " << size;
    }
    for (const Bytes& tail : {Bytes(1), Bytes(40), noise(9)}) {
      const Bytes longer = concatenated({packed, tail});
      EXPECT_EQ(code_of(decoded(*codec, longer, bytes.size())), ErrorCode::corrupt) << name_of(c);
      EXPECT_EQ(code_of(decoded_in_blocks(*codec, longer, 64, bytes.size())), ErrorCode::corrupt) << name_of(c);
    }
  }
}

TEST(Compressors, StopEarlyWhenTheSinkAsks) {
  for (const Case& c : kCompressors) {
    const auto codec = try_bytes_codec(*c.entry, c.configuration).value();
    const Bytes packed = encoded(*codec, sample(100000));
    Bytes block(1000);
    int calls = 0;
    EXPECT_TRUE(
        codec->decode_blocks(packed, block, 100000, [&](std::span<const std::byte>) { return ++calls < 3; }).value());
    EXPECT_EQ(calls, 3) << name_of(c);
  }
}

TEST(Compressors, RefuseUnknownLevelsAndMembers) {
  for (const std::string_view configuration : {R"({"level": -131073})", R"({"level": 23})", R"({"level": 1.5})",
                                               R"({"level": "3"})", R"({"level": 99999999999999999999})"}) {
    const auto codec = try_bytes_codec(zstd_codec, configuration);
    EXPECT_EQ(code_of(codec), ErrorCode::invalid_argument) << configuration;
    EXPECT_EQ(codec.error().member(), "configuration.level");
  }
  EXPECT_EQ(try_bytes_codec(zstd_codec, R"({"level": 1, "checksum": 1})").error().member(), "configuration.checksum");
  EXPECT_EQ(code_of(try_bytes_codec(gzip_codec, R"({"level": 10})")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_bytes_codec(gzip_codec, R"({"level": -1})")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(try_bytes_codec(zlib_codec, R"({"level": -2})")), ErrorCode::invalid_argument);
  for (const CodecEntry* entry : kTable) {
    const auto codec = try_bytes_codec(*entry, R"({"colour": 1})");
    EXPECT_EQ(code_of(codec), ErrorCode::unsupported) << entry->name;
    EXPECT_EQ(codec.error().member(), "configuration.colour");
  }
}

TEST(Compressors, HaveShortForms) {
  EXPECT_EQ(zstd_codec.short_form("", DType::uint8).value(), json(R"({"level": 3, "checksum": true})"));
  EXPECT_EQ(zstd_codec.short_form("-5", DType::uint8).value(), json(R"({"level": -5, "checksum": true})"));
  EXPECT_EQ(numcodecs_zstd_codec.short_form("", DType::uint8).value(), json(R"({"level": 3, "checksum": false})"));
  EXPECT_EQ(gzip_codec.short_form("9", DType::uint8).value(), json(R"({"level": 9})"));
  EXPECT_EQ(zlib_codec.short_form("", DType::uint8).value(), json(R"({"level": 1})"));
  for (const std::string_view wrong : {"x", "3x", "23", "3:4", " 3"})
    EXPECT_EQ(code_of(zstd_codec.short_form(wrong, DType::uint8)), ErrorCode::invalid_argument) << wrong;
}

}  // namespace compressors_test
}  // namespace sherd::test::compressors_testing
