// Stores of Zarr v2 in memory, from the texts of their documents, and what the tests of their nodes share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/format/documents_testing.hpp"
#include "tests/store/tree.hpp"

namespace sherd::v2 {

constexpr std::string_view kArray = R"({"chunks": [2, 2], "compressor": null, "dimension_separator": ".",
  "dtype": "<i4", "fill_value": -1, "filters": null, "order": "C", "shape": [7, 5], "zarr_format": 2})";
constexpr std::string_view kGroup = R"({"zarr_format": 2})";

inline std::string text_at(Store& store, const std::string& key) {
  return store.get(key).value().value_or("(nothing)");
}

/// The array's document with some members replaced or removed.
inline std::string changed(std::string_view changes) { return sherd::changed(kArray, changes); }

/// A group with an array `a`.
inline std::shared_ptr<Store> hierarchy(std::string_view document = kArray) {
  auto store = memory_store();
  store->set(".zgroup", kGroup).value();
  store->set("a/.zarray", document).value();
  return store;
}
inline Result<Array> open_a(const std::shared_ptr<Store>& store, bool writable = false) {
  return open_array(store, {.path = "a", .writable = writable});
}
/// The array of a document with these changes.
inline Result<Array> array_with(std::string_view changes) { return open_a(hierarchy(changed(changes))); }

inline void write(const Array& array, const std::vector<std::int32_t>& values) {
  Array(array).write(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
}

inline CreateOptions new_array(Shape shape = {7, 5}, Shape chunks = {2, 2}) {
  CreateOptions options{
      .shape = std::move(shape), .dtype = DType::int32, .chunks = std::move(chunks), .format = "zarr2"};
  options.codecs = std::vector<Json>{"bytes"};
  return options;
}

}  // namespace sherd::v2
