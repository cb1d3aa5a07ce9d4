#include "remote/reply_times.hpp"

#include <algorithm>

namespace sherd::remote {

void ReplyTimes::add(Duration time) {
  last_[seen_++ % last_.size()] = time;
  if (seen_ < least_seen) return;
  auto sorted = last_;
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(std::min(seen_, sorted.size()));
  const auto slow = end - 1 - (end - sorted.begin()) / 20;
  std::nth_element(sorted.begin(), slow, end);
  late_ = std::max<Duration>(2 * *slow, least_late);
}

}  // namespace sherd::remote
