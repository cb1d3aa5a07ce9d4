// A sound document of an array of Zarr v3, with changes, and the node that it describes.
#pragma once

#include <string>
#include <string_view>

#include "sherd/sherd.hpp"
#include "tests/format/documents_testing.hpp"

namespace sherd {

inline constexpr std::string_view good_array = R"({
  "zarr_format": 3, "node_type": "array", "shape": [10, 20], "data_type": "uint16",
  "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 7]}},
  "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
  "fill_value": 0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]})";

/// The good array with some members replaced or removed.
inline std::string changed(std::string_view changes) { return changed(good_array, changes); }

inline Result<Node> open_text(std::string_view text, const Config& config = {}) {
  auto store = memory_store();
  store->set("a/zarr.json", text).value();
  return open(store, {.path = "a", .config = config});
}

}  // namespace sherd
