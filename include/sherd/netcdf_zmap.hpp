// The objects of a dataset in the terms of netcdf-c's zmap: bytes by keys such as "/g/v/.zarray". For inspecting what
// is stored; to read a dataset, use netcdf.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/options.hpp"
#include "sherd/result.hpp"
#include "sherd/store.hpp"

namespace sherd::netcdf {

/// The result of zmap for a key, with the numbers of netcdf-c. Failures of the store and invalid keys are errors.
enum class ZmapStatus : std::int16_t {
  found = 0,         ///< NC_NOERR
  empty = -139,      ///< NC_EEMPTY: there are objects below the key, but none at it
  object = -140,     ///< NC_EOBJECT: an object exists that should not
  no_object = -141,  ///< NC_ENOOBJECT: no object exists at the key or below it
};
/// The name in netcdf-c, such as "NC_EEMPTY".
SHERD_API std::string_view to_string(ZmapStatus status) noexcept;

/// A key is "/", or segments of UTF-8 without control characters, each after a "/". Other keys are invalid_argument.
class SHERD_API Zmap {
 public:
  explicit Zmap(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  /// The objects of the dataset at a path or URL, as read by Dataset::open(). not_found if there are none.
  static Result<Zmap> open(std::string_view url, const Config& config = {});

  struct Object {
    ZmapStatus status = ZmapStatus::no_object;
    std::uint64_t size = 0;  ///< in bytes; 0 unless found
  };
  Result<Object> look(std::string_view key) const;
  /// Reads `to.size()` bytes beginning at `start`. A range that ends beyond the object is invalid_argument.
  Result<ZmapStatus> read(std::string_view key, std::uint64_t start, std::span<std::byte> to) const;
  /// Stores an object. Returns `object`, and stores nothing, if an object exists at a prefix of the key, below the key,
  /// or at the key while `replace` is false. `unsupported` if the key is longer than the store allows.
  Result<ZmapStatus> write(std::string_view key, std::span<const std::byte> bytes, bool replace = true);
  /// The distinct next segments of all keys below a prefix, sorted. Empty if there are none.
  Result<std::vector<std::string>> search(std::string_view prefix) const;
  /// Visits the objects at and below a key, depth first and sorted, until `visit` returns false.
  Result<void> walk(std::string_view key,
                    const std::function<bool(const std::string& key, std::uint64_t size)>& visit) const;

 private:
  std::shared_ptr<Store> store_;
};

}  // namespace sherd::netcdf
