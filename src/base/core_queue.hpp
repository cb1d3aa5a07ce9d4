// A call to a store far away has more threads than there are cores, because most of them wait for replies. All of them
// computing at the same time would end at the same time, and the connections would be idle until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <semaphore>
#include <utility>

namespace sherd {

/// Lets at most so many threads compute at a time as there are cores, those with the lowest number first.
class CoreQueue {
 public:
  explicit CoreQueue(unsigned cores) noexcept : free_(cores) {}
  CoreQueue(const CoreQueue&) = delete;
  CoreQueue& operator=(const CoreQueue&) = delete;

  /// A core of one thread. The thread must not wait for another thread that may need one.
  class Core {
   public:
    Core() = default;
    Core(Core&& other) noexcept : queue_(std::exchange(other.queue_, nullptr)) {}
    Core& operator=(Core&&) = delete;
    ~Core() {
      if (queue_ != nullptr) queue_->release();
    }

   private:
    friend class CoreQueue;
    explicit Core(CoreQueue& queue) noexcept : queue_(&queue) {}
    CoreQueue* queue_ = nullptr;
  };

  /// Waits for a core; threads with the same number get one in the order in which they came.
  [[nodiscard]] Core take(std::uint64_t number);
  /// The number of threads that wait.
  [[nodiscard]] std::size_t waiting() const;

 private:
  void release();

  mutable std::mutex mutex_;  // guards what follows
  unsigned free_;
  std::multimap<std::uint64_t, std::binary_semaphore*> waiting_;
};

}  // namespace sherd
