// msgpack2: texts as a list of MessagePack that ends with NumPy's type and the shape.
#include <gmock/gmock.h>

#include "codec/chain.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry msgpack2_codec;

namespace test {
namespace msgpack2_test {

using ::testing::ElementsAre;
using Texts = std::vector<std::string>;

std::unique_ptr<ArrayBytesCodec> codec() {
  static const Limits limits;
  return msgpack2_codec.array_bytes_codec({"msgpack2", json("{}")}, {.in = {DType::string, {1}}, .limits = &limits})
      .value();
}

std::string written(const Texts& texts, const Shape& shape) {
  std::vector<VarBytes> elements;
  for (const std::string& text : texts) elements.push_back({text.data(), text.size()});
  Buffer to;
  codec()->encode({DType::string, shape}, std::as_bytes(std::span(elements)), to).value();
  return {reinterpret_cast<const char*>(to.data()), to.size()};
}
Result<Texts> read(const std::string& stored, const Shape& shape) {
  std::vector<VarBytes> elements(*element_count(shape));
  VarBytesArena arena;
  auto done = codec()->decode({DType::string, shape}, std::as_bytes(std::span(stored)),
                              std::as_writable_bytes(std::span(elements)), &arena);
  if (!done) return std::move(done).error();
  Texts texts;
  for (const VarBytes& element : elements) texts.emplace_back(element.view());
  return texts;
}

TEST(Msgpack2, IsAListOfTheTextsTheTypeAndTheShape) {
  EXPECT_EQ(written({"ab", "c"}, {2}),
            "\x94\xa2"
            "ab\xa1"
            "c\xa2|O\x91\x02");
  EXPECT_EQ(written({"a", "b"}, {2, 1}),
            "\x94\x91\xa1"
            "a\x91\xa1"
            "b\xa2|O\x92\x02\x01");
}

TEST(Msgpack2, ReadsWhatItWritesForEveryLengthOfHead) {
  for (const std::size_t length : {0, 31, 32, 255, 256, 65535, 65536}) {
    const Texts texts{std::string(length, 'x'), "y"};
    EXPECT_EQ(read(written(texts, {2}), {2}).value(), texts) << length;
  }
  for (const std::uint64_t count : {13U, 14U, 127U, 128U, 65534U}) {
    const Texts texts(count, "z");
    EXPECT_EQ(read(written(texts, {count}), {count}).value(), texts) << count;
  }
}

TEST(Msgpack2, NilAndZeroAreEmptyTexts) {
  EXPECT_THAT(read("\x94\xc0\xa1"
                   "c\xa2|O\x91\x02",
                   {2})
                  .value(),
              ElementsAre("", "c"));
  EXPECT_THAT(read(std::string("\x94\0\xa1"
                               "c\xa2|O\x91\x02",
                               9),
                   {2})
                  .value(),
              ElementsAre("", "c"));
}

TEST(Msgpack2, DamagedBytesAreCorruptWhereverTheyEnd) {
  const std::string stored = written({"ab", "c"}, {2});
  for (std::size_t size = 0; size < stored.size(); ++size)
    EXPECT_EQ(code_of(read(stored.substr(0, size), {2})), ErrorCode::corrupt) << size;
  EXPECT_EQ(code_of(read(stored + "x", {2})), ErrorCode::corrupt);
  EXPECT_EQ(code_of(read(stored, {3})), ErrorCode::corrupt) << "another shape";
  EXPECT_EQ(code_of(read("\x94\xa1\xff\xa1"
                         "c\xa2|O\x91\x02",
                         {2})),
            ErrorCode::corrupt)
      << "not UTF-8";
  EXPECT_EQ(code_of(read("\x94\xc2\xa1"
                         "c\xa2|O\x91\x02",
                         {2})),
            ErrorCode::unsupported)
      << "false is not a text";
}

TEST(Msgpack2, IsForArraysOfTextsThatHaveDimensions) {
  EXPECT_TRUE(codec()->check({DType::string, {2}}));
  EXPECT_EQ(code_of(codec()->check({DType::string, {}})), ErrorCode::unsupported);
  EXPECT_EQ(code_of(codec()->check({DType::uint8, {2}})), ErrorCode::invalid_argument);
}

}  // namespace msgpack2_test
}  // namespace test
}  // namespace sherd
