// The storage options of file stores: settings that users set by name.
#pragma once

#include <string_view>

#include "sherd/options.hpp"

namespace sherd {

inline constexpr std::string_view kFileOptions[] = {"durable", "follow_symlinks", "lock", "standalone"};

/// The settings, overridden by config.storage_options; invalid_argument for a wrong value.
[[nodiscard]] Result<Config> with_file_options(Config config);
/// Whether the store belongs to no hierarchy around its directory.
[[nodiscard]] Result<bool> is_standalone(const Config& config);

}  // namespace sherd
