// How long servers take to begin their replies, and after which time a reply is late.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

namespace sherd::remote {

/// Of one server.
class ReplyTimes {
 public:
  using Duration = std::chrono::steady_clock::duration;
  /// No reply is late before this time, nor before so many were seen.
  static constexpr std::chrono::milliseconds least_late{100};
  static constexpr std::size_t least_seen = 16;

  void add(Duration time);
  /// Twice the time within which 19 of 20 of the last replies began.
  [[nodiscard]] std::optional<Duration> late() const { return late_; }

 private:
  std::array<Duration, 64> last_{};
  std::size_t seen_ = 0;
  std::optional<Duration> late_;
};

}  // namespace sherd::remote
