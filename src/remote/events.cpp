#include "remote/events.hpp"

#include <algorithm>
#include <utility>

namespace sherd::remote {

void Events::attach(const Curl& curl, CURLM* multi) {
  curl.curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &on_socket);
  curl.curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl.curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &on_timer);
  curl.curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
}

void Events::release(const Curl& curl, CURLM* multi) {
  curl.curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, nullptr);
  curl.curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, nullptr);
}

bool Events::act(const Curl& curl, CURLM* multi, CURLMcode& code) {
  int running = 0;
  if (timer_ && *timer_ <= Clock::now()) {
    timer_.reset();
    code = curl.curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    return true;
  }
  const auto ready = std::ranges::find_if(sockets_, [](const pollfd& each) { return each.revents != 0; });
  if (ready == sockets_.end()) return false;
  const auto events = static_cast<unsigned>(std::exchange(ready->revents, 0));
  const int seen = ((events & (POLLIN | POLLHUP)) != 0 ? CURL_CSELECT_IN : 0) |
                   ((events & POLLOUT) != 0 ? CURL_CSELECT_OUT : 0) |
                   ((events & (POLLERR | POLLNVAL)) != 0 ? CURL_CSELECT_ERR : 0);
  code = curl.curl_multi_socket_action(multi, ready->fd, seen, &running);
  return true;
}

void Events::wait(Clock::time_point until) {
  if (timer_) until = std::min(until, *timer_);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  ::poll(sockets_.data(), sockets_.size(), static_cast<int>(std::max<decltype(left)>(left, 0)));
}

int Events::on_socket(CURL* /*easy*/, curl_socket_t socket, int what, void* context, void* /*unused*/) {
  auto& sockets = static_cast<Events*>(context)->sockets_;
  auto found = std::ranges::find(sockets, socket, &pollfd::fd);
  if (what == CURL_POLL_REMOVE) {
    if (found != sockets.end()) sockets.erase(found);
    return 0;
  }
  if (found == sockets.end()) found = sockets.insert(found, {.fd = socket, .events = 0, .revents = 0});
  found->events =
      static_cast<short>(((what & CURL_POLL_IN) != 0 ? POLLIN : 0) | ((what & CURL_POLL_OUT) != 0 ? POLLOUT : 0));
  return 0;
}

int Events::on_timer(CURLM* /*multi*/, long delay, void* context) {
  auto& timer = static_cast<Events*>(context)->timer_;
  timer = delay < 0 ? std::nullopt : std::optional(Clock::now() + std::chrono::milliseconds(delay));
  return 0;
}

}  // namespace sherd::remote
