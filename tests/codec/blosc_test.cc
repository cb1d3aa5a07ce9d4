// Blosc: all compressors and shuffles, and chunks with false headers.
#include "base/endian.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry blosc_codec, numcodecs_blosc_codec;

namespace test {
namespace blosc_test {

constexpr std::string_view kCompressors[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
constexpr std::string_view kShuffles[] = {"noshuffle", "shuffle", "bitshuffle"};

std::string configuration(std::string_view compressor, std::string_view shuffle, int type_size = 4,
                          int block_size = 0) {
  return R"({"cname": ")" + std::string(compressor) + R"(", "clevel": 5, "shuffle": ")" + std::string(shuffle) +
         R"(", "typesize": )" + std::to_string(type_size) + R"(, "blocksize": )" + std::to_string(block_size) + "}";
}

/// A chunk of several blocks, each split into four streams.
Bytes split_chunk(std::string_view compressor = "blosclz") {
  return encoded(*bytes_codec(blosc_codec, configuration(compressor, "shuffle", 4, 4096)), runs(20000));
}

ErrorCode refusal(const Bytes& stored, std::size_t capacity = 20000) {
  const auto codec = bytes_codec(blosc_codec, configuration("lz4", "shuffle"));
  const auto result = decoded(*codec, stored, capacity);
  EXPECT_FALSE(result.has_value());
  return result.has_value() ? ErrorCode::io : result.error().code();
}

void put_word(Bytes& bytes, std::size_t at, std::uint32_t value) { store_little(bytes.data() + at, value); }
std::uint32_t word(const Bytes& bytes, std::size_t at) { return load_little<std::uint32_t>(bytes.data() + at); }

TEST(Blosc, EveryCompressorAndShuffleRoundTrips) {
  for (const auto compressor : kCompressors) {
    for (const auto shuffle : kShuffles) {
      for (const int type_size : {1, 2, 3, 4, 8, 16, 17, 255, 300}) {
        SCOPED_TRACE(configuration(compressor, shuffle, type_size));
        const auto codec = bytes_codec(blosc_codec, configuration(compressor, shuffle, type_size));
        for (const std::size_t size : {0, 1, 2, 15, 127, 128, 129, 1000, 70001}) expect_round_trip(*codec, runs(size));
        expect_round_trip(*codec, noise(70001));
      }
    }
  }
}

TEST(Blosc, EverySmallSizeRoundTrips) {
  const auto codec = bytes_codec(blosc_codec, configuration("lz4", "bitshuffle", 4, 128));
  for (std::size_t size = 0; size < 700; ++size) ASSERT_NO_FATAL_FAILURE(expect_round_trip(*codec, runs(size)));
}

TEST(Blosc, ALargeChunkHasManyBlocks) {
  const auto codec = bytes_codec(blosc_codec, configuration("zstd", "shuffle", 2));
  expect_round_trip(*codec, runs(5 << 20));
}

/// The bytes that contain a part, and where they begin; nullopt if the whole chunk must be decoded.
std::optional<std::pair<std::uint64_t, Bytes>> part_of(const BytesCodec& codec, const Bytes& stored,
                                                       const BytePart& part) {
  Buffer to;
  const auto begin = codec.decode_part(stored, part, to).value();
  if (!begin) return std::nullopt;
  return std::pair(*begin, Bytes(to.span().begin(), to.span().end()));
}

TEST(Blosc, APartIsDecodedByTheBlocksThatHoldIt) {
  for (const auto compressor : kCompressors) {
    for (const auto shuffle : kShuffles) {
      const auto codec = bytes_codec(blosc_codec, configuration(compressor, shuffle, 4, 4096));
      const Bytes all = runs(20004);
      const Bytes stored = encoded(*codec, all);
      const std::uint64_t block = word(stored, 8);
      for (const auto& [begin, end] : {std::pair<std::uint64_t, std::uint64_t>{0, 1},
                                       {4095, 4097},
                                       {4096, 8192},
                                       {5000, 12289},
                                       {16383, 16384},
                                       {16384, 16385},
                                       {20003, 20004},
                                       {100, 20000}}) {
        SCOPED_TRACE(std::string(compressor) + ' ' + std::string(shuffle) + ' ' + std::to_string(begin));
        const std::uint64_t whole = all.size() / block * block;  // a short last block needs one before it
        const std::uint64_t first = std::min(begin, whole - 1) / block * block;
        const std::uint64_t last = std::min<std::uint64_t>(all.size(), (end + block - 1) / block * block);
        const auto part = part_of(*codec, stored, {begin, end, all.size()});
        ASSERT_EQ(part.has_value(), last - first < all.size());
        if (!part) continue;
        EXPECT_LE(part->first, begin);
        EXPECT_GE(part->first, first);
        EXPECT_EQ(part->first + part->second.size(), last);
        EXPECT_TRUE(std::ranges::equal(part->second, std::span(all).subspan(part->first, part->second.size())));
      }
      EXPECT_FALSE(part_of(*codec, stored, {0, 1, all.size() - 4})) << "the content has another size";
    }
  }
}

TEST(Blosc, APartOfAStoredChunkIsCopied) {
  const auto codec = bytes_codec(blosc_codec, configuration("lz4", "shuffle"));
  const Bytes all = noise(70001);
  const auto part = part_of(*codec, encoded(*codec, all), {1000, 1010, all.size()});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->first, 1000U);
  EXPECT_EQ(part->second, Bytes(all.begin() + 1000, all.begin() + 1010));
}

TEST(Blosc, APartBesideADamagedBlockIsDecodedAndWithItRefused) {
  const auto codec = bytes_codec(blosc_codec, configuration("zstd", "shuffle", 4, 4096));
  Bytes stored = encoded(*codec, runs(20000));
  put_word(stored, word(stored, 16 + 4), 0x7fffffff);  // the length of the second block's first stream
  EXPECT_TRUE(part_of(*codec, stored, {0, 4096, 20000}));
  EXPECT_TRUE(part_of(*codec, stored, {8192, 20000, 20000}));
  Buffer to;
  EXPECT_EQ(codec->decode_part(stored, {0, 4097, 20000}, to).error().code(), ErrorCode::corrupt);
}

TEST(Blosc, APartOfBlocksThatOverlapIsLeftToTheWhole) {
  const auto codec = bytes_codec(blosc_codec, configuration("zstd", "noshuffle", 1, 4096));
  const Bytes block = noise(4096);
  Bytes all = block;
  all.resize(5 * block.size());  // zeros, so that the chunk is hardly longer than the first block
  Bytes stored = encoded(*codec, all);
  for (std::size_t i = 1; i < 5; ++i) put_word(stored, 16 + 4 * i, word(stored, 16));
  EXPECT_FALSE(part_of(*codec, stored, {0, 4 * block.size(), all.size()}));
  EXPECT_TRUE(part_of(*codec, stored, {0, block.size(), all.size()}));
  EXPECT_EQ(decoded(*codec, stored, all.size()).value(), concatenated({block, block, block, block, block}));
}

TEST(Blosc, EveryTruncationAndEveryTailIsRefused) {
  for (const auto compressor : kCompressors)
    expect_exact_end(*bytes_codec(blosc_codec, configuration(compressor, "shuffle", 4, 512)), runs(3000));
}

TEST(Blosc, ADecodedSizeBeyondTheChunkIsNotAllocated) {
  Bytes stored = split_chunk();
  const auto codec = bytes_codec(blosc_codec, configuration("lz4", "shuffle"));
  EXPECT_EQ(decoded(*codec, stored, 19999).value(), std::nullopt);
  for (const std::uint32_t size : {0x7fffffefu, 0x7ffffff0u, 0xffffffffu}) {
    put_word(stored, 4, size);
    EXPECT_EQ(refusal(stored), ErrorCode::corrupt) << size;
  }
}

TEST(Blosc, ADecodedSizeBelowTheBlocksIsRefused) {
  Bytes stored = split_chunk();
  put_word(stored, 4, 19999);
  EXPECT_EQ(refusal(stored), ErrorCode::corrupt);
}

TEST(Blosc, ABlocksizeOfZeroOrBeyondTheChunkIsRefused) {
  for (const std::uint32_t size : {0u, 20001u, 0x7fffffffu, 0x80000000u, 0xffffffffu, 1u}) {
    Bytes stored = split_chunk();
    put_word(stored, 8, size);
    EXPECT_EQ(refusal(stored), ErrorCode::corrupt) << size;
  }
}

TEST(Blosc, ATypesizeThatTheStreamsContradictIsRefused) {
  for (const unsigned size : {0u, 3u, 5u, 255u}) {
    Bytes stored = split_chunk();
    stored[3] = static_cast<std::byte>(size);
    EXPECT_EQ(refusal(stored), ErrorCode::corrupt) << size;
  }
}

TEST(Blosc, AStartOrLengthOutsideTheChunkIsRefused) {
  const Bytes good = split_chunk();
  const std::size_t first_stream = word(good, 16);
  for (const std::uint32_t value :
       {0u, 15u, 0x7ffffffcu, 0x80000000u, 0xffffffffu, static_cast<std::uint32_t>(good.size()),
        static_cast<std::uint32_t>(good.size() - 3)}) {
    Bytes stored = good;
    put_word(stored, 16, value);
    EXPECT_EQ(refusal(stored), ErrorCode::corrupt) << "start " << value;
    stored = good;
    put_word(stored, first_stream, value);
    EXPECT_EQ(refusal(stored), ErrorCode::corrupt) << "length " << value;
  }
}

TEST(Blosc, AnEncodedSizeOtherThanThatOfTheChunkIsRefused) {
  for (const int difference : {-1, 1}) {
    Bytes stored = split_chunk();
    put_word(stored, 12, word(stored, 12) + static_cast<std::uint32_t>(difference));
    EXPECT_EQ(refusal(stored), ErrorCode::corrupt);
  }
  EXPECT_EQ(refusal(Bytes(16)), ErrorCode::unsupported) << "zeros are not a chunk of version 2";
}

TEST(Blosc, AStoredChunkOfAnotherSizeIsRefused) {
  Bytes stored = encoded(*bytes_codec(blosc_codec, configuration("lz4", "shuffle")), noise(1000));
  ASSERT_EQ(std::to_integer<unsigned>(stored[2]) & 2, 2u);
  put_word(stored, 4, 1001);
  EXPECT_EQ(refusal(stored), ErrorCode::corrupt);
  put_word(stored, 4, 999);
  EXPECT_EQ(refusal(stored), ErrorCode::corrupt);
}

TEST(Blosc, VersionsAndCompressorsFromElsewhereAreUnsupported) {
  Bytes stored = split_chunk();
  stored[0] = std::byte{5};
  EXPECT_EQ(refusal(stored), ErrorCode::unsupported);
  stored = split_chunk();
  stored[2] = (stored[2] & std::byte{0x1f}) | std::byte{0xa0};
  EXPECT_EQ(refusal(stored), ErrorCode::unsupported);
}

TEST(Blosc, AMatchWhoseLengthOverflowsIsRefused) {
  // One literal byte, then a match whose length bytes would add up to more than an int holds.
  constexpr std::size_t size = 20 << 20;
  Bytes stored(16 + 4 + 4 + (9 << 20), std::byte{0xff});
  stored[0] = std::byte{2};
  stored[1] = std::byte{1};
  stored[2] = std::byte{0x10};
  stored[3] = std::byte{1};
  put_word(stored, 4, size);
  put_word(stored, 8, size);
  put_word(stored, 12, static_cast<std::uint32_t>(stored.size()));
  put_word(stored, 16, 20);
  put_word(stored, 20, 9 << 20);
  stored[24] = std::byte{0};
  EXPECT_EQ(refusal(stored, size), ErrorCode::corrupt);
}

TEST(Blosc, DamageIsSurvived) {
  for (const auto compressor : kCompressors) {
    for (const auto shuffle : kShuffles) {
      const auto codec = bytes_codec(blosc_codec, configuration(compressor, shuffle, 4, 512));
      survive_damage(*codec, encoded(*codec, runs(3000)), 3000);
    }
  }
}

TEST(Blosc, AConfigurationSaysWhatIsWrongWithIt) {
  const auto member = [](std::string_view text) {
    const auto codec = try_bytes_codec(blosc_codec, text, DType::int32);
    return codec.has_value() ? "" : std::string(to_string(codec.error().code())) + " " + codec.error().member();
  };
  EXPECT_EQ(member(R"({"cname":"lz4","clevel":5,"shuffle":"shuffle","blocksize":0})"),
            "invalid_argument configuration.typesize");
  EXPECT_EQ(member(R"({"cname":"lz4","clevel":5,"shuffle":"noshuffle","blocksize":0})"), "");
  EXPECT_EQ(member(R"({"cname":"lz4","clevel":10,"shuffle":"noshuffle"})"), "invalid_argument configuration.clevel");
  EXPECT_EQ(member(R"({"cname":"lz5","clevel":1,"shuffle":"noshuffle"})"), "invalid_argument configuration.cname");
  // Numbers are numcodecs' own form; no other reader accepts them in Zarr v3.
  for (const std::string_view shuffle : {"\"both\"", "1", "-1", "true", "null"})
    EXPECT_EQ(member(R"({"cname":"lz4","clevel":1,"shuffle":)" + std::string(shuffle) + "}"),
              "invalid_argument configuration.shuffle")
        << shuffle;
  EXPECT_EQ(member(R"({"cname":"lz4","clevel":1,"shuffle":"shuffle","typesize":0})"),
            "invalid_argument configuration.typesize");
  EXPECT_EQ(member(R"({"cname":"lz4","clevel":1,"shuffle":"noshuffle","threads":4})"),
            "unsupported configuration.threads");
  EXPECT_EQ(member(R"({"clevel":1,"shuffle":"noshuffle"})"), "invalid_argument configuration.cname");
}

TEST(Blosc, AcceptsNumcodecsDefaultsAndNumericShuffles) {
  const Bytes bytes = runs(5000);
  const Bytes plain = encoded(*bytes_codec(numcodecs_blosc_codec, "", DType::int32), bytes);
  EXPECT_EQ(plain, encoded(*bytes_codec(blosc_codec, configuration("lz4", "shuffle")), bytes));
  for (int shuffle = 0; shuffle < 3; ++shuffle) {
    const auto codec = bytes_codec(numcodecs_blosc_codec,
                                   R"({"cname":"zstd","shuffle":)" + std::to_string(shuffle) + "}", DType::int32);
    EXPECT_EQ(encoded(*codec, bytes),
              encoded(*bytes_codec(blosc_codec, configuration("zstd", kShuffles[shuffle])), bytes));
  }
  for (const std::string_view shuffle : {"3", "-2", "1.5"})
    EXPECT_FALSE(try_bytes_codec(numcodecs_blosc_codec, R"({"shuffle":)" + std::string(shuffle) + "}").has_value());
  const auto chosen = bytes_codec(numcodecs_blosc_codec, R"({"shuffle":-1})", DType::uint8);
  EXPECT_EQ(encoded(*chosen, bytes), encoded(*bytes_codec(blosc_codec, configuration("lz4", "bitshuffle", 1)), bytes));
}

TEST(Blosc, AShortFormIsCompleted) {
  const Json json = blosc_codec.short_form("lz4:9", DType::float64).value();
  EXPECT_EQ(json, Json::parse(R"({"cname":"lz4","clevel":9,"shuffle":"shuffle","typesize":8,"blocksize":0})").value());
  EXPECT_EQ(blosc_codec.short_form("", DType::uint8).value().find("shuffle")->text(), "bitshuffle");
  EXPECT_FALSE(blosc_codec.short_form("lz4:x", DType::uint8).has_value());
}

}  // namespace blosc_test
}  // namespace test
}  // namespace sherd
