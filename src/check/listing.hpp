// Lists everything below a prefix, including its directories.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sherd/store.hpp"

namespace sherd {

struct StoredVisit {
  std::function<bool(const std::string& key, std::uint64_t size)> object;  ///< false: ends the list
  /// `path` has no trailing slash. `beside_object`: an object of the same name exists too, which only some stores
  /// allow. False: the contents of the directory are skipped.
  std::function<bool(const std::string& path, bool beside_object)> directory;
};
/// Visits the objects below a prefix like Store::list(), the objects of a directory before those deeper, and every
/// directory before its objects. It makes the same requests as Store::list().
Result<void> for_all_stored(Store& store, const std::string& prefix, const StoredVisit& visit);

}  // namespace sherd
