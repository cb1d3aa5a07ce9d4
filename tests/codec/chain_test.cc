// bytes and transpose, and chains: what a valid chain is, and which names it is read by.
#include "tests/codec/chain_testing.hpp"

#include <gmock/gmock.h>

namespace sherd::test::chain_testing {
namespace chain_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace chain_test
}  // namespace sherd::test::chain_testing
