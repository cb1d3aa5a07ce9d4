// Lists everything below a prefix, including its directories.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sherd/store.hpp"

namespace sherd {

struct StoredVisit {
  /// False: ends the list. An empty generation: the list does not tell it.
  std::function<bool(const std::string& key, std::uint64_t size, const Generation& generation)> object;
  /// `path` has no trailing slash. `beside_object`: an object of the same name exists too, which only some stores
  /// allow; or a directory is no more than a part of keys, and cannot be in the place of an object. False: the contents
  /// of the directory are skipped. May be called again for the same path.
  std::function<bool(const std::string& path, bool beside_object)> directory;
};
/// Visits the objects below a prefix, and every directory before its objects. Directory by directory, the objects of
/// each before those deeper; if requests have latency, in one list of all objects.
Result<void> for_all_stored(Store& store, const std::string& prefix, const StoredVisit& visit);

}  // namespace sherd
