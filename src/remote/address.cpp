#include "remote/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/libraries.hpp"

namespace sherd::remote {
namespace {

enum class Reach : std::uint8_t { loopback, link_local, elsewhere };

Reach reach_of_v4(std::uint32_t address) {
  if (address >> 24 == 127 || address >> 24 == 0) return Reach::loopback;
  return address >> 16 == 0xA9FE ? Reach::link_local : Reach::elsewhere;
}

/// An address in its IPv6 form; nullopt for a name.
std::optional<in6_addr> parsed(const std::string& ip) {
  in6_addr v6{};
  in_addr v4{};
  if (inet_pton(AF_INET6, ip.c_str(), &v6) == 1) return v6;
  if (inet_pton(AF_INET, ip.c_str(), &v4) != 1) return std::nullopt;
  v6.s6_addr[10] = v6.s6_addr[11] = 0xFF;
  std::memcpy(v6.s6_addr + 12, &v4, 4);
  return v6;
}

/// Names are elsewhere until they are resolved, except those that always mean this machine.
Reach reach_of(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host == "localhost" || host.ends_with(".localhost")) return Reach::loopback;
  const auto address = parsed(std::string(host));
  if (!address) return Reach::elsewhere;
  const std::uint8_t* const bytes = address->s6_addr;
  constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  if (std::equal(bytes, bytes + 12, kMapped)) {
    std::uint32_t v4 = 0;
    std::memcpy(&v4, bytes + 12, 4);
    return reach_of_v4(ntohl(v4));
  }
  if (std::all_of(bytes, bytes + 15, [](std::uint8_t byte) { return byte == 0; }) && bytes[15] <= 1)
    return Reach::loopback;
  const bool is_metadata = bytes[0] == 0xFD && bytes[1] == 0 && bytes[2] == 0x0E && bytes[3] == 0xC2;  // fd00:ec2::254
  return is_metadata || (bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80) ? Reach::link_local : Reach::elsewhere;
}

bool is_same_address(std::string_view a, std::string_view b) {
  const auto first = parsed(std::string(a)), second = parsed(std::string(b));
  return first && second && std::memcmp(&*first, &*second, sizeof *first) == 0;
}

}  // namespace

Origin origin_of(std::string_view url) {
  Origin origin;
  const std::size_t slashes = url.find("://");
  if (slashes == url.npos) return origin;
  origin.scheme = lowered(url.substr(0, slashes));
  std::string_view rest = url.substr(slashes + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const std::size_t at = rest.rfind('@'); at != rest.npos) rest.remove_prefix(at + 1);
  std::size_t end = rest.rfind(':');
  if (rest.starts_with('[')) {
    const std::size_t bracket = rest.find(']');
    origin.host = lowered(rest.substr(1, bracket == rest.npos ? bracket : bracket - 1));
    end = bracket == rest.npos || rest.substr(bracket + 1).empty() ? rest.npos : bracket + 1;
  } else {
    origin.host = lowered(rest.substr(0, end));
  }
  if (end != rest.npos && end < rest.size()) origin.port = rest.substr(end + 1);
  return origin;
}

Result<std::string> redirected(std::string_view url, std::string_view location) {
  SHERD_TRY(curl, load_curl());
  const std::unique_ptr<CURLU, decltype(curl->curl_url_cleanup)> parts(curl->curl_url(), curl->curl_url_cleanup);
  constexpr unsigned kFlags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE;
  for (const std::string& each : {std::string(url), std::string(location)})
    if (curl->curl_url_set(parts.get(), CURLUPART_URL, each.c_str(), kFlags) != CURLUE_OK)
      return io_error("the server redirects to what is not a URL");
  for (const CURLUPart unsent : {CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS, CURLUPART_FRAGMENT})
    curl->curl_url_set(parts.get(), unsent, nullptr, 0);
  char* text = nullptr;
  if (curl->curl_url_get(parts.get(), CURLUPART_URL, &text, 0) != CURLUE_OK)
    return io_error("the server redirects to what is not a URL");
  const std::unique_ptr<char, decltype(curl->curl_free)> owner(text, curl->curl_free);
  const std::string from = origin_of(url).scheme, to = origin_of(text).scheme;
  if (to == from || (to == "https" && from == "http")) return std::string(text);
  return io_error("the server redirects from " + from + " to " + to + ", which is refused");
}

std::string host_of(std::string_view url) { return origin_of(url).host; }

Peer peer_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return {text.data(), ntohs(v4.sin_port)};
  }
  if (address.sa_family != AF_INET6) return {};
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof v6);
  inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
  return {text.data(), ntohs(v6.sin6_port)};
}

bool may_connect(std::string_view address, std::string_view host, bool is_trusted) {
  switch (reach_of(address)) {
    case Reach::elsewhere:
      return true;
    case Reach::loopback:
      return is_trusted;
    case Reach::link_local:
      return is_trusted && is_same_address(address, host);
  }
  return false;
}

}  // namespace sherd::remote
