// Handles of libcurl, each with its open connections, which outlive the calls that opened them; and how fast the
// servers were.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "remote/address.hpp"
#include "remote/libraries.hpp"
#include "remote/reply_times.hpp"

namespace sherd::remote {

/// A handle of libcurl, and how many connections it has.
struct Handle {
  Handle(const Curl& functions, CURLM* made) : curl(functions), multi(made) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { curl.curl_multi_cleanup(multi); }

  const Curl& curl;
  CURLM* const multi;
  std::size_t connections = 0;
};

/// The process's stack of handles that are not in use. Calls that run at the same time have a handle each.
class Handles {
 public:
  /// That of this process: a forked child has its own, which is empty.
  static Handles& get();
  /// nullptr if there is none.
  std::unique_ptr<Handle> take();
  /// Closes those that were unused for longest if there are more connections than `most`.
  void give_back(std::unique_ptr<Handle> handle, std::size_t most);

  /// A reply of `server` began after this time.
  void add_time(const Origin& server, ReplyTimes::Duration time);
  /// After which time a reply of `server` is late.
  [[nodiscard]] std::optional<ReplyTimes::Duration> late(const Origin& server);

 private:
  std::mutex mutex_;
  std::vector<std::pair<Origin, ReplyTimes>> times_;  ///< the server that was seen last, last
  std::vector<std::unique_ptr<Handle>> idle_;
};

}  // namespace sherd::remote
