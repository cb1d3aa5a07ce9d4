#include "remote/proxy.hpp"

#include <cstdlib>

namespace sherd::remote {

std::string proxy_for(const Connection& connection, std::string_view scheme) {
  if (!connection.uses_proxy) return {};
  if (!connection.proxy.empty()) return connection.proxy;
  const bool is_https = scheme == "https";  // HTTP_PROXY may be a header of a CGI program's request
  for (const char* const name :
       {is_https ? "https_proxy" : "http_proxy", is_https ? "HTTPS_PROXY" : "", "all_proxy", "ALL_PROXY"})
    if (const char* const url = std::getenv(name); url != nullptr && *url != '\0') return url;
  return {};
}

bool is_proxy(const Peer& peer, std::string_view proxy) {
  if (proxy.empty()) return false;
  const bool has_scheme = proxy.find("://") != proxy.npos;
  const Origin origin = origin_of(has_scheme ? std::string(proxy) : "http://" + std::string(proxy));
  const std::string port = !origin.port.empty() ? origin.port : origin.scheme == "https" ? "443" : "1080";
  return port == std::to_string(peer.port) && may_connect(peer.ip, origin.host, true);
}

}  // namespace sherd::remote
