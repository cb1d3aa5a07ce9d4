// Large chunks are encoded in steps, between which a call can be interrupted.
#include <blosc.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/pool.hpp"
#include "base/try.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry zstd_codec, bz2_codec, lzma_codec, gzip_codec, gzip_member_codec, zlib_codec, blosc_codec;
}

namespace sherd::test {
namespace interrupt_test {

Bytes noise(std::size_t size) {
  std::mt19937 random(1);
  Bytes bytes(size);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random() % 64); });
  return bytes;
}

/// Encodes one chunk like a call; `polls` counts how often it was asked whether to continue.
Result<std::size_t> encode_in_call(const BytesCodec& codec, const Bytes& chunk, int interrupt_at, int& polls) {
  Bytes to(codec.max_encoded_size(chunk.size()));
  std::size_t size = 0;
  const Config config{.threads = 1, .interrupted = [&] { return ++polls == interrupt_at; }};
  SHERD_TRY(parallel_for(1, config, [&](std::size_t) -> Result<void> {
    SHERD_TRY(stored, codec.encode(chunk, to));
    size = stored;
    return {};
  }));
  return size;
}

TEST(LongEncode, StopsWhenInterrupted) {
  const Bytes chunk = noise(std::size_t{12} << 20);
  for (const auto& codec : {bytes_codec(zstd_codec, R"({"level": 19})"), bytes_codec(bz2_codec, R"({"level": 9})"),
                            bytes_codec(lzma_codec, R"({"preset": 6})")}) {
    int polls = 0;
    const auto outcome = encode_in_call(*codec, chunk, 2, polls);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code(), ErrorCode::unavailable);
    EXPECT_EQ(outcome.error().message(), "interrupted");
    EXPECT_EQ(polls, 2);
  }
}

TEST(LongEncode, OfDeflateStopsWhenInterruptedInChunksAbove16MiB) {
  const Bytes chunk = noise(std::size_t{64} << 20);
  for (const auto* entry : {&gzip_codec, &gzip_member_codec, &zlib_codec})
    for (const char* configuration : {R"({"level": 1})", R"({"level": 9})"}) {
      int polls = 0;
      const auto outcome = encode_in_call(*bytes_codec(*entry, configuration), chunk, 2, polls);
      ASSERT_FALSE(outcome);
      EXPECT_EQ(outcome.error().message(), "interrupted");
      EXPECT_EQ(polls, 2);
    }
}

TEST(LongEncode, OfDeflateMakesOneStreamThatItsDecodersRead) {
  Bytes chunk = runs((std::size_t{16} << 20) + 1);
  const Bytes hard = noise(std::size_t{2} << 20);
  std::ranges::copy(hard, chunk.begin() + (std::ptrdiff_t{5} << 20));
  for (const auto* entry : {&gzip_member_codec, &zlib_codec})
    for (const char* configuration : {R"({"level": 1})", R"({"level": 5})"}) {
      const auto codec = bytes_codec(*entry, configuration);
      const Bytes stored = encoded(*codec, chunk);
      EXPECT_LT(stored.size(), chunk.size());
      EXPECT_EQ(decoded(*codec, stored, chunk.size()).value(), chunk);
    }
}

TEST(LongEncode, OfDeflateNeedsNoMoreRoomThanItSays) {
  Bytes chunk((std::size_t{16} << 20) + 77);
  std::mt19937 random(2);
  std::generate(chunk.begin(), chunk.end(), [&] { return static_cast<std::byte>(random()); });
  for (const char* configuration : {R"({"level": 1})", R"({"level": 3})", R"({"level": 6})"})
    EXPECT_GT(encoded(*bytes_codec(gzip_member_codec, configuration), chunk).size(), chunk.size());
}

TEST(LongEncode, OfBloscStopsWhenInterruptedInChunksAbove16MiB) {
  const Bytes chunk = noise(std::size_t{64} << 20);
  int polls = 0;
  const auto codec = bytes_codec(
      blosc_codec, R"({"cname": "zlib", "clevel": 9, "shuffle": "shuffle", "typesize": 2, "blocksize": 0})");
  const auto outcome = encode_in_call(*codec, chunk, 2, polls);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message(), "interrupted");
  EXPECT_EQ(polls, 2);
}

// The library encodes the same bytes in one call, without the codec.
TEST(LongEncode, OfBloscMakesTheChunkThatTheLibraryMakes) {
  Bytes chunk = runs((std::size_t{16} << 20) + 100'003);
  const Bytes hard = noise(std::size_t{5} << 20);
  std::ranges::copy(hard, chunk.begin() + (std::ptrdiff_t{5} << 20));
  Bytes random(chunk.size());
  std::mt19937 generator(3);
  std::generate(random.begin(), random.end(), [&] { return static_cast<std::byte>(generator()); });
  for (const char* name : {"lz4", "blosclz", "zstd"})
    for (const int type_size : {1, 4, 24})
      for (const std::size_t block_size : {std::size_t{0}, std::size_t{100'000}, std::size_t{3} << 20})
        for (const Bytes* from : {&chunk, &random}) {
          Bytes expected(from->size() + BLOSC_MAX_OVERHEAD);
          expected.resize(static_cast<std::size_t>(
              blosc_compress_ctx(3, BLOSC_SHUFFLE, static_cast<std::size_t>(type_size), from->size(), from->data(),
                                 expected.data(), expected.size(), name, block_size, 1)));
          const auto codec = bytes_codec(blosc_codec, R"({"cname": ")" + std::string(name) +
                                                          R"(", "clevel": 3, "shuffle": "shuffle", "typesize": )" +
                                                          std::to_string(type_size) + R"(, "blocksize": )" +
                                                          std::to_string(block_size) + "}");
          EXPECT_EQ(encoded(*codec, *from) == expected, true) << name << ' ' << type_size << ' ' << block_size;
        }
}

TEST(LongEncode, OfZstdMakesOneFrameWithItsContentSizeAndChecksum) {
  const Bytes chunk = runs(std::size_t{9} << 20);
  for (const char* configuration : {R"({"level": 1, "checksum": true})", R"({"level": 10, "checksum": true})",
                                    R"({"level": 16, "checksum": true})"}) {
    const auto codec = bytes_codec(zstd_codec, configuration);
    const Bytes stored = encoded(*codec, chunk);
    const auto descriptor = static_cast<unsigned>(stored[4]);
    EXPECT_EQ(descriptor >> 6, 2U) << "a content size of four bytes";
    EXPECT_NE(descriptor & 4U, 0U) << "a checksum";
    EXPECT_EQ(decoded(*codec, stored, chunk.size()).value(), chunk);
  }
}

TEST(LongEncode, RoundTripsAtTheBoundariesOfItsSteps) {
  for (const auto& codec : {bytes_codec(zstd_codec, R"({"level": 16})"), bytes_codec(bz2_codec, R"({"level": 1})"),
                            bytes_codec(lzma_codec, R"({"preset": 0})")}) {
    for (const std::size_t step : {std::size_t{256} << 10, std::size_t{1} << 20})
      for (const std::size_t size : {step - 1, step, step + 1, 2 * step}) expect_round_trip(*codec, runs(size));
  }
}

}  // namespace interrupt_test
}  // namespace sherd::test
