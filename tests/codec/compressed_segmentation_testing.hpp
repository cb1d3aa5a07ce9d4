// Labels as compressed_segmentation, and as words, for its tests.
#pragma once

#include <gmock/gmock.h>

#include <set>

#include "base/endian.hpp"
#include "tests/codec/codec_fixture.hpp"

namespace sherd {
extern const CodecEntry compressed_segmentation_codec;

namespace test::compressed_segmentation_testing {
using Words = std::vector<std::uint32_t>;

inline Result<std::unique_ptr<ArrayBytesCodec>> try_codec(std::string_view configuration) {
  static const Limits limits;
  return compressed_segmentation_codec.array_bytes_codec(spec_of(compressed_segmentation_codec, configuration),
                                                         {{DType::uint64, {1, 1, 1, 1}}, &limits});
}
inline std::unique_ptr<ArrayBytesCodec> codec_of(const std::vector<int>& block) {
  return try_codec(R"({"block_size": [)" + std::to_string(block[0]) + "," + std::to_string(block[1]) + "," +
                   std::to_string(block[2]) + "]}")
      .value();
}

inline Bytes encoded(const ArrayBytesCodec& codec, const ChunkType& type, const Bytes& elements) {
  Buffer to;
  codec.encode(type, elements, to).value();
  EXPECT_LE(to.size(), codec.max_encoded_size(type).value());
  return {to.span().begin(), to.span().end()};
}
inline Result<Bytes> decoded(const ArrayBytesCodec& codec, const ChunkType& type, std::span<const std::byte> from) {
  Bytes elements(*element_count(type.shape) * type.dtype.size(), std::byte{0xaa});
  auto result = codec.decode(type, from, elements, nullptr);
  if (!result) return std::move(result).error();
  return elements;
}

/// `count` labels far apart, a random one per element; with enough elements each label occurs.
inline Bytes labels(const ChunkType& type, std::uint64_t count, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  const std::size_t size = type.dtype.size();
  Bytes elements(*element_count(type.shape) * size);
  for (std::uint64_t i = 0; i * size < elements.size(); ++i) {
    const std::uint64_t label = ((i < count ? i : random() % count) + 1) * 0x9e3779b97f4a7c15;
    std::memcpy(elements.data() + i * size, reinterpret_cast<const char*>(&label) + (8 - size), size);
  }
  return elements;
}

inline Bytes bytes_of(const Words& words) {
  Bytes bytes(4 * words.size());
  for (std::size_t i = 0; i < words.size(); ++i) store_little(bytes.data() + 4 * i, words[i]);
  return bytes;
}
inline Words words_of(const Bytes& bytes) {
  Words words(bytes.size() / 4);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = load_little<std::uint32_t>(bytes.data() + 4 * i);
  return words;
}

}  // namespace test::compressed_segmentation_testing
}  // namespace sherd
