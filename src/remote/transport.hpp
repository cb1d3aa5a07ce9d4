// Sends HTTP requests with libcurl, many at a time, on the thread that waits for them. Connections outlive a transport:
// each call takes a handle with its open connections from a stack of the process, and returns it. A forked child
// forgets the stack without closing its connections, which belong to the parent. HTTP/1.1 always: the requests of one
// HTTP/2 connection share its throughput. A request that changes nothing and whose reply is late is sent once more, on
// another connection, and the first reply is used.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "remote/connection.hpp"
#include "remote/http.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

/// The reply's status and headers.
struct HttpHead {
  long status = 0;
  Headers headers = {};
};

/// One request under way, and what becomes of its reply.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Called once before the body. False, or a failure, ends the exchange.
  virtual Result<bool> head(HttpHead head) = 0;
  /// The next bytes of the body. False, or a failure, ends the exchange.
  virtual Result<bool> body(std::span<const std::byte> bytes) = 0;
};

/// How an exchange ended. It is complete unless `broken` or `failure` is set; an exchange that ended itself is, too.
struct Ended {
  Exchange* exchange = nullptr;
  std::optional<Error> failure = {};  ///< of the exchange's own functions, or of a request that cannot be sent
  std::optional<Error> broken = {};   ///< no reply, or only the beginning of one: another attempt may succeed
  bool is_repeated = false;           ///< a second request was sent, because the reply was late
};

class Transport {
 public:
  /// `unsupported` without libcurl.
  static Result<Transport> make(const Connection& connection);
  Transport(Transport&&) noexcept;
  Transport& operator=(Transport&&) = delete;
  ~Transport();

  struct Options {
    bool decodes = false;    ///< the body is requested with, and freed from, Content-Encoding gzip or deflate
    bool is_trusted = true;  ///< the user named the host
  };
  /// Sends a request. `exchange` must live until it is returned by wait(), or dropped.
  Result<void> send(const HttpRequest& request, Exchange& exchange, const Options& options);
  /// Requests without a complete reply, also those that were sent twice.
  [[nodiscard]] std::size_t under_way() const noexcept;
  /// Gives up an exchange.
  void drop(Exchange& exchange) noexcept;
  /// Transfers bytes until an exchange ends, but not for longer than `longest`.
  Result<std::vector<Ended>> wait(std::chrono::milliseconds longest);

 private:
  struct State;
  explicit Transport(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sherd::remote
