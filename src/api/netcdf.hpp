// What opening and copying a netCDF dataset share: its URL as a store, and modes that are merged.
#pragma once

#include <string>

#include "netcdf/url.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

[[nodiscard]] Mode merged_mode(const Mode& a, const Mode& b);
/// With what the environment asks for: SHERD_COMPAT=seed is for programs whose URLs cannot be changed. An empty value
/// is as none; others are invalid_argument.
[[nodiscard]] Result<Mode> with_environment(Mode mode);
/// As open_store() takes it. netcdf-c reads `file://name` as a path from the working directory.
[[nodiscard]] std::string store_of(const ParsedUrl& url);
/// The same as a path of the file system; empty for other stores.
[[nodiscard]] std::string file_path_of(const ParsedUrl& url);

}  // namespace sherd::netcdf
