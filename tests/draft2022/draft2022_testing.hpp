// Stores of the 2022 draft in memory, from the texts of their documents, and what the tests of their arrays share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/format/documents_testing.hpp"
#include "tests/store/tree.hpp"

namespace sherd::draft {

constexpr std::string_view kEntryPoint = R"({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
  "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_key_suffix": ".json",
  "extensions": []})";

constexpr std::string_view kArray = R"({"shape": [7, 5], "data_type": "<i4",
  "chunk_grid": {"type": "regular", "chunk_shape": [2, 2], "separator": "/"}, "chunk_memory_layout": "C",
  "fill_value": -1, "extensions": [], "attributes": {}})";

inline std::string indexed(std::string_view chunks_per_shard,
                           std::string_view uri = "https://purl.org/zarr/spec/storage_transformers/sharding/1.0") {
  return R"({"extension": ")" + std::string(uri) + R"(", "type": "indexed", "configuration": {"chunks_per_shard": )" +
         std::string(chunks_per_shard) + "}}";
}
inline std::string transformers(const std::string& list) { return "{\"storage_transformers\": [" + list + "]}"; }

inline std::shared_ptr<Store> empty_hierarchy() {
  auto store = memory_store();
  store->set("zarr.json", kEntryPoint).value();
  return store;
}
/// A hierarchy with an array at `path`.
inline std::shared_ptr<Store> hierarchy(std::string_view document, const std::string& path = "a") {
  auto store = empty_hierarchy();
  store->set("meta/root/" + path + ".array.json", document).value();
  return store;
}

inline void write(const Array& array, const Box& where, const std::vector<std::int32_t>& values) {
  Array(array).write(where, std::span(values)).value();
}

inline CreateOptions draft_array(Shape shape = {7, 5}, Shape chunks = {2, 2}, Shape shards = {}) {
  CreateOptions options{.shape = std::move(shape),
                        .dtype = DType::int32,
                        .chunks = std::move(chunks),
                        .shards = std::move(shards),
                        .format = "draft2022"};
  options.codecs = std::vector<Json>{"bytes"};
  return options;
}

}  // namespace sherd::draft
