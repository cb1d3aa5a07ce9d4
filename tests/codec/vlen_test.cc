// vlen-utf8 and vlen-bytes: what numcodecs wrote, and lengths that lie.
#include <fstream>
#include <sstream>

#include "base/endian.hpp"
#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry vlen_utf8_codec, vlen_bytes_codec;

namespace test {
namespace vlen_test {

std::unique_ptr<ArrayBytesCodec> vlen(const CodecEntry& entry) {
  const Limits limits;
  return entry.array_bytes_codec(spec_of(entry, "{}"), {{DType::string, {1}}, &limits}).value();
}

ChunkType type_of(const CodecEntry& entry, std::size_t count) {
  return {&entry == &vlen_utf8_codec ? DType::string : DType::bytes, {count}};
}

Result<Bytes> write(const CodecEntry& entry, const std::vector<std::string>& items) {
  std::vector<VarBytes> elements;
  for (const std::string& item : items) elements.push_back({item.data(), item.size()});
  Buffer to;
  auto result = vlen(entry)->encode(type_of(entry, items.size()), std::as_bytes(std::span(elements)), to);
  if (!result) return std::move(result).error();
  return Bytes(to.span().begin(), to.span().end());
}

Result<std::vector<std::string>> read(const CodecEntry& entry, const Bytes& stored, std::size_t count) {
  std::vector<VarBytes> elements(count);
  VarBytesArena arena;
  {
    const Bytes copy = stored;  // gone before the elements are looked at
    auto result = vlen(entry)->decode(type_of(entry, count), copy, std::as_writable_bytes(std::span(elements)), &arena);
    if (!result) return std::move(result).error();
  }
  std::vector<std::string> items;
  for (const VarBytes& element : elements) items.emplace_back(element.view());
  return items;
}

TEST(Vlen, NumcodecsBytesAreReadAndReproduced) {
  std::ifstream file(test_data("codec/vlen_golden.json"));
  std::stringstream text;
  text << file.rdbuf();
  const Json document = Json::parse(text.str()).value();
  ASSERT_EQ(document.find("cases")->size(), 2u);
  for (const Json& json : document.find("cases")->elements()) {
    const CodecEntry& entry = json.find("name")->text() == "vlen-utf8" ? vlen_utf8_codec : vlen_bytes_codec;
    std::vector<std::string> items;
    for (const Json& element : json.find("elements")->elements()) {
      const Bytes bytes = from_hex(element.text());
      items.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    const Bytes stored = from_hex(json.find("encoded")->text());
    EXPECT_EQ(write(entry, items).value(), stored);
    EXPECT_EQ(read(entry, stored, items.size()).value(), items);
  }
}

TEST(Vlen, NoElementsAndLargeElementsRoundTrip) {
  for (const CodecEntry* entry : {&vlen_utf8_codec, &vlen_bytes_codec}) {
    for (const std::vector<std::string>& items :
         {std::vector<std::string>(), std::vector<std::string>(1), std::vector<std::string>(5000, "abc"),
          std::vector<std::string>{std::string(1 << 20, 'x'), "", "y"}})
      EXPECT_EQ(read(*entry, write(*entry, items).value(), items.size()).value(), items);
  }
}

TEST(Vlen, EveryTruncationAndEveryTailIsRefused) {
  const std::vector<std::string> items = {"", "abc", "grüße", "x"};
  Bytes stored = write(vlen_utf8_codec, items).value();
  for (std::size_t size = 0; size < stored.size(); ++size) {
    const auto result =
        read(vlen_utf8_codec, Bytes(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(size)), 4);
    ASSERT_FALSE(result.has_value()) << size;
    EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
  }
  stored.push_back(std::byte{0});
  EXPECT_EQ(read(vlen_utf8_codec, stored, 4).error().code(), ErrorCode::corrupt);
}

TEST(Vlen, CountsAndLengthsThatLieAreRefused) {
  const Bytes good = write(vlen_bytes_codec, {"abc", "defg"}).value();
  EXPECT_EQ(read(vlen_bytes_codec, good, 1).error().code(), ErrorCode::corrupt);
  EXPECT_EQ(read(vlen_bytes_codec, good, 3).error().code(), ErrorCode::corrupt);
  for (const std::size_t at : {0, 4, 11}) {
    for (const std::uint32_t value : {5u, 1000u, 0x7fffffffu, 0x80000000u, 0xfffffffcu, 0xffffffffu}) {
      Bytes stored = good;
      store_little(stored.data() + at, value);
      const auto result = read(vlen_bytes_codec, stored, 2);
      ASSERT_FALSE(result.has_value()) << at << ' ' << value;
      EXPECT_EQ(result.error().code(), ErrorCode::corrupt);
    }
  }
}

TEST(Vlen, StringsMustBeValidUtf8) {
  const std::vector<std::string> wrong = {"\x80",
                                          "\xc0\xaf",
                                          "\xc1\x80",
                                          "\xe0\x80\x80",
                                          "\xed\xa0\x80",
                                          "\xf0\x80\x80\x80",
                                          "\xf4\x90\x80\x80",
                                          "\xf5\x80\x80\x80",
                                          "\xff",
                                          "a\xc3",
                                          "12345678\xe2\x82",
                                          "abcdefgh\xc3("};
  const std::vector<std::string> right = {"\x7f",
                                          "\xc2\x80",
                                          "\xe0\xa0\x80",
                                          "\xed\x9f\xbf",
                                          "\xee\x80\x80",
                                          "\xf0\x90\x80\x80",
                                          "\xf4\x8f\xbf\xbf",
                                          "12345678\xe2\x82\xac 12345678",
                                          std::string(1, '\0')};
  for (const std::string& text : wrong) {
    EXPECT_EQ(write(vlen_utf8_codec, {text}).error().code(), ErrorCode::invalid_argument);
    const Bytes stored = write(vlen_bytes_codec, {text}).value();
    EXPECT_EQ(read(vlen_bytes_codec, stored, 1).value(), std::vector<std::string>{text});
    EXPECT_EQ(read(vlen_utf8_codec, stored, 1).error().code(), ErrorCode::corrupt);
  }
  EXPECT_EQ(read(vlen_utf8_codec, write(vlen_utf8_codec, right).value(), right.size()).value(), right);
}

TEST(Vlen, OtherTypesAreRefused) {
  EXPECT_EQ(vlen(vlen_utf8_codec)->check({DType::bytes, {1}}).error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(vlen(vlen_bytes_codec)->check({DType::uint8, {1}}).error().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(vlen(vlen_bytes_codec)->check({DType::bytes, {1}}).has_value());
}

}  // namespace vlen_test
}  // namespace test
}  // namespace sherd
