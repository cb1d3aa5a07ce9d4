// Stores of Zarr v2 in memory, from the texts of their documents, and what the tests of their nodes share.
#pragma once

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/store/tree.hpp"

namespace sherd::v2 {

constexpr std::string_view kArray = R"({"chunks": [2, 2], "compressor": null, "dimension_separator": ".",
  "dtype": "<i4", "fill_value": -1, "filters": null, "order": "C", "shape": [7, 5], "zarr_format": 2})";
constexpr std::string_view kGroup = R"({"zarr_format": 2})";

inline Json parsed(std::string_view text) { return Json::parse(text).value(); }
inline ErrorCode code_of(const auto& result) { return result.error().code(); }
inline std::string text_at(Store& store, const std::string& key) {
  return store.get(key).value().value_or("(nothing)");
}

/// The array's document with some members replaced by those of `changes`, or removed where a change is the string "-".
inline std::string changed(std::string_view changes) {
  Json json = parsed(kArray);
  const Json overlay = Json::parse(changes, 4096).value();
  for (const auto& [key, value] : overlay.members()) {
    if (value.is_string() && value.text() == "-")
      json.erase(key);
    else
      json.set(key, value);
  }
  return json.dump();
}

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
