// The names that netCDF allows. Sherd reads datasets with other names, but does not write any: netcdf-c cannot open any
// part of a dataset that has one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sherd/result.hpp"

namespace sherd::netcdf {

/// In bytes (NC_MAX_NAME).
inline constexpr std::size_t kMaxName = 256;

/// The reason why netCDF does not allow a name, as the end of a sentence; nullopt if it allows it.
[[nodiscard]] std::optional<std::string> fault_of_name(std::string_view name);
/// `invalid_argument` for a name that netCDF does not allow; `what` is the kind of thing it names: "a dimension".
[[nodiscard]] Result<void> check_netcdf_name(std::string_view name, std::string_view what);
/// A name for messages, cut if it is long.
[[nodiscard]] std::string shown_name(std::string_view name);

}  // namespace sherd::netcdf
