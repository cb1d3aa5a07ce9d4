// zstd, gzip and zlib: round trips, other writers' bytes, streaming, and protection against hostile bytes.
#include <gmock/gmock.h>

#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry zstd_codec, gzip_codec, gzip_member_codec, zlib_codec, crc32c_codec, crc32_codec, adler32_codec,
    fletcher32_codec, numcodecs_zstd_codec, numcodecs_gzip_codec, numcodecs_crc32c_codec;
}

namespace sherd::test {
namespace {

using ::testing::HasSubstr;

const CodecEntry* const kTable[] = {
    &zstd_codec,    &gzip_codec,       &zlib_codec,           &crc32c_codec,         &crc32_codec,
    &adler32_codec, &fletcher32_codec, &numcodecs_zstd_codec, &numcodecs_gzip_codec, &numcodecs_crc32c_codec};

struct Case {
  const CodecEntry* entry;
  std::string_view configuration;
};
const Case kCompressors[] = {{&zstd_codec, R"({"level": 3, "checksum": true})"},
                             {&zstd_codec, R"({"level": -131072, "checksum": true})"},
                             {&zstd_codec, R"({"level": 19, "checksum": true})"},
                             {&gzip_codec, R"({"level": 0})"},
                             {&gzip_codec, R"({"level": 1})"},
                             {&gzip_codec, R"({"level": 2})"},
                             {&gzip_codec, R"({"level": 3})"},
                             {&gzip_codec, R"({"level": 5})"},
                             {&gzip_codec, R"({"level": 9})"},
                             {&zlib_codec, R"({"level": 1})"},
                             {&zlib_codec, R"({"level": -1})"}};

std::string name_of(const Case& c) { return std::string(c.entry->name) + " " + std::string(c.configuration); }

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

TEST(Gzip, AWrongChecksumOrLengthIsCorrupt) {
  const auto codec = try_bytes_codec(gzip_codec).value();
  const Bytes bytes = sample(500);
  const Bytes packed = encoded(*codec, bytes);
  for (std::size_t from_end = 1; from_end <= 8; ++from_end) {
    Bytes damaged = packed;
    damaged[packed.size() - from_end] ^= std::byte{4};
    EXPECT_EQ(code_of(decoded(*codec, damaged, 500)), ErrorCode::corrupt) << from_end;
    EXPECT_EQ(code_of(decoded_in_blocks(*codec, damaged, 64, 500)), ErrorCode::corrupt) << from_end;
  }
}

TEST(Gzip, InThePrecomputedFormatIsASingleMember) {
  const auto codec = try_bytes_codec(gzip_member_codec).value();
  const auto any_number = try_bytes_codec(gzip_codec).value();
  const Bytes bytes = sample(500);
  const Bytes packed = encoded(*codec, bytes);
  EXPECT_EQ(packed, encoded(*any_number, bytes));
  EXPECT_EQ(decoded(*codec, packed, 500).value(), bytes);
  EXPECT_EQ(decoded_in_blocks(*codec, packed, 64, 500).value(), bytes);
  const Bytes nothing = encoded(*codec, {});
  for (const Bytes& more : {packed, nothing, Bytes(1), Bytes(8)}) {
    const Bytes longer = concatenated({packed, more});
    EXPECT_EQ(code_of(decoded(*codec, longer, 2000)), ErrorCode::corrupt) << more.size();
    EXPECT_EQ(code_of(decoded_in_blocks(*codec, longer, 64, 2000)), ErrorCode::corrupt) << more.size();
  }
  EXPECT_TRUE(decoded(*any_number, concatenated({packed, nothing}), 2000).has_value());
}

TEST(Gzip, WritesNoTimeAndNoName) {
  for (const std::string_view level : {R"({"level": 1})", R"({"level": 6})"}) {
    const Bytes packed = encoded(*try_bytes_codec(gzip_codec, level).value(), sample(500));
    const Bytes head(packed.begin(), packed.begin() + 8);
    EXPECT_EQ(head, from_hex("1f8b080000000000")) << level;
  }
}

TEST(Deflate, ABombIsCutOffAtTheExpectedSize) {
  for (const CodecEntry* entry : {&gzip_codec, &zlib_codec}) {
    const auto codec = try_bytes_codec(*entry, R"({"level": 9})").value();
    const Bytes packed = encoded(*codec, Bytes(std::size_t{64} << 20));
    EXPECT_EQ(decoded(*codec, packed, 4096).value(), std::nullopt);
    EXPECT_EQ(code_of(decoded_in_blocks(*codec, packed, 4096, 5000)), ErrorCode::corrupt);
    EXPECT_LE((std::uint64_t{64} << 20) / packed.size(), codec->max_ratio());
  }
}

TEST(Zlib, ADictionaryIsRefused) {
  const auto codec = try_bytes_codec(zlib_codec).value();
  const Bytes packed = from_hex("78bb000000010300000000 01");
  EXPECT_FALSE(decoded(*codec, packed, 10).has_value());
  EXPECT_FALSE(decoded_in_blocks(*codec, packed, 10, 10).has_value());
}

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

}  // namespace
}  // namespace sherd::test
