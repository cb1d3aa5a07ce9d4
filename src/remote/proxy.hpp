// The proxy that libcurl sends a request through. The user or the environment has named it, so it may be at an address
// that redirects must not lead to.
#pragma once

#include <string>
#include <string_view>

#include "remote/address.hpp"
#include "remote/connection.hpp"

namespace sherd::remote {

/// The URL of the proxy for requests with this scheme, which may have a password: that of the settings or, as libcurl
/// finds it, of the environment. Empty if there is none. Hosts of `no_proxy` are reached without it.
[[nodiscard]] std::string proxy_for(const Connection& connection, std::string_view scheme);

/// Whether a connection leads to the proxy with this URL.
[[nodiscard]] bool is_proxy(const Peer& peer, std::string_view proxy);

}  // namespace sherd::remote
