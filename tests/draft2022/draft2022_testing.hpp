// Stores of the 2022 draft in memory, from the texts of their documents, and what the tests of their arrays share.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/sherd.hpp"
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

/// A document with some members replaced by those of `changes`, or removed where a change is the string "-".
inline std::string changed(std::string_view document, std::string_view changes) {
  Json json = Json::parse(document, 4096).value();
  const Json overlay = Json::parse(changes, 4096).value();
  for (const auto& [key, value] : overlay.members()) {
    if (value.is_string() && value.text() == "-")
      json.erase(key);
    else
      json.set(key, value);
  }
  return json.dump();
}

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

inline Json parsed(std::string_view text) { return Json::parse(text).value(); }
inline ErrorCode code_of(const auto& result) { return result.error().code(); }

inline std::vector<std::int32_t> counted(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}
inline std::vector<std::int32_t> elements(const Array& array) {
  const Box all{Shape(array.ndim(), 0), array.shape()};
  std::vector<std::int32_t> values(element_count(array.shape()).value());
  array.read(all, std::span(values)).value();
  return values;
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
