// What a URL says of a netCDF dataset: `scheme://host/path?query#mode=nczarr,file&key=value`, or `[mode=…]path`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/netcdf.hpp"
#include "sherd/result.hpp"

namespace sherd::netcdf {

/// Which driver a URL asks for.
enum class Driver : std::uint8_t { any, file, zip, s3 };

struct ParsedUrl {
  std::string store;  ///< without fragment and prefix, as open_store() reads it
  Mode mode;
  Driver driver = Driver::any;
  std::vector<std::string> modes;  ///< in lower case, with what follows from them, sorted
  /// Keys in lower case; the values of a key that is given twice are joined by a comma.
  std::vector<std::pair<std::string, std::string>> parameters;
  [[nodiscard]] const std::string* parameter(std::string_view key) const noexcept;
};

/// invalid_argument unless `value`, of the parameter or environment variable `name`, is one that is known: "seed".
[[nodiscard]] Result<void> check_compat(std::string_view name, std::string_view value);

/// Errors are invalid_argument for what is no URL, and `unsupported` for drivers that this version does not have, each
/// by its name. A plain path is used as it is, except for a fragment that has a key or a mode that netCDF knows.
[[nodiscard]] Result<ParsedUrl> parse_dataset_url(std::string_view text);

}  // namespace sherd::netcdf
