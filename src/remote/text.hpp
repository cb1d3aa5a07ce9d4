// Texts of addresses.
#pragma once

#include <string_view>

#include "base/text.hpp"

namespace sherd::remote {

/// `host` of `host:port` and of `host`, which may be an IPv6 address in brackets.
[[nodiscard]] inline std::string_view without_port(std::string_view authority) {
  const auto colon = authority.rfind(':');
  return colon == std::string_view::npos || authority.ends_with(']') ? authority : authority.substr(0, colon);
}

}  // namespace sherd::remote
