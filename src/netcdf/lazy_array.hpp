// The Zarr array of a variable. A dataset can have thousands of variables, most of which are never read. So if an array
// stores its chunks like one that was opened before, nothing about it can fail, and its handle is made at first use.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "array/state.hpp"

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

/// Arrays of a dataset that were opened, and for which make_array() succeeded. May be used by all threads.
class OpenedArrays {
 public:
  /// One whose chunks are stored like those of this array; nullopt if none is known.
  [[nodiscard]] std::optional<Array> find_like(const ArraySpec& spec);
  void add(const Array& array, const ArraySpec& spec);

 private:
  struct Opened {
    ArraySpec spec;
    Array array;
  };
  std::mutex mutex_;
  std::array<std::optional<Opened>, 8> opened_;  ///< the last ones
  std::size_t next_ = 0;
};

}  // namespace sherd::netcdf
