// categorize, json2, msgpack2 and vlen-array: what numcodecs wrote (tests/data/codec/make_text_codecs.py), and bytes
// that lie.
#include <gmock/gmock.h>

#include <random>

#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry categorize_codec, json2_codec, msgpack2_codec, vlen_array_codec;

namespace test {
namespace text_codecs_test {

using ::testing::HasSubstr;

constexpr const CodecEntry* kTable[] = {&categorize_codec, &json2_codec, &msgpack2_codec, &vlen_array_codec};
constexpr std::string_view kColours = R"({"labels": ["red", "green"], "dtype": "|O", "astype": "|u1"})";

struct Codec {
  std::unique_ptr<ArrayBytesCodec> codec;
  ChunkType type;

  [[nodiscard]] Result<Bytes> write(const std::vector<std::string>& texts) const {
    std::vector<VarBytes> elements;
    for (const std::string& text : texts) elements.push_back({text.data(), text.size()});
    Buffer to;
    auto result = codec->encode(type, std::as_bytes(std::span(elements)), to);
    if (!result) return std::move(result).error();
    return Bytes(to.span().begin(), to.span().end());
  }
  [[nodiscard]] Result<std::vector<std::string>> read(const Bytes& stored) const {
    std::vector<VarBytes> elements(element_count(type.shape).value());
    VarBytesArena arena;
    {
      const Bytes copy = stored;  // gone before the elements are looked at
      auto result = codec->decode(type, copy, std::as_writable_bytes(std::span(elements)), &arena);
      if (!result) return std::move(result).error();
    }
    std::vector<std::string> texts;
    for (const VarBytes& element : elements) texts.emplace_back(element.view());
    return texts;
  }
};

Result<Codec> try_codec(const CodecEntry& entry, const Json& configuration, const ChunkType& type) {
  static const Limits limits;
  auto codec = entry.array_bytes_codec({std::string(entry.name), configuration}, {.in = type, .limits = &limits});
  if (!codec) return std::move(codec).error();
  if (auto checked = (*codec)->check(type); !checked) return std::move(checked).error();
  return Codec{std::move(*codec), type};
}

Codec codec_of(const CodecEntry& entry, std::string_view configuration, Shape shape,
               const DType& dtype = DType::string) {
  return try_codec(entry, json(configuration), {dtype, std::move(shape)}).value();
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Json golden() {
  std::ifstream file(test_data("codec/text_codecs.json"));
  std::stringstream text;
  text << file.rdbuf();
  return json(text.str());
}

TEST(TextCodecs, WhatNumcodecsWroteIsRead) {
  const Json document = golden();
  ASSERT_GT(document.find("cases")->size(), 12u);
  for (const Json& row : document.find("cases")->elements()) {
    SCOPED_TRACE(row.dump());
    const CodecEntry* entry = find_codec(kTable, row.find("name")->text());
    ASSERT_NE(entry, nullptr);
    ChunkType type{DType::string, {}};
    for (const Json& extent : row.find("shape")->elements()) type.shape.push_back(*extent.as_uint());
    const Codec codec = try_codec(*entry, *row.find("configuration"), type).value();
    std::vector<std::string> texts;
    for (const Json& text : row.find("texts")->elements()) texts.push_back(text.text());
    const Bytes stored = from_hex(row.find("encoded")->text());
    EXPECT_EQ(codec.read(stored).value(), texts);
    const Bytes own = codec.write(texts).value();
    EXPECT_EQ(codec.read(own).value(), texts);
    if (entry != &json2_codec) {  // JSON has more than one spelling
      EXPECT_EQ(own, stored);
    }
  }
}

TEST(TextCodecs, InnerArraysOfVlenArrayAreTheirBytes) {
  const Bytes stored = from_hex(golden().find("vlen_array")->text());
  const Codec codec = codec_of(vlen_array_codec, R"({"dtype": "<i4"})", {2}, DType::bytes);
  const std::vector<std::string> arrays = {std::string("\1\0\0\0\2\0\0\0", 8), ""};
  EXPECT_EQ(codec.read(stored).value(), arrays);
  EXPECT_EQ(codec.write(arrays).value(), stored);
  // github:zarrs/zarrs: vlen_v2 is these bytes for texts too.
  EXPECT_EQ(find_codec(kTable, "zarrs.vlen_v2"), &vlen_array_codec);
  const Codec texts = codec_of(vlen_array_codec, "{}", {1});
  EXPECT_EQ(texts.read(texts.write({"grüße"}).value()).value(), std::vector<std::string>{"grüße"});
}

TEST(TextCodecs, BytesThatLieAreRefused) {
  const std::pair<const CodecEntry*, std::string> rows[] = {
      {&json2_codec, R"(["a","b","|O",[3]])"},
      {&json2_codec, R"(["a","|O",[2]])"},
      {&json2_codec, R"(["a","b","c","|O",[2]])"},
      {&json2_codec, R"([["a","b"],"|O",[2]])"},
      {&json2_codec, R"({"a": "b"})"},
      {&json2_codec, R"([])"},
      {&json2_codec, R"(["a","b","|O",[2]] x)"},
      {&json2_codec, ""},
      {&json2_codec, "[[[[[[[[[[[["},
      {&msgpack2_codec, std::string("\x94\xa1"
                                    "a\xa1"
                                    "b\xa2|O\x91\x03",
                                    10)},
      {&msgpack2_codec, std::string("\xdd\xff\xff\xff\xff", 5)},
      {&msgpack2_codec, std::string("\x94\xdb\xff\xff\xff\xff", 6)},
      {&msgpack2_codec, std::string("\x94\xa1\xff\xa1"
                                    "b\xa2|O\x91\x02",
                                    10)},
      {&msgpack2_codec, std::string("\x94\xa1"
                                    "a\xa1"
                                    "b\xa2|O\x91\x02\x02",
                                    11)},
      {&msgpack2_codec, ""}};
  for (const auto& [entry, text] : rows) {
    const auto read = codec_of(*entry, "{}", {2}).read(bytes_of(text));
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_NE(read.error().code(), ErrorCode::unavailable) << text;
  }
  EXPECT_EQ(code_of(codec_of(json2_codec, "{}", {2}).read(bytes_of(R"(["a",1,"|O",[2]])"))), ErrorCode::unsupported);
  EXPECT_EQ(code_of(codec_of(json2_codec, "{}", {1}).read(bytes_of(R"([{"a":[1,2,3,4,5,6,7,8]},"|O",[1]])"))),
            ErrorCode::unsupported);
  EXPECT_EQ(code_of(codec_of(msgpack2_codec, "{}", {1}).read(from_hex("9301a27c4f9101"))), ErrorCode::unsupported);
  const Codec colours = codec_of(categorize_codec, kColours, {2});
  EXPECT_EQ(code_of(colours.read(from_hex("0103"))), ErrorCode::corrupt) << "a number without a label";
  EXPECT_EQ(code_of(colours.read(from_hex("01"))), ErrorCode::corrupt);
  EXPECT_EQ(code_of(colours.read(from_hex("010202"))), ErrorCode::corrupt);
}

TEST(TextCodecs, FillersOfZarrPythonAreEmptyTexts) {
  const std::vector<std::string> texts = {"a", "", ""};
  EXPECT_EQ(codec_of(json2_codec, "{}", {3}).read(bytes_of(R"(["a",0,null,"|O",[3]])")).value(), texts);
  EXPECT_EQ(codec_of(msgpack2_codec, "{}", {3}).read(from_hex("95a16100c0a27c4f9103")).value(), texts);
}

TEST(TextCodecs, DamageIsRefusedOrDecodesToTexts) {
  std::mt19937 random(11);
  const std::vector<std::string> texts = {"", "one", "two", std::string(40, 'x')};
  for (const CodecEntry* entry : {&json2_codec, &msgpack2_codec, &vlen_array_codec}) {
    const Codec codec = codec_of(*entry, "{}", {2, 2});
    const Bytes stored = codec.write(texts).value();
    for (int round = 0; round < 2000; ++round) {
      Bytes damaged = stored;
      for (unsigned flips = 1 + random() % 4; flips > 0; --flips)
        damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
      if (random() % 4 == 0) damaged.resize(random() % damaged.size());
      const auto read = codec.read(damaged);
      if (read.has_value()) {
        EXPECT_EQ(read->size(), 4u);
      }
    }
  }
}

TEST(Categorize, AcceptsTextsOfFixedLengthToo) {
  const ChunkType type{DType::fixed_length_utf32(20).value(), {3}};
  const Codec codec = try_codec(categorize_codec, json(kColours), type).value();
  Bytes elements(60);
  VarBytesArena arena;
  ASSERT_TRUE(codec.codec->decode(type, from_hex("020001"), elements, &arena).has_value());
  EXPECT_EQ(elements[0], std::byte{'g'});
  EXPECT_EQ(elements[20], std::byte{0});
  EXPECT_EQ(elements[40], std::byte{'r'});
  Buffer to;
  ASSERT_TRUE(codec.codec->encode(type, elements, to).has_value());
  EXPECT_EQ(Bytes(to.span().begin(), to.span().end()), from_hex("020001"));
}

TEST(Categorize, RefusesTextsWithoutALabelAndLabelsThatDoNotFit) {
  const Codec codec = codec_of(categorize_codec, kColours, {2});
  const auto refused = codec.write({"red", "blue"});
  EXPECT_EQ(code_of(refused), ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message(), HasSubstr("element 1 is not one of the 2 labels"));
  const auto member = [](std::string_view configuration, const DType& dtype) {
    const auto made = try_codec(categorize_codec, json(configuration), {dtype, {2}});
    return made.has_value() ? "" : made.error().member();
  };
  std::string many = "{\"labels\": [\"\"";
  for (int i = 0; i < 255; ++i) many += ",\"" + std::to_string(i) + "\"";
  EXPECT_EQ(member(many + "]}", DType::string), "configuration.labels") << "256 labels in a byte";
  EXPECT_EQ(member(many + R"(], "astype": "<u2"})", DType::string), "");
  EXPECT_EQ(member(R"({"labels": [1]})", DType::string), "configuration.labels[0]");
  EXPECT_EQ(member(R"({"labels": ["too long"]})", DType::fixed_length_utf32(8).value()), "configuration.labels[0]");
  EXPECT_EQ(member("{}", DType::string), "configuration.labels");
  EXPECT_EQ(member(R"({"labels": [], "astype": "<f4"})", DType::string), "configuration.astype");
  EXPECT_FALSE(try_codec(categorize_codec, json(kColours), {DType::int8, {2}}).has_value());
}

TEST(TextCodecs, RefuseElementsThatAreNotTexts) {
  for (const CodecEntry* entry : {&json2_codec, &msgpack2_codec}) {
    EXPECT_FALSE(try_codec(*entry, json("{}"), {DType::bytes, {2}}).has_value());
    EXPECT_FALSE(try_codec(*entry, json(R"({"colour": 1})"), {DType::string, {2}}).has_value());
  }
  EXPECT_EQ(code_of(try_codec(json2_codec, json(R"({"encoding": "utf-16"})"), {DType::string, {2}})),
            ErrorCode::unsupported);
  EXPECT_FALSE(try_codec(msgpack2_codec, json("{}"), {DType::string, {}}).has_value());
}

}  // namespace text_codecs_test
}  // namespace test
}  // namespace sherd
