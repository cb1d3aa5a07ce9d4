// Small arrays to copy, and stores as text to compare.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"

namespace sherd::copy_testing {

using Tree = std::map<std::string, std::string>;

inline Tree tree_of(Store& store) {
  Tree tree;
  std::vector<std::string> keys;
  store.list("", [&](const std::string& key, std::uint64_t) { return keys.push_back(key), true; }).value();
  for (const auto& key : keys) tree[key] = store.get(key).value().value();
  return tree;
}

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

inline std::vector<std::uint16_t> elements(const Array& array) {
  std::vector<std::uint16_t> values(*element_count(array.shape()));
  array.read(Box{Shape(array.ndim(), 0), array.shape()}, std::span(values)).value();
  return values;
}

}  // namespace sherd::copy_testing
