// What a handle of libcurl waits for: sockets, and a time.
#pragma once

#include <poll.h>

#include <chrono>
#include <optional>
#include <vector>

#include "remote/libraries.hpp"

namespace sherd::remote {

class Events {
 public:
  using Clock = std::chrono::steady_clock;

  /// libcurl reports to this until release().
  void attach(const Curl& curl, CURLM* multi);
  static void release(const Curl& curl, CURLM* multi);

  /// Lets libcurl act on one event: a time that has come before a socket that is ready, because it begins requests.
  /// False if there is none.
  bool act(const Curl& curl, CURLM* multi, CURLMcode& code);

  /// Waits until a socket is ready or the time has come, but not after `until`.
  void wait(Clock::time_point until);

 private:
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* context, void* unused);
  static int on_timer(CURLM* multi, long delay, void* context);

  std::vector<pollfd> sockets_;
  std::optional<Clock::time_point> timer_;
};

}  // namespace sherd::remote
