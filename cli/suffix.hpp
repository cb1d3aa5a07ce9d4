// Names that suggest another format than the one stored under them.
#pragma once

#include <string_view>

#include "cli/session.hpp"

namespace sherd::cli {

/// Warns if the suffix of a new node suggests a format other than `format`, such as a volume named x.zarr.
void warn_of_suffix(Session& session, std::string_view url, std::string_view format);

}  // namespace sherd::cli
