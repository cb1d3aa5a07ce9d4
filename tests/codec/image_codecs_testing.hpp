// Images as chunks, for the tests of jpeg and png.
#pragma once

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd {
extern const CodecEntry jpeg_codec, png_codec;

namespace test::image_codecs_testing {
inline std::unique_ptr<ArrayBytesCodec> codec_of(const CodecEntry& entry, std::string_view configuration = "{}") {
  static const Limits limits;
  return entry.array_bytes_codec(spec_of(entry, configuration), {{DType::uint8, {1, 1, 1, 1}}, &limits}).value();
}

inline Bytes encoded(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& elements) {
  Buffer to;
  codec.encode(type, elements, to).value();
  return {to.span().begin(), to.span().end()};
}
inline Result<Bytes> decoded(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& from) {
  Bytes elements(*element_count(type.shape) * type.dtype.size(), std::byte{0xaa});
  auto result = codec.decode(type, from, elements, nullptr);
  if (!result) return std::move(result).error();
  return elements;
}

/// Gentle gradients, a different one for each channel.
inline Bytes slopes(const Shape& shape) {
  Bytes elements;
  for (std::uint64_t i = 0; i < *element_count(shape); ++i) {
    const std::uint64_t channel = i % shape[3], x = i / shape[3] % shape[2], row = i / shape[3] / shape[2];
    elements.push_back(static_cast<std::byte>(40 * (channel + 1) + 2 * x + row));
  }
  return elements;
}

inline int largest_difference(const Bytes& a, const Bytes& b) {
  EXPECT_EQ(a.size(), b.size());
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(std::to_integer<int>(a[i]) - std::to_integer<int>(b[i])));
  return most;
}

/// Every truncation, extra bytes after the end, and chunks of another shape.
inline void expect_only_this(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& stored) {
  for (std::size_t size = 0; size < stored.size(); ++size) {
    const Bytes part(stored.begin(), stored.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_EQ(code_of(decoded(codec, type, part)), ErrorCode::corrupt) << size;
  }
  Bytes longer = stored;
  longer.push_back(std::byte{0});
  const auto result = decoded(codec, type, longer);
  EXPECT_EQ(code_of(result), ErrorCode::corrupt);
  EXPECT_THAT(result.error().message(), testing::HasSubstr("1 bytes follow the image"));
  ChunkType other = type;
  ++other.shape[1];
  EXPECT_EQ(code_of(decoded(codec, other, stored)), ErrorCode::corrupt);
  other = type;
  other.shape[3] = type.shape[3] == 1 ? 3 : 1;
  EXPECT_THAT(decoded(codec, other, stored).error().message(), testing::HasSubstr("channels; the chunk has"));
}

inline void expect_damage_is_survived(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& stored) {
  std::mt19937 random(9);
  for (int round = 0; round < 1000; ++round) {
    Bytes damaged = stored;
    for (int flips = 0; flips < 2; ++flips) damaged[random() % damaged.size()] = std::byte(random());
    (void)decoded(codec, type, damaged);
  }
}

}  // namespace test::image_codecs_testing
}  // namespace sherd
