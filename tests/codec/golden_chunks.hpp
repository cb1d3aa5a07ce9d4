// Chunks of bytes that the crate zarrs wrote (tests/data/codec/zarrs_chunks), for codecs that only decode: the suites
// over the codec table use one where other codecs have encoded a chunk themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <vector>

#include "tests/codec/codec_fixture.hpp"
#include "tests/test_data.hpp"

namespace sherd::test {

struct GoldenChunk {
  Bytes elements, stored;
};

/// As src/main.rs of the crate's program makes them.
inline Bytes zarrs_elements(std::size_t count, std::uint32_t alphabet) {
  std::uint32_t state = 1;
  const auto next = [&] { return (state = state * 1664525U + 1013904223U) >> 8; };
  Bytes bytes;
  while (bytes.size() < count) {
    const std::uint32_t value = next();
    if (bytes.size() <= 100 || value % 3 != 0) {
      bytes.push_back(static_cast<std::byte>(value % alphabet));
      continue;
    }
    const std::size_t from = bytes.size() - 1 - next() % (bytes.size() - 1);
    const std::size_t length = next() % 60;
    for (std::size_t i = 0; i < length; ++i) bytes.push_back(bytes[from + i]);
  }
  bytes.resize(count);
  return bytes;
}

/// Those of a bytes -> bytes codec.
inline std::vector<GoldenChunk> golden_chunks(const CodecEntry& entry) {
  std::ifstream file(test_data("codec/zarrs_chunks.json"));
  std::stringstream text;
  text << file.rdbuf();
  const Json rows = json(text.str());
  std::vector<GoldenChunk> chunks;
  for (const Json& row : rows.elements()) {
    if (row.find("count") == nullptr || row.find("codecs")->elements().back().find("name")->text() != entry.name)
      continue;
    const auto alphabet = static_cast<std::uint32_t>(*row.find("alphabet")->as_uint());
    chunks.push_back({zarrs_elements(*row.find("count")->as_uint(), alphabet), from_hex(row.find("encoded")->text())});
  }
  return chunks;
}

/// The last one of 40 bytes, the most compressed.
inline GoldenChunk golden_chunk(const CodecEntry& entry) {
  std::vector<GoldenChunk> chunks = golden_chunks(entry);
  std::erase_if(chunks, [](const GoldenChunk& each) { return each.elements.size() != 40; });
  if (!chunks.empty()) return std::move(chunks.back());
  ADD_FAILURE() << entry.name << " only decodes; give it a chunk of 40 bytes in tests/data/codec";
  return {};
}

}  // namespace sherd::test
