// Parses URLs of netCDF datasets: `scheme://host/path?query#mode=nczarr,file&key=value`, or `[mode=…]path`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/netcdf.hpp"
#include "sherd/result.hpp"

namespace sherd::netcdf {

/// The driver that a URL requests.
enum class Driver : std::uint8_t { any, file, zip, s3 };

struct ParsedUrl {
  std::string store;  ///< without fragment and prefix, as for open_store()
  Mode mode;
  Driver driver = Driver::any;
  std::vector<std::string> modes;  ///< in lower case, with the modes they imply, sorted
  /// Keys in lower case; the values of a key that occurs twice are joined by a comma.
  std::vector<std::pair<std::string, std::string>> parameters;
  [[nodiscard]] const std::string* parameter(std::string_view key) const noexcept;
};

/// invalid_argument unless `value`, of the parameter or environment variable `name`, is a known one: "seed".
[[nodiscard]] Result<void> check_compat(std::string_view name, std::string_view value);

/// Errors are invalid_argument for text that is not a URL, and `unsupported` for drivers that this version lacks, each
/// by its name. A plain path is used unchanged, except for a fragment with a key or mode that netCDF knows; one that is
/// misspelled is invalid_argument unless a file or directory of the whole name exists.
[[nodiscard]] Result<ParsedUrl> parse_dataset_url(std::string_view text);

}  // namespace sherd::netcdf
