// gzip and zlib: what surrounds deflate is verified, and is the same every time.
#include "tests/codec/compressors_testing.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace sherd::test::compressors_testing {
namespace deflate_test {

using ::testing::HasSubstr;

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

/// Encodes in a new thread, which makes its encoder in memory where these words were.
Bytes encoded_after(std::uint16_t word, const BytesCodec& codec, const Bytes& bytes) {
  Bytes packed;
  std::thread([&] {
    // Only the second one is from the heap, which then has more of it than an encoder needs.
    for (int i = 0; i < 2; ++i) const std::vector<std::uint16_t> used(std::size_t{512} << 10, word);
    packed = encoded(codec, bytes);
  }).join();
  return packed;
}

// ISA-L 2.30 does not set all members of a stream, so the window was as short as what was there before.
TEST(Deflate, EncodesTheSameWhateverWasInTheMemory) {
  const Bytes once = sample(1000);
  const Bytes bytes = concatenated({once, once});
  for (const CodecEntry* entry : {&gzip_codec, &zlib_codec}) {
    for (const std::string_view level : {R"({"level": 1})", R"({"level": 2})", R"({"level": 3})"}) {
      const auto codec = try_bytes_codec(*entry, level).value();
      const Bytes packed = encoded_after(0, *codec, bytes);
      for (std::uint16_t word = 1; word < 16; ++word) EXPECT_EQ(encoded_after(word, *codec, bytes), packed) << word;
    }
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

}  // namespace deflate_test
}  // namespace sherd::test::compressors_testing
