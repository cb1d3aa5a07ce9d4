// Small nodes in a store, and what is stored there.
#pragma once

#include <memory>
#include <string>

#include "sherd/sherd.hpp"
#include "tests/results.hpp"

namespace sherd {

inline CreateOptions bytes_array(bool overwrite = false) {
  return {.shape = {4}, .dtype = DType::uint8, .chunks = {2}, .overwrite = overwrite};
}
inline Group writable(const std::shared_ptr<Store>& store, const std::string& path = "") {
  return open_group(store, {.path = path, .writable = true}).value();
}
inline std::string text_at(Store& store, const std::string& key) {
  return store.get(key).value().value_or("(nothing)");
}

}  // namespace sherd
