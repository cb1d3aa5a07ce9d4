// How long a server takes to begin its replies, and after which time a reply is late.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "remote/address.hpp"

namespace sherd::remote {

class ReplyTimes {
 public:
  using Duration = std::chrono::steady_clock::duration;
  /// No reply is late before this time, nor before so many were seen.
  static constexpr std::chrono::milliseconds least_late{100};
  static constexpr std::size_t least_seen = 16;

  /// A reply of `origin` began after `time`. What was seen of another origin is forgotten.
  void add(const Origin& origin, Duration time);
  /// Twice the time within which 19 of 20 of the last replies of `origin` began.
  [[nodiscard]] std::optional<Duration> late(const Origin& origin) const {
    return origin == origin_ ? late_ : std::nullopt;
  }

 private:
  Origin origin_;
  std::array<Duration, 64> last_{};
  std::size_t seen_ = 0;
  std::optional<Duration> late_;
};

}  // namespace sherd::remote
