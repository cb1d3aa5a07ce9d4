// Names that promise another format than what is stored under them.
#pragma once

#include <string_view>

#include "cli/session.hpp"

namespace sherd::cli {

/// Warns where the suffix of what has been made is that of another format than `format`, such as a volume x.zarr.
void warn_of_suffix(Session& session, std::string_view url, std::string_view format);

}  // namespace sherd::cli
