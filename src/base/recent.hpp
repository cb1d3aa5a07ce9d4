// A list of the N values that were added last. Thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace sherd {

template <class T, std::size_t N>
class Recent {
 public:
  /// A value for which `is_wanted` returns true, or nullptr.
  template <class IsWanted>
  [[nodiscard]] std::shared_ptr<const T> find(const IsWanted& is_wanted) {
    const std::lock_guard hold(mutex_);
    const auto found = std::ranges::find_if(values_, [&](const auto& each) { return each && is_wanted(*each); });
    return found == values_.end() ? nullptr : *found;
  }
  /// Replaces the oldest value if there are N.
  void add(T value) {
    auto added = std::make_shared<const T>(std::move(value));
    const std::lock_guard hold(mutex_);
    values_[next_] = std::move(added);
    next_ = (next_ + 1) % N;
  }

 private:
  std::mutex mutex_;
  std::array<std::shared_ptr<const T>, N> values_;
  std::size_t next_ = 0;
};

}  // namespace sherd
