// What the tests of codecs share: making one from its configuration as text, sample bytes, and decoding to a vector.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "codec/chain.hpp"
#include "codec/codec.hpp"

namespace sherd::testing {

using ByteVector = std::vector<std::byte>;

inline Json json(std::string_view text) { return Json::parse(text).value(); }

inline CodecSpec spec(const CodecEntry& entry, std::string_view configuration = "") {
  return {std::string(entry.name), configuration.empty() ? Json() : json(configuration)};
}

inline Result<std::unique_ptr<BytesCodec>> make_bytes_codec(const CodecEntry& entry,
                                                            std::string_view configuration = "") {
  const Limits limits;
  return entry.bytes_codec(spec(entry, configuration), {.in = {DType::uint8, {1}}, .limits = &limits});
}

/// Bytes that compress a little: words of a few bits, some of them repeated.
inline ByteVector sample(std::size_t size) {
  ByteVector bytes(size);
  std::mt19937 random(static_cast<unsigned>(size) + 1);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = i >= 64 && random() % 4 != 0 ? bytes[i - 64] : static_cast<std::byte>(random() % 50);
  return bytes;
}

inline ByteVector noise(std::size_t size) {
  ByteVector bytes(size);
  std::mt19937 random(static_cast<unsigned>(size) + 2);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline ByteVector encoded(const BytesCodec& codec, std::span<const std::byte> decoded) {
  ByteVector bytes(codec.max_encoded_size(decoded.size()));
  bytes.resize(codec.encode(decoded, bytes).value());
  return bytes;
}

/// The decoded bytes, or nothing where there are more than `room`.
inline Result<std::optional<ByteVector>> decoded(const BytesCodec& codec, std::span<const std::byte> from,
                                                 std::size_t room) {
  ByteVector bytes(room);
  auto count = codec.decode(from, bytes);
  if (!count) return std::move(count).error();
  if (!*count) return std::optional<ByteVector>{};
  bytes.resize(**count);
  return std::optional{bytes};
}

/// The bytes that decode_blocks gives, all blocks but the last one being full.
inline Result<ByteVector> decoded_in_blocks(const BytesCodec& codec, std::span<const std::byte> from,
                                            std::size_t block_size, std::uint64_t limit) {
  ByteVector block(block_size);
  ByteVector all;
  bool ended = false;
  auto done = codec.decode_blocks(from, block, limit, [&](std::span<const std::byte> bytes) {
    EXPECT_FALSE(ended);
    EXPECT_EQ(bytes.data(), block.data());
    ended = bytes.size() < block.size();
    all.insert(all.end(), bytes.begin(), bytes.end());
    EXPECT_LE(all.size(), limit);
    return true;
  });
  if (!done) return std::move(done).error();
  EXPECT_TRUE(*done) << "the codec cannot decode in blocks";
  return all;
}

inline ByteVector from_hex(std::string_view text) {
  ByteVector bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  return bytes;
}

inline ByteVector concatenated(std::initializer_list<ByteVector> parts) {
  ByteVector all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// One encoding by another implementation; see tests/data/codec/make_bytes_codecs.py.
struct Golden {
  std::string writer, name;
  Json configuration;
  ByteVector decoded, encoded;
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

}  // namespace sherd::testing
