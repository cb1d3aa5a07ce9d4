// Sizes in the form that people type and read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sherd/result.hpp"

namespace sherd {

/// "64MiB", "1.5 GiB", "10kB", "4096": bytes, or a plain count.
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);
/// "12.3 MiB", "512 B".
[[nodiscard]] std::string print_bytes(std::uint64_t bytes);

}  // namespace sherd
