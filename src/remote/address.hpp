// Which addresses a request may go to. A server can redirect to another host, and a name can resolve to any address:
// neither may lead to services of this machine (loopback) or of its provider (link-local, such as 169.254.169.254)
// unless the user named them.
#pragma once

#include <string>
#include <string_view>

#include "sherd/result.hpp"

struct sockaddr;

namespace sherd::remote {

/// The scheme, host and port of a URL; parts that it does not have are empty. The host is in lower case, an IPv6
/// address without brackets.
struct Origin {
  std::string scheme, host, port;
  friend bool operator==(const Origin&, const Origin&) = default;
};
[[nodiscard]] Origin origin_of(std::string_view url);
[[nodiscard]] std::string host_of(std::string_view url);

/// The URL to which a server that answered for `url` redirects: an absolute URL, or one relative to `url`, without user
/// and password. An error for other protocols, and from https to http.
[[nodiscard]] Result<std::string> redirected(std::string_view url, std::string_view location);

/// The other end of a connection. Empty for an address that is not of IP.
struct Peer {
  std::string ip = {};
  int port = 0;
  friend bool operator==(const Peer&, const Peer&) = default;
};
[[nodiscard]] Peer peer_of(const sockaddr& address);

/// Whether a connection to `address` is allowed for a request to `host`; `is_trusted`: the user named that host.
/// `address` may also be a host: a name is allowed unless it always means this machine.
[[nodiscard]] bool may_connect(std::string_view address, std::string_view host, bool is_trusted);

}  // namespace sherd::remote
