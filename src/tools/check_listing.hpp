// What is below a prefix, with its directories.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sherd/store.hpp"

namespace sherd {

struct StoredVisit {
  std::function<bool(const std::string& key, std::uint64_t size)> object;  ///< false: that is enough
  /// `path` is without the slash at its end; whether an object of the same name is next to it, as only some stores
  /// can have it. False: what is below is passed over.
  std::function<bool(const std::string& path, bool beside_object)> directory;
};
/// Visits the objects below a prefix as Store::list() does, those of a directory before what lies deeper, and every
/// directory before its objects. It asks for the same as Store::list().
Result<void> for_all_stored(Store& store, const std::string& prefix, const StoredVisit& visit);

}  // namespace sherd
