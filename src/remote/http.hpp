// HTTP messages as values.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/result.hpp"

namespace sherd::remote {

struct Header {
  std::string name, value;
  friend bool operator==(const Header&, const Header&) = default;
};
using Headers = std::vector<Header>;
/// The value of the first header with this name, in any case; nullptr if there is none.
[[nodiscard]] const std::string* find_header(const Headers& headers, std::string_view name);
/// The value of the first header with this name, in any case; empty if there is none.
[[nodiscard]] std::string header_value(const Headers& headers, std::string_view name);

/// The time in a header such as Date; nullopt if there is none.
[[nodiscard]] std::optional<std::chrono::sys_seconds> header_date(const Headers& headers, std::string_view name);
/// Whether a text can be in the value of a header: it is one line, without control characters.
[[nodiscard]] bool is_header_text(std::string_view text);

/// A request as it is sent. The URL is encoded already.
struct HttpRequest {
  std::string method = "GET";
  std::string url = {};
  Headers headers = {};
  std::string netrc = {};  ///< file whose password for the host is sent; empty: none
  std::string body = {};
  std::span<const std::byte> payload = {};  ///< sent instead of `body`; must outlive the exchange
};

struct HttpReply {
  long status = 0;
  Headers headers = {};
  std::string body = {};
  std::string token = {};  ///< the session token of the request, if it had one
  std::string asked = {};  ///< method and URL of the request, for errors
};

/// Sends a request and returns the whole reply, whatever its status. An error if there is no reply, or if its body is
/// larger than a document may be.
using Fetch = std::function<Result<HttpReply>(const HttpRequest& request)>;

}  // namespace sherd::remote
