// Arrays to copy, the memory that a copy needs, and stores as text for comparison.
#pragma once

#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"
#include "tests/child.hpp"
#include "tests/store/tree.hpp"

namespace sherd::copy_testing {

inline Json json(const char* text) { return Json::parse(text).value(); }

inline const Shape kShape{37, 29};

inline std::vector<std::uint16_t> noise(std::uint64_t count) {
  std::mt19937 random(7);
  std::vector<std::uint16_t> values(count);
  for (auto& value : values) value = static_cast<std::uint16_t>(random() % 50);
  return values;
}

inline Array filled(const std::shared_ptr<Store>& store, const std::string& path, CreateOptions options) {
  options.shape = kShape;
  options.dtype = DType::uint16;
  options.fill_value = Json(9);
  const Array array = create_array(store, path, options).value();
  const auto values = noise(20 * 29);
  array.write(Box{{5, 0}, {20, 29}}, std::span<const std::uint16_t>(values)).value();  // some chunks are not stored
  return array;
}

/// Transposed shards inside shards.
inline CreateOptions nested() {
  return {.raw_codecs = json(R"([{"name":"transpose","configuration":{"order":[1,0]}},
    {"name":"sharding_indexed","configuration":{"chunk_shape":[8,12],"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}],
     "codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[4,6],"index_location":"start",
       "index_codecs":[{"name":"bytes","configuration":{"endian":"big"}},{"name":"crc32c"}],
       "codecs":[{"name":"bytes","configuration":{"endian":"big"}},{"name":"gzip","configuration":{"level":1}}]}}]}}])"),
          .chunk_grid = json(R"({"name":"regular","configuration":{"chunk_shape":[12,16]}})")};
}

inline std::vector<std::uint16_t> elements(const Array& array) {
  std::vector<std::uint16_t> values(*element_count(array.shape()));
  array.read(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
  return values;
}

/// The info document of a volume at the root of a store.
inline Json info_of(const std::shared_ptr<Store>& store) { return *Json::parse(store->get("info").value().value()); }

/// An array of uint16 in shards of 128 x 512 x 256, written slab by slab.
inline void make_sharded(const std::string& url, const Shape& shape, const Shape& chunks) {
  const std::vector<Json> codecs{"zstd:1"};
  const Array array =
      create_array(
          url, {.shape = shape, .dtype = DType::uint16, .chunks = chunks, .shards = {128, 512, 256}, .codecs = codecs})
          .value();
  std::vector<std::uint16_t> values(64 * shape[1] * shape[2]);
  for (std::uint64_t z = 0; z < shape[0]; z += 64) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i / 7 + z);
    array.write(Box{{z, 0, 0}, {64, shape[1], shape[2]}}, std::span<const std::uint16_t>(values)).value();
  }
}

/// The peak growth in MiB of a process that copies with 16 MiB of memory and encodes this many chunks.
inline std::uint64_t growth_of_copy(const std::string& source, const std::string& destination, CopyOptions options,
                                    std::uint64_t encoded) {
  options.config.memory_budget = std::uint64_t{16} << 20;
  options.config.threads = 2;
  const std::uint64_t grown = growth_in_child([&] {
    return [&] {
      if (sherd::copy(source, destination, options).value().chunks_encoded != encoded)
        throw std::runtime_error("another number of chunks has been encoded");
    };
  });
  return grown >> 20;
}

}  // namespace sherd::copy_testing
