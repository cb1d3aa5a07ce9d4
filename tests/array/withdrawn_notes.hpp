// What a store holds, except for notes about nodes that have no meaning any more.
#pragma once

#include <string>
#include <vector>

#include "tests/store/tree.hpp"

namespace sherd {

/// Notes that were withdrawn in a store that cannot erase conditionally stay there until a node is created or erased.
inline std::vector<std::string> keys_without_withdrawn_notes(Store& store) {
  std::vector<std::string> keys = keys_of(store);
  std::erase_if(keys, [&](const std::string& key) {
    return key.starts_with(".sherd-new-") && key.ends_with("/moving") && store.get(key).value() == "withdrawn";
  });
  return keys;
}

}  // namespace sherd
