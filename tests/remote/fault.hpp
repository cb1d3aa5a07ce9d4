// What a FaultProxy does wrong.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "src/remote/http.hpp"

namespace sherd::remote {

/// Which requests it concerns, and what is done to their replies. All faults that match a request apply to it, in the
/// order in which they were added; what has its default value changes nothing.
struct Fault {
  static constexpr std::uint64_t always = ~std::uint64_t{0};
  using milliseconds = std::chrono::milliseconds;

  std::string method = {};       ///< only requests with this method; empty: any
  std::string target = {};       ///< only requests whose target contains this; empty: any
  std::uint64_t skip = 0;        ///< so many matching requests pass unharmed first
  std::uint64_t times = always;  ///< and after so many faults they do again

  // Before the reply.
  milliseconds delay{0};
  milliseconds tail{0};          ///< every `tail_every`-th request waits so long instead
  std::uint64_t tail_every = 0;  ///< 0: none does
  std::uint64_t rate = 0;        ///< bytes per second of all bodies together, in each direction; 0: no limit
  bool silent = false;           ///< there is never a reply
  bool unheard = false;          ///< the connection is reset, and the server behind the proxy is not asked
  bool lost = false;             ///< it is reset after that server has carried out the request, without a reply

  // Another reply than the right one.
  int status = 0;                  ///< replies with this status and `body`; 0: with the object or what the server says
  std::string body = {};           ///< {target} and {count} (requests so far) are replaced, here and in `headers`
  Headers headers = {};            ///< set in any reply; one with an empty value is removed instead
  bool no_ranges = false;          ///< 200 with the whole object for a range
  bool endless_list = false;       ///< a page of a ListObjectsV2 reply after which another one follows, always
  bool changes = false;            ///< each reply has another ETag and Last-Modified
  bool gzip = false;               ///< the body is compressed, as Content-Encoding says
  std::uint64_t header_bytes = 0;  ///< so many more bytes of headers, in lines of 4 KiB

  // How the reply is sent.
  std::optional<std::uint64_t> cut_after = {};  ///< the connection ends after so many bytes of a longer body
  bool reset = false;                           ///< where it ends early, by a reset
  std::uint64_t missing = 0;                    ///< Content-Length is larger than the body, by so much
  std::uint64_t surplus = 0;                    ///< so many bytes follow the body
  bool chunked = false;                         ///< without Content-Length, in chunks
  bool unsized = false;                         ///< without Content-Length, up to the connection's end
  std::uint64_t drip = 0;                       ///< so many bytes of the body at a time, ...
  milliseconds drip_every{100};                 ///< ... with this time before each
};

/// A refusal as S3 sends it when it is asked too often. `retry_after` in seconds; empty: the reply does not say.
inline Fault slow_down(const std::string& retry_after = "") {
  return {.status = 503,
          .body =
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>SlowDown</Code>"
              "<Message>Please reduce your request rate.</Message></Error>",
          .headers = {{"Content-Type", "application/xml"}, {"Retry-After", retry_after}}};
}

/// A redirect; {target} in it is the target of the request.
inline Fault redirect(const std::string& location, int status = 302) {
  return {.status = status, .headers = {{"Location", location}}};
}

inline Fault no_validators() { return {.headers = {{"ETag", ""}, {"Last-Modified", ""}}}; }

}  // namespace sherd::remote
