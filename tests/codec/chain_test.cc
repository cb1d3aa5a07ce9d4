// bytes and transpose, and chains: what a valid chain is, how it runs, and what stored bytes cannot make it do.
#include "codec/chain.hpp"

#include <gmock/gmock.h>

#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry bytes_codec, transpose_codec, zstd_codec, gzip_codec, zlib_codec, crc32c_codec, crc32_codec,
    adler32_codec, fletcher32_codec;
}

namespace sherd::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// array -> array for tests: adds one to every byte; keeps transposes after it from being merged.
class PlusOne final : public ArrayCodec {
 public:
  [[nodiscard]] Result<ChunkType> encoded_type(const ChunkType& in) const override { return in; }
  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return add(from, to, 1);
  }
  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return add(from, to, 255);
  }

 private:
  static Result<void> add(std::span<const std::byte> from, std::span<std::byte> to, unsigned summand) {
    EXPECT_EQ(from.size(), to.size());
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = static_cast<std::byte>(static_cast<unsigned>(from[i]) + summand);
    return {};
  }
};

const CodecEntry plus_one{
    .name = "plus_one",
    .aliases = {},
    .array_codec = [](const CodecSpec&, const CodecContext&) -> Result<std::unique_ptr<ArrayCodec>> {
      return std::make_unique<PlusOne>();
    }};

const CodecEntry* const kTable[] = {&sherd::bytes_codec, &transpose_codec, &zstd_codec,  &gzip_codec,
                                    &zlib_codec,         &crc32c_codec,    &crc32_codec, &adler32_codec,
                                    &plus_one,           &fletcher32_codec};

Result<CodecChain> build(std::string_view list, const ChunkType& type = {DType::uint16, {4, 6}},
                         const Limits& limits = {}) {
  auto specs = parse_codec_list(json(list));
  if (!specs) return std::move(specs).error();
  return CodecChain::build(*specs, kTable, type, limits);
}

Bytes encode(const CodecChain& chain, const Shape& stored, std::span<const std::byte> elements) {
  Buffer to;
  chain.encode(stored, elements, to).value();
  return {to.span().begin(), to.span().end()};
}

Result<Bytes> decode(const CodecChain& chain, const Shape& stored, std::span<const std::byte> encoded,
                     std::size_t size) {
  Bytes elements(size);
  auto done = chain.decode(stored, encoded, elements, nullptr);
  if (!done) return std::move(done).error();
  return elements;
}

constexpr std::string_view kLittle = R"([{"name": "bytes", "configuration": {"endian": "little"}}])";
constexpr std::string_view kBig = R"([{"name": "bytes", "configuration": {"endian": "big"}}])";

const std::string_view kChains[] = {
    kLittle,
    kBig,
    R"([{"name": "endian", "configuration": {"endian": "little"}}, "zstd"])",
    R"([{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 1}}])",
    R"([{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"])",
    R"([{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c", "crc32"])",
    R"([{"name": "bytes", "configuration": {"endian": "little"}}, "zstd", "crc32c"])",
    R"([{"name": "bytes", "configuration": {"endian": "big"}}, "gzip", "adler32", "crc32c", "crc32"])",
    R"([{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c", "zstd"])",
    R"([{"name": "bytes", "configuration": {"endian": "little"}}, "crc32", "zstd", "fletcher32", "gzip", "zlib", "crc32"])",
    R"([{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, {"name": "bytes", "configuration": {"endian": "little"}}, "zstd"])",
    R"(["plus_one", {"name": "bytes", "configuration": {"endian": "little"}}, "zstd"])",
    R"(["plus_one", {"name": "transpose", "configuration": {"order": [2, 0, 1]}}, "plus_one", {"name": "bytes", "configuration": {"endian": "big"}}, "zstd", "crc32c"])",
    R"(["plus_one", {"name": "transpose", "configuration": {"order": [1, 2, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}])",
};

TEST(CodecChain, RoundTripsEveryChain) {
  for (const std::string_view list : kChains) {
    for (const DType& dtype : {DType::uint16, DType::float64, DType::complex64}) {
      for (const Shape& shape : {Shape{3, 5, 7}, Shape{1, 1, 1}, Shape{40, 50, 60}}) {
        const auto chain = build(list, {dtype, shape}).value();
        const Shape stored = chain.stored_shape(shape);
        const Bytes elements = sample(*element_count(shape) * dtype.size());
        const Bytes packed = encode(chain, stored, elements);
        EXPECT_EQ(decode(chain, stored, packed, elements.size()).value(), elements) << list;
        if (const auto size = chain.encoded_size(stored)) {
          EXPECT_EQ(*size, packed.size()) << list;
        }
        EXPECT_EQ(encode(chain, stored, elements), packed) << list;
      }
    }
  }
}

TEST(CodecChain, DamageIsAlwaysDetectedWithAnOuterChecksum) {
  for (const std::string_view list : kChains) {
    if (!list.ends_with(R"("crc32c"])") && !list.ends_with(R"("crc32"])")) continue;
    const Shape shape{4, 5, 6};
    const auto chain = build(list, {DType::uint16, shape}).value();
    const Shape stored = chain.stored_shape(shape);
    const Bytes packed = encode(chain, stored, sample(240));
    for (std::size_t i = 0; i < packed.size(); ++i) {
      Bytes damaged = packed;
      damaged[i] ^= std::byte{16};
      EXPECT_EQ(code_of(decode(chain, stored, damaged, 240)), ErrorCode::corrupt) << list << " byte " << i;
      damaged.resize(i);
      EXPECT_EQ(code_of(decode(chain, stored, damaged, 240)), ErrorCode::corrupt) << list << " cut to " << i;
    }
  }
}

TEST(CodecChain, ChunksThatDecodeShortOrLongAreCorrupt) {
  for (const std::string_view list : kChains) {
    const Shape shape{4, 5, 6};
    const auto chain = build(list, {DType::uint16, shape}).value();
    for (const Shape& other : {Shape{4, 5, 5}, Shape{4, 5, 7}, Shape{40, 50, 70}}) {
      const Bytes packed = encode(chain, chain.stored_shape(other), sample(*element_count(other) * 2));
      EXPECT_EQ(code_of(decode(chain, chain.stored_shape(shape), packed, 240)), ErrorCode::corrupt) << list;
    }
  }
}

TEST(CodecChain, DecodesTheSameInBlocksAsWhole) {
  int streaming = 0;
  for (const std::string_view list : kChains) {
    const Shape shape{40, 50, 60};
    const auto chain = build(list, {DType::float64, shape}).value();
    const Shape stored = chain.stored_shape(shape);
    const Bytes elements = sample(960000);
    Bytes packed = encode(chain, stored, elements);
    for (const std::size_t size : {std::size_t{15}, std::size_t{1000}, std::size_t{131072}, std::size_t{2000000}}) {
      Bytes block(size), all;
      const auto done =
          chain.decode_blocks(stored, packed, block, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
            EXPECT_EQ(offset, all.size());
            EXPECT_EQ(bytes.size() % 8, 0u);
            all.insert(all.end(), bytes.begin(), bytes.end());
            return true;
          });
      if (!done.value()) continue;
      ++streaming;
      EXPECT_EQ(all, elements) << list;
    }
    Bytes block(1000);
    for (const Shape& other : {Shape{39, 50, 60}, Shape{41, 50, 60}}) {
      const auto done = chain.decode_blocks(chain.stored_shape(other), packed, block, [](auto, auto) { return true; });
      EXPECT_TRUE(!done.has_value() ? done.error().code() == ErrorCode::corrupt : !*done) << list;
    }
  }
  EXPECT_EQ(streaming, 9 * 4) << "chains with at most one compressor, checksums outside it; four sizes of block each";
}

TEST(CodecChain, ADecompressionBombBetweenTwoCodecsIsBounded) {
  const auto chain = build(R"([{"name": "bytes"}, "zstd", "gzip"])", {DType::uint8, {1000}}).value();
  const auto gzip = try_bytes_codec(gzip_codec, R"({"level": 9})").value();
  const Bytes bomb = test::encoded(*gzip, Bytes(std::size_t{32} << 20));
  const auto result = decode(chain, {1000}, bomb, 1000);
  EXPECT_EQ(code_of(result), ErrorCode::corrupt);
  EXPECT_THAT(result.error().text(), HasSubstr("gzip: decodes to more than"));
}

TEST(CodecChain, TheLimitOfTheRatioIsNamed) {
  Limits limits;
  limits.decode_ratio = 10;
  const auto chain = build(R"([{"name": "bytes"}, "zstd"])", {DType::uint8, {100000}}, limits).value();
  const Bytes zeros(100000), random = noise(100000);
  const auto refused = decode(chain, {100000}, encode(chain, {100000}, zeros), 100000);
  EXPECT_EQ(code_of(refused), ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("decode_ratio"));
  EXPECT_EQ(decode(chain, {100000}, encode(chain, {100000}, random), 100000).value(), random);
}

TEST(CodecChain, BytesAroundAShardGrowUpToTheirBound) {
  const auto chain = build(R"(["sharding_indexed", "gzip", "crc32c", "zstd"])").value();
  ASSERT_TRUE(chain.sharding());
  EXPECT_TRUE(chain.has_bytes_codecs());
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{3000000}}) {
    for (const Bytes& bytes : {noise(size), Bytes(size)}) {
      Buffer packed, unpacked;
      chain.encode_bytes(bytes, packed).value();
      chain.decode_bytes(packed.span(), size, unpacked).value();
      EXPECT_EQ(Bytes(unpacked.span().begin(), unpacked.span().end()), bytes);
      if (size > 0) {
        EXPECT_EQ(code_of(chain.decode_bytes(packed.span(), size - 1, unpacked)), ErrorCode::unsupported);
      }
    }
  }
}

TEST(CodecChain, ChecksumsAroundAShardAreRemoved) {
  const auto chain = build(R"(["sharding_indexed", "crc32", "crc32c"])").value();
  Buffer packed, unpacked;
  const Bytes bytes = noise(1000);
  chain.encode_bytes(bytes, packed).value();
  EXPECT_EQ(packed.size(), 1008u);
  chain.decode_bytes(packed.span(), 1000, unpacked).value();
  EXPECT_EQ(Bytes(unpacked.span().begin(), unpacked.span().end()), bytes);
  EXPECT_EQ(code_of(chain.decode_bytes(packed.span(), 999, unpacked)), ErrorCode::unsupported);
}

TEST(CodecChain, LeadingTransposesBecomeOnePermutation) {
  const auto chain = build(R"([{"name": "transpose", "configuration": {"order": [2, 0, 1]}},
                               {"name": "transpose", "configuration": {"order": [1, 0, 2]}},
                               {"name": "bytes", "configuration": {"endian": "little"}}])",
                           {DType::uint16, {3, 5, 7}})
                         .value();
  EXPECT_EQ(chain.permutation(), (std::vector<std::size_t>{0, 2, 1}));
  EXPECT_EQ(chain.stored_shape({3, 5, 7}), (Shape{3, 7, 5}));
  EXPECT_FALSE(chain.has_array_codecs());
  EXPECT_EQ(chain.raw_word_size(), 1u);
}

TEST(CodecChain, ATransposeBehindAnotherCodecMovesTheElements) {
  const auto chain = build(R"(["plus_one", {"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes"])",
                           {DType::uint8, {2, 3}})
                         .value();
  EXPECT_EQ(chain.permutation(), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(chain.inner_type({2, 3}).value().shape, (Shape{3, 2}));
  EXPECT_EQ(encode(chain, {2, 3}, from_hex("000102030405")), from_hex("010402050306"));
}

TEST(CodecChain, SaysWhichChunksCanBeReadInParts) {
  EXPECT_EQ(build(kLittle).value().raw_word_size(), 1u);
  EXPECT_EQ(build(kBig).value().raw_word_size(), 2u);
  EXPECT_EQ(build(R"(["bytes", "crc32c"])", {DType::uint8, {4}}).value().raw_word_size(), 0u);
  EXPECT_EQ(build(R"(["plus_one", "bytes"])", {DType::uint8, {4}}).value().raw_word_size(), 0u);
}

TEST(CodecChain, RefusesInvalidCodecLists) {
  const struct {
    std::string_view list, member, message;
    ErrorCode code = ErrorCode::invalid_argument;
  } cases[] = {
      {R"([])", "", "must turn the array into bytes"},
      {R"(["zstd"])", "[0]", "'zstd' works on bytes"},
      {R"([{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "bytes", "configuration": {"endian": "little"}}])",
       "[1]", "second codec"},
      {R"([{"name": "bytes", "configuration": {"endian": "little"}}, "sharding_indexed"])", "[1]", "second codec"},
      {R"(["sharding_indexed", {"name": "transpose", "configuration": {"order": [0, 1]}}])", "[1]", "works on arrays"},
      {R"([{"name": "transpose", "configuration": {"order": [0, 1]}}])", "", "must turn the array into bytes"},
      {R"([{"name": "bytes"}])", "[0].configuration.endian", "missing"},
      {R"([{"name": "bytes", "configuration": {"endian": "middle"}}])", "[0].configuration.endian", "little"},
      {R"([{"name": "bytes", "configuration": {"endian": 1}}])", "[0].configuration.endian", "a string"},
      {R"({"name": "bytes"})", "", "array"},
      {R"([7])", "[0]", "object"},
      {R"([{"configuration": {}}])", "[0]", "name"},
      {R"([{"name": "bytes", "configuration": []}])", "[0].configuration", "object"},
      {R"([{"name": "bytes", "must_understand": 1}])", "[0].must_understand", "true or false"},
      {R"([{"name": "bytes", "colour": 1}])", "[0].colour", "unknown member 'colour'", ErrorCode::unsupported},
      {R"([{"name": "frobnicate", "must_understand": false}])", "[0].name", "unknown codec 'frobnicate'",
       ErrorCode::unsupported},
      {R"(["wavpack"])", "[0].name", "'wavpack' is not supported by this version", ErrorCode::unsupported},
      {R"([{"name": "numcodecs.wavpack", "configuration": {"mode": 3}}])", "[0].name", "not supported",
       ErrorCode::unsupported},
  };
  for (const auto& wrong : cases) {
    const auto chain = build(wrong.list);
    ASSERT_FALSE(chain.has_value()) << wrong.list;
    EXPECT_EQ(chain.error().code(), wrong.code) << wrong.list;
    EXPECT_EQ(chain.error().member(), wrong.member) << wrong.list;
    EXPECT_THAT(chain.error().message(), HasSubstr(wrong.message)) << wrong.list;
  }
}

TEST(CodecChain, ReadsBareStringsAndMustUnderstandAndWritesObjects) {
  const auto specs =
      parse_codec_list(json(R"(["crc32c", {"must_understand": true, "name": "zstd", "configuration": {"level": 1}}])"))
          .value();
  EXPECT_EQ(codec_list_json(specs).dump(), R"([{"name":"crc32c"},{"name":"zstd","configuration":{"level":1}}])");
}

TEST(Transpose, RefusesOrdersThatAreNotPermutations) {
  for (const std::string_view order : {"[0, 0]", "[0]", "[0, 1, 2]", "[0, 2]", "[0, -1]", "[0, 1.0]",
                                       "[0, 18446744073709551615]", "\"f\"", "null", "{}"}) {
    const auto chain =
        build(R"([{"name": "transpose", "configuration": {"order": )" + std::string(order) + R"(}}, "bytes"])",
              {DType::uint8, {2, 3}});
    EXPECT_EQ(code_of(chain), ErrorCode::invalid_argument) << order;
    EXPECT_EQ(chain.error().member(), "[0].configuration.order") << order;
  }
  EXPECT_EQ(code_of(build(R"(["transpose", "bytes"])", {DType::uint8, {2, 3}})), ErrorCode::invalid_argument);
}

// GDAL 3.10 and zarrita wrote these strings.
TEST(Transpose, TheOrdersCAndFOfEarlyDraftsAreReadAndRemarked) {
  const auto permutation = [](std::string_view order) {
    const auto chain =
        build(R"([{"name": "transpose", "configuration": {"order": ")" + std::string(order) + R"("}}, "bytes"])",
              {DType::uint8, {2, 3, 4}})
            .value();
    EXPECT_EQ(chain.remarks().size(), 1u);
    EXPECT_THAT(chain.remarks()[0], HasSubstr("the order \"" + std::string(order) + "\" is that of drafts"));
    return chain.permutation();
  };
  EXPECT_EQ(permutation("C"), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(permutation("F"), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(CodecChain, RemarksNamesThatAreNotTheRegisteredOnes) {
  const auto remarks = [](std::string_view list) {
    const auto chain = build(list, {DType::uint8, {2}}).value();
    return std::vector<std::string>(chain.remarks().begin(), chain.remarks().end());
  };
  EXPECT_THAT(remarks(R"([{"name": "endian", "configuration": {"endian": "little"}}, "zstd"])"),
              ElementsAre("the codec 'endian' is read as 'bytes', its name in new arrays"));
  EXPECT_THAT(remarks(R"(["bytes", {"name": "crc32c", "must_understand": false}])"), ElementsAre());
}

TEST(CodecChain, NamesTheCodecThatOnlyDecodesAtAnyDepth) {
  const CodecEntry old{.name = "old", .aliases = {}, .reads_only = true};
  const CodecEntry* const table[] = {&sherd::bytes_codec, &old};
  const auto checked = [&](std::string_view list) {
    return check_encoders(parse_codec_list(json(list)).value(), table);
  };
  EXPECT_TRUE(checked(R"(["bytes", {"name": "zstd", "configuration": {"level": 1}}, "unknown"])"));
  const struct {
    const char *list, *member;
  } rows[] = {
      {R"(["bytes", "old"])", "[1].name"},
      {R"([{"name": "sharding_indexed", "configuration": {"index_codecs": ["bytes", "old"]}}])",
       "[0].configuration.index_codecs[1].name"},
      {R"(["bytes", {"name": "conditional", "configuration": {"codecs": [{"name": "old"}]}}])",
       "[1].configuration.codecs[0].name"},
      {R"([{"name": "zarrs.optional", "configuration": {"data_codecs": ["bytes", "old"]}}])",
       "[0].configuration.data_codecs[1].name"},
  };
  for (const auto& [list, member] : rows) {
    const auto refused = checked(list);
    ASSERT_EQ(code_of(refused), ErrorCode::unsupported) << list;
    EXPECT_EQ(refused.error().member(), member);
    EXPECT_THAT(refused.error().message(), HasSubstr("chunks of 'old' can be read but not written"));
  }
}

TEST(CodecChain, NamesWhatOtherProgramsHave) {
  const auto message = [](std::string_view name) {
    const auto chain = build(R"(["bytes", ")" + std::string(name) + "\"]", {DType::uint8, {2}});
    EXPECT_EQ(code_of(chain), ErrorCode::unsupported);
    return chain.error().message();
  };
  EXPECT_EQ(message("numcodecs.wavpack"),
            "the codec 'numcodecs.wavpack' is not supported by this version; its id in numcodecs is 'wavpack', of the "
            "Python package wavpack-numcodecs");
  EXPECT_THAT(message("numcodecs.imagecodecs_jpeg2k"), HasSubstr("of the Python package imagecodecs"));
  EXPECT_THAT(message("numcodecs.fill_hdf_strings"), HasSubstr("of the Python package kerchunk"));
  EXPECT_THAT(message("numcodecs.json"), HasSubstr("numcodecs 0.6 replaced it by json2"));
  EXPECT_THAT(message("numcodecs.msgpack"), HasSubstr("numcodecs 0.6 replaced it by msgpack2"));
  EXPECT_THAT(message("numcodecs.307"), HasSubstr("it is a filter of HDF5 by its number"));
  for (const std::string_view name : {"pickle", "numcodecs.pickle"})
    EXPECT_THAT(message(name), HasSubstr("reading a pickle would execute code from the stored data"));
}

TEST(Transpose, HasAShortForm) {
  EXPECT_EQ(transpose_codec.short_form("2,0,1", DType::uint8).value(), json(R"({"order": [2, 0, 1]})"));
  for (const std::string_view wrong : {"2,", ",2", "a", "-1", "1 2"})
    EXPECT_EQ(code_of(transpose_codec.short_form(wrong, DType::uint8)), ErrorCode::invalid_argument) << wrong;
}

TEST(Transpose, MovesElementsOfEverySize) {
  for (const std::uint64_t size : {1, 2, 3, 4, 8, 16, 24}) {
    const DType dtype = DType::raw(size * 8).value();
    const Limits limits;
    const ChunkType type{dtype, {2, 3, 4}};
    const auto codec =
        transpose_codec
            .array_codec(spec_of(transpose_codec, R"({"order": [2, 0, 1]})"), {.in = type, .limits = &limits})
            .value();
    EXPECT_EQ(codec->encoded_type(type).value().shape, (Shape{4, 2, 3}));
    const Bytes from = noise(24 * size);
    Bytes moved(from.size()), back(from.size());
    codec->encode(type, from, moved).value();
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 4; ++k)
          EXPECT_EQ(std::memcmp(&moved[((k * 2 + i) * 3 + j) * size], &from[((i * 3 + j) * 4 + k) * size], size), 0);
    codec->decode(type, moved, back).value();
    EXPECT_EQ(back, from);
  }
}

TEST(Bytes, SwapByteOrderPerComponentAndPerField) {
  const auto field = [](const char* name, const DType& dtype) { return DTypeField{name, dtype}; };
  const DType inner = DType::structure({field("c", DType::uint8), field("d", DType::uint32)}).value();
  const DType outer =
      DType::structure({field("a", DType::uint16), field("b", inner), field("e", DType::bool_)}).value();
  const struct {
    DType dtype;
    std::string_view little, big;
  } cases[] = {
      {DType::uint8, "0102", "0102"},
      {DType::uint16, "01020304", "02010403"},
      {DType::complex64, "0102030405060708", "0403020108070605"},
      {DType::fixed_length_utf32(8).value(), "0102030405060708", "0403020108070605"},
      {DType::raw(24).value(), "010203", "010203"},
      {DType::datetime64("s").value(), "0102030405060708", "0807060504030201"},
      {outer, "0102030405060708", "0201030706050408"},
  };
  for (const auto& c : cases) {
    const Bytes elements = from_hex(c.little);
    const Shape shape{elements.size() / c.dtype.size()};
    for (const bool big : {false, true}) {
      const auto chain = build(big ? kBig : kLittle, {c.dtype, shape}).value();
      const Bytes packed = from_hex(big ? c.big : c.little);
      EXPECT_EQ(encode(chain, shape, elements), packed) << c.dtype.name();
      EXPECT_EQ(decode(chain, shape, packed, elements.size()).value(), elements) << c.dtype.name();
    }
  }
}

TEST(Bytes, NeedAByteOrderOnlyForMultiByteElements) {
  EXPECT_TRUE(build(R"(["bytes"])", {DType::uint8, {4}}).has_value());
  EXPECT_TRUE(build(R"(["bytes"])", {DType::raw(64).value(), {4}}).has_value());
  EXPECT_FALSE(build(R"(["bytes"])", {DType::int16, {4}}).has_value());
  EXPECT_FALSE(build(R"(["bytes"])", {DType::complex128, {4}}).has_value());
  const auto legacy = build(R"(["bytes"])", {DType::structure({{"a", DType::uint16}}).value(), {1}}).value();
  EXPECT_EQ(encode(legacy, {1}, from_hex("0102")), from_hex("0102")) << "structured without endian is little-endian";
  EXPECT_EQ(code_of(build(R"(["bytes"])", {DType::string, {4}})), ErrorCode::invalid_argument);
}

TEST(Bytes, HaveShortForms) {
  EXPECT_EQ(sherd::bytes_codec.short_form("", DType::uint16).value(), json(R"({"endian": "little"})"));
  EXPECT_EQ(sherd::bytes_codec.short_form("big", DType::uint16).value(), json(R"({"endian": "big"})"));
  EXPECT_TRUE(sherd::bytes_codec.short_form("", DType::uint8).value().is_null());
  EXPECT_EQ(code_of(sherd::bytes_codec.short_form("middle", DType::uint8)), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace sherd::test
