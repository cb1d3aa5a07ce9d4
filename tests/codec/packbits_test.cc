// packbits against a reader that follows the specification bit by bit.
#include <algorithm>

#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry packbits_codec, numcodecs_packbits_codec;

namespace test {
namespace packbits_test {

std::unique_ptr<ArrayBytesCodec> packbits(std::string_view configuration) {
  const Limits limits;
  return packbits_codec.array_bytes_codec(spec_of(packbits_codec, configuration), {{DType::uint8, {1}}, &limits})
      .value();
}

Bytes packed(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& elements) {
  Buffer to;
  EXPECT_TRUE(codec.encode(type, elements, to).has_value());
  EXPECT_EQ(codec.encoded_size(type), to.size());
  return {to.span().begin(), to.span().end()};
}

Result<Bytes> unpacked(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& stored, std::size_t size) {
  Bytes elements(size, std::byte{0xaa});
  auto result = codec.decode(type, stored, elements, nullptr);
  if (!result) return std::move(result).error();
  return elements;
}

bool bit_at(const Bytes& bytes, std::size_t bit) {
  return (std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8) & 1u) != 0;
}

/// The specification, implemented bit by bit, for little-endian words.
Bytes by_the_book(const Bytes& words, std::size_t word_bits, std::size_t first, std::size_t last) {
  Bytes result;
  std::size_t at = 0;
  for (std::size_t word = 0; word < words.size() * 8 / word_bits; ++word) {
    for (std::size_t bit = first; bit <= last; ++bit, ++at) {
      if (at % 8 == 0) result.push_back(std::byte{0});
      if (bit_at(words, word * word_bits + bit)) result.back() |= static_cast<std::byte>(1u << (at % 8));
    }
  }
  return result;
}

TEST(Packbits, BooleansTakeOneBit) {
  for (const std::size_t count : {0, 1, 7, 8, 9, 16, 1001}) {
    Bytes flags = noise(count);
    for (std::byte& flag : flags) flag &= std::byte{1};
    Bytes expected((count + 7) / 8);
    for (std::size_t i = 0; i < count; ++i) expected[i / 8] |= flags[i] << (i % 8);
    const ChunkType type{DType::bool_, {count}};
    const auto codec = packbits("");
    EXPECT_EQ(packed(*codec, type, flags), expected);
    EXPECT_EQ(unpacked(*codec, type, expected, count).value(), flags);
  }
}

TEST(Packbits, NumbersOfFewBitsTakeNoMore) {
  struct Row {
    DType dtype;
    const char *elements, *stored;
  };
  const Row rows[] = {{DType::int4, "fff80703", "8f37"},
                      {DType::uint4, "0f080703", "8f37"},
                      {DType::int2, "fffe0100ff", "1b03"},
                      {DType::uint2, "0302010003", "1b03"},
                      {DType::float4_e2m1fn, "0f0807", "8f07"},
                      {DType::float6_e3m2fn, "3f200105", "3f1814"},
                      {DType::complex_float4_e2m1fn, "0f080703", "8f37"},
                      {DType::float8_e4m3, "ff8001", "ff8001"}};
  for (const Row& row : rows) {
    const Bytes elements = from_hex(row.elements);
    const ChunkType type{row.dtype, {elements.size() / row.dtype.size()}};
    const auto codec = packbits("");
    EXPECT_EQ(packed(*codec, type, elements), from_hex(row.stored)) << row.dtype.name();
    EXPECT_EQ(unpacked(*codec, type, from_hex(row.stored), elements.size()).value(), elements) << row.dtype.name();
  }
  EXPECT_EQ(packbits(R"({"last_bit": 4})")->check({DType::int4, {1}}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(packbits("")->check({*DType::optional(DType::int4), {1}}).error().code(), ErrorCode::unsupported);
}

TEST(Packbits, KeepsTheBitsBetweenFirstAndLastOfEveryType) {
  const DType types[] = {DType::uint8,   DType::int8,    DType::uint16,   DType::int16,
                         DType::uint32,  DType::int32,   DType::uint64,   DType::int64,
                         DType::float32, DType::float64, DType::bfloat16, DType::complex64};
  for (const DType& dtype : types) {
    const std::size_t bits = 8 * dtype.word_size();
    for (std::size_t first = 0; first < bits; first += 3) {
      for (std::size_t last = first; last < bits; last += 5) {
        SCOPED_TRACE(dtype.name() + " " + std::to_string(first) + " " + std::to_string(last));
        const auto codec =
            packbits(R"({"first_bit":)" + std::to_string(first) + R"(,"last_bit":)" + std::to_string(last) + "}");
        const ChunkType type{dtype, {13}};
        const Bytes words = noise(13 * dtype.size());
        const Bytes stored = packed(*codec, type, words);
        ASSERT_EQ(stored, by_the_book(words, bits, first, last));
        const Bytes read = unpacked(*codec, type, stored, words.size()).value();
        ASSERT_EQ(packed(*codec, type, read), stored);
      }
    }
  }
}

TEST(Packbits, SignsAreCarriedToTheTop) {
  const auto codec = packbits(R"({"last_bit": 3})");
  const ChunkType type{DType::int16, {4}};
  const std::int16_t values[] = {-8, 7, -1, 0};
  const auto span = std::as_bytes(std::span(values));
  const Bytes elements(span.begin(), span.end());
  EXPECT_EQ(unpacked(*codec, type, packed(*codec, type, elements), elements.size()).value(), elements);
  const std::uint16_t kept[] = {8, 7, 15, 0};
  const auto unsigned_span = std::as_bytes(std::span(kept));
  EXPECT_EQ(unpacked(*codec, {DType::uint16, {4}}, packed(*codec, type, elements), 8).value(),
            Bytes(unsigned_span.begin(), unsigned_span.end()));
}

TEST(Packbits, ThePaddingCountIsStoredAsConfigured) {
  const ChunkType type{DType::bool_, {3}};
  const Bytes flags = {std::byte{1}, std::byte{0}, std::byte{1}};
  const Bytes first = {std::byte{5}, std::byte{5}};
  EXPECT_EQ(packed(*packbits(R"({"padding_encoding":"none"})"), type, flags), Bytes{std::byte{5}});
  EXPECT_EQ(packed(*packbits(R"({"padding_encoding":"first_byte"})"), type, flags), first);
  const ChunkType four{DType::bool_, {4}};
  const Bytes more = {std::byte{1}, std::byte{0}, std::byte{1}, std::byte{1}};
  const Bytes last = {std::byte{0x0d}, std::byte{4}};
  EXPECT_EQ(packed(*packbits(R"({"padding_encoding":"last_byte"})"), four, more), last);
  EXPECT_EQ(unpacked(*packbits(R"({"padding_encoding":"last_byte"})"), four, last, 4).value(), more);
  EXPECT_EQ(unpacked(*packbits(R"({"padding_encoding":"first_byte"})"), four, last, 4).error().code(),
            ErrorCode::corrupt);
}

TEST(Packbits, WrongSizesAreRefused) {
  const auto codec = packbits(R"({"padding_encoding":"first_byte","last_bit":6})");
  const ChunkType type{DType::uint8, {9}};
  const Bytes stored = packed(*codec, type, Bytes(9));
  for (std::size_t size = 0; size < stored.size() + 3; ++size) {
    if (size == stored.size()) continue;
    Bytes other = stored;
    other.resize(size);
    const auto result = unpacked(*codec, type, other, 9);
    ASSERT_FALSE(result.has_value()) << size;
    EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
  }
}

TEST(Packbits, ThePaddingByteIsOmittedIfAllBitsAreKept) {
  const auto codec = packbits(R"({"padding_encoding":"first_byte"})");
  const ChunkType type{DType::uint16, {5}};
  const Bytes words = noise(10);
  EXPECT_EQ(packed(*codec, type, words).size(), 11u);
  EXPECT_EQ(unpacked(*codec, type, words, 10).value(), words);
}

TEST(Packbits, BitsAndTypesHaveBounds) {
  EXPECT_EQ(packbits(R"({"last_bit":8})")->check({DType::uint8, {1}}).error().member(), "configuration.last_bit");
  EXPECT_EQ(packbits(R"({"first_bit":1})")->check({DType::bool_, {1}}).error().member(), "configuration.first_bit");
  EXPECT_EQ(packbits(R"({"first_bit":3,"last_bit":2})")->check({DType::uint8, {1}}).error().member(),
            "configuration.first_bit");
  EXPECT_EQ(packbits("")->check({DType::string, {1}}).error().code(), ErrorCode::unsupported);
  EXPECT_TRUE(packbits(R"({"padding_encoding":"none","first_bit":null,"last_bit":null})")
                  ->check({DType::int64, {1}})
                  .has_value());
  const Limits limits;
  const auto made = packbits_codec.array_bytes_codec(spec_of(packbits_codec, R"({"padding_encoding":"start_byte"})"),
                                                     {{DType::bool_, {1}}, &limits});
  EXPECT_EQ(made.error().member(), "configuration.padding_encoding");
}

TEST(NumcodecsPackbits, APaddingThatDoesNotFitTheChunkIsCorrupt) {
  const Limits limits;
  const ChunkType type{DType::bool_, {3, 3}};
  const auto codec =
      numcodecs_packbits_codec.array_codec(spec_of(numcodecs_packbits_codec, "{}"), {.in = type, .limits = &limits})
          .value();
  EXPECT_EQ(codec->encoded_type(type).value().shape, Shape{3});
  EXPECT_FALSE(codec->encoded_type({DType::uint8, {9}}).has_value());
  Bytes read(9);
  EXPECT_TRUE(codec->decode(type, from_hex("07ff80"), read).has_value());
  EXPECT_EQ(read, Bytes(9, std::byte{1}));
  for (const std::string_view stored : {"00ff80", "08ff80", "ffff80"})
    EXPECT_EQ(code_of(codec->decode(type, from_hex(stored), read)), ErrorCode::corrupt) << stored;
  Bytes fill(1, std::byte{9});
  EXPECT_TRUE(codec->encode_fill(type, from_hex("01"), fill).has_value());
  EXPECT_EQ(fill, from_hex("00"));
}

}  // namespace packbits_test
}  // namespace test
}  // namespace sherd
