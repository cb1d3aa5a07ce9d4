// What the fuzz targets for metadata do with the resulting nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "sherd/sherd.hpp"

namespace sherd::fuzz {

inline Config small_config() {
  Config config;
  config.threads = 1;
  config.limits.chunk_bytes = config.limits.index_bytes = std::uint64_t{1} << 20;
  return config;
}

/// Reads the last element, if there is one.
inline Result<void> read_corner(const Array& array) {
  Box corner{array.shape(), Shape(array.ndim(), 1)};
  for (auto& at : corner.origin) {
    if (at == 0) return {};
    --at;
  }
  std::vector<std::byte> element(array.dtype().size());
  VarBytesArena arena;
  return array.read(corner, AnyView::dense(element.data(), array.dtype(), corner.shape), &arena);
}

}  // namespace sherd::fuzz
