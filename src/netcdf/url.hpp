// The fragments of URLs, which netCDF defines: `#mode=nczarr,file&key=value`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/netcdf.hpp"
#include "sherd/result.hpp"
#include "store/store_url.hpp"

namespace sherd::netcdf {

/// The driver that a URL requests.
enum class Driver : std::uint8_t { any, file, zip, s3 };

struct ParsedUrl {
  StoreUrl place;
  Mode mode;
  Driver driver = Driver::any;
  bool is_file = false;            ///< `mode=bytes`: the object is a netCDF file
  std::vector<std::string> modes;  ///< in lower case, with the modes they imply, sorted
  /// Keys in lower case; the values of a key that occurs twice are joined by a comma.
  std::vector<std::pair<std::string, std::string>> parameters;
  [[nodiscard]] const std::string* parameter(std::string_view key) const noexcept;
};

/// invalid_argument unless `value`, of the parameter or environment variable `name`, is a known one: "seed".
[[nodiscard]] Result<void> check_compat(std::string_view name, std::string_view value);

/// UrlWords::is_fragment. Text after the `#` of a plain path is a fragment if it has a key or mode that netCDF knows;
/// one that is misspelled is invalid_argument.
[[nodiscard]] Result<bool> is_url_fragment(std::string_view text, bool is_url);
/// Adds the store that the fragment of a name says, such as a zip archive. invalid_argument if netCDF knows none of its
/// words; `unsupported` for a driver that this version lacks.
[[nodiscard]] Result<void> apply_fragment(StoreUrl& url);
/// What the fragment says of a dataset at `place`, whether or not this version supports it.
[[nodiscard]] Result<ParsedUrl> read_fragment(StoreUrl place);
/// What read_fragment() returns; `unsupported` if this version does not support it.
[[nodiscard]] Result<ParsedUrl> dataset_url(StoreUrl place);

}  // namespace sherd::netcdf
