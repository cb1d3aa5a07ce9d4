// Shared by the tests of codecs: making a codec from metadata text, sample bytes, encoding and decoding them, and
// encodings by other implementations.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"

namespace sherd::test {

using Bytes = std::vector<std::byte>;

inline Json json(std::string_view text) { return Json::parse(text).value(); }

inline Bytes from_hex(std::string_view hex) {
  Bytes bytes(hex.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(std::stoi(std::string(hex.substr(2 * i, 2)), nullptr, 16));
  return bytes;
}

/// Bytes that compress somewhat: runs of random length and value.
inline Bytes runs(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  Bytes bytes;
  while (bytes.size() < size) {
    const std::size_t count = 1 + random() % 9;
    bytes.insert(bytes.end(), count, static_cast<std::byte>(random() % 5));
  }
  bytes.resize(size);
  return bytes;
}

inline Bytes noise(std::size_t size, unsigned seed = 2) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// Bytes that compress a little: words of a few bits, some of them repeated.
inline Bytes sample(std::size_t size) {
  Bytes bytes(size);
  std::mt19937 random(static_cast<unsigned>(size) + 1);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = i >= 64 && random() % 4 != 0 ? bytes[i - 64] : static_cast<std::byte>(random() % 50);
  return bytes;
}

inline Bytes concatenated(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline CodecSpec spec_of(const CodecEntry& entry, std::string_view configuration) {
  return {std::string(entry.name), configuration.empty() ? Json() : json(configuration)};
}

inline Result<std::unique_ptr<BytesCodec>> try_bytes_codec(const CodecEntry& entry, std::string_view configuration = "",
                                                           const DType& dtype = DType::uint8) {
  static const Limits limits;
  return entry.bytes_codec(spec_of(entry, configuration), {{dtype, {1}}, &limits});
}
inline std::unique_ptr<BytesCodec> bytes_codec(const CodecEntry& entry, std::string_view configuration,
                                               const DType& dtype = DType::uint8) {
  return try_bytes_codec(entry, configuration, dtype).value();
}

inline Bytes encoded(const BytesCodec& codec, std::span<const std::byte> decoded) {
  Bytes to(codec.max_encoded_size(decoded.size()));
  to.resize(codec.encode(decoded, to).value());
  return to;
}

/// The decoded bytes; `capacity` bytes at most. nullopt as the codec returns it.
inline Result<std::optional<Bytes>> decoded(const BytesCodec& codec, std::span<const std::byte> from,
                                            std::size_t capacity) {
  Bytes to(capacity);
  auto size = codec.decode(from, to);
  if (!size) return std::move(size).error();
  if (!*size) return std::optional<Bytes>();
  EXPECT_LE(**size, capacity);
  to.resize(**size);
  return std::optional(std::move(to));
}

/// The bytes that decode_blocks returns; checks that all blocks except the last are full.
inline Result<Bytes> decoded_in_blocks(const BytesCodec& codec, std::span<const std::byte> from, std::size_t block_size,
                                       std::uint64_t limit) {
  Bytes block(block_size);
  Bytes all;
  bool ended = false;
  auto done = codec.decode_blocks(from, block, limit, [&](std::span<const std::byte> bytes) {
    EXPECT_FALSE(ended);
    EXPECT_EQ(bytes.data(), block.data());
    ended = bytes.size() < block.size();
    all.insert(all.end(), bytes.begin(), bytes.end());
    EXPECT_LE(all.size(), limit);
    return true;
  });
  if (!done.has_value()) return std::move(done).error();
  EXPECT_TRUE(*done) << "the codec cannot decode in blocks";
  return all;
}

/// Encodes, then decodes into exact, ample and too little memory, and compares.
inline void expect_round_trip(const BytesCodec& codec, const Bytes& bytes) {
  const Bytes once = encoded(codec, bytes);
  EXPECT_EQ(once, encoded(codec, bytes)) << "the encoding is not deterministic";
  EXPECT_EQ(decoded(codec, once, bytes.size()).value(), bytes);
  EXPECT_EQ(decoded(codec, once, bytes.size() + 100).value(), bytes);
  if (bytes.empty()) return;
  EXPECT_EQ(decoded(codec, once, bytes.size() - 1).value(), std::nullopt);
}

/// Every truncation is rejected, and so are bytes after the end.
inline void expect_exact_end(const BytesCodec& codec, const Bytes& bytes) {
  Bytes stored = encoded(codec, bytes);
  for (std::size_t size = 0; size < stored.size(); ++size) {
    const auto result = decoded(codec, std::span(stored).first(size), bytes.size());
    ASSERT_FALSE(result.has_value()) << size << " of " << stored.size() << " bytes were taken for a whole";
    EXPECT_EQ(result.error().code(), ErrorCode::corrupt) << result.error().text();
  }
  for (const char tail : {'\0', 'x', '\xff'}) {
    Bytes longer = stored;
    longer.push_back(static_cast<std::byte>(tail));
    const auto result = decoded(codec, longer, bytes.size() + 10);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), ErrorCode::corrupt) << result.error().text();
  }
}

/// Damages bytes at random: any result is acceptable except a crash or a size beyond the memory.
inline void survive_damage(const BytesCodec& codec, const Bytes& stored, std::size_t capacity) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Bytes damaged = stored;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips)
      damaged[random() % damaged.size()] ^= static_cast<std::byte>(1 + random() % 255);
    (void)decoded(codec, damaged, capacity);
  }
}

/// One encoding by another implementation; see tests/data/codec/make_bytes_codecs.py.
struct Golden {
  std::string writer, name;
  Json configuration;
  Bytes decoded, encoded;
};

inline std::vector<Golden> read_goldens(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::vector<Golden> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream columns(line);
    std::string cell[5];
    for (auto& text : cell) std::getline(columns, text, '\t');
    all.push_back({cell[0], cell[1], json(cell[2]), from_hex(cell[3]), from_hex(cell[4])});
  }
  return all;
}

inline ErrorCode code_of(const Error& error) { return error.code(); }
template <class T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value()) << "an error was expected";
  return result.has_value() ? ErrorCode{} : result.error().code();
}

}  // namespace sherd::test
