// What a store holds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sherd/store.hpp"

namespace sherd {

inline std::vector<std::string> keys_of(Store& store) {
  std::vector<std::string> keys;
  store.list("", [&](const std::string& key, std::uint64_t) { return keys.push_back(key), true; }).value();
  return keys;
}

/// Every object, by its key.
using Tree = std::map<std::string, std::string>;

inline Tree tree_of(Store& store) {
  Tree tree;
  for (const std::string& key : keys_of(store)) tree[key] = store.get(key).value().value();
  return tree;
}

}  // namespace sherd
