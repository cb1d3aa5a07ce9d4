// The Zarr array of a variable. It is created on first use, because a dataset can have thousands of variables, and most
// of them are never read. If creating it could fail, it is created when the dataset is opened. It cannot fail if an
// array with the same storage layout was opened before.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/recent.hpp"
#include "node/node_location.hpp"

namespace sherd::netcdf {

/// An array that may not be made yet, or none. May be used by all threads.
class LazyArray {
 public:
  LazyArray() = default;
  explicit LazyArray(Array array);
  /// Made when it is first used, from a document that was lowered before. make_array() must succeed.
  LazyArray(std::shared_ptr<const NodeLocation> location, std::string path, Json document,
            std::vector<DocumentVersion> versions);

  explicit operator bool() const noexcept { return made_ != nullptr; }
  const Array& operator*() const;
  const Array* operator->() const { return &**this; }

 private:
  struct Made {
    std::once_flag once;
    std::shared_ptr<const NodeLocation> location;  ///< with another path
    std::string path;
    Json document;
    std::vector<DocumentVersion> versions;
    std::optional<Array> array;
  };
  std::unique_ptr<Made> made_;
};

/// An array of a dataset for which make_array() succeeded.
struct OpenedArray {
  ArraySpec spec;
  Array array;
};
using OpenedArrays = Recent<OpenedArray, 8>;

}  // namespace sherd::netcdf
