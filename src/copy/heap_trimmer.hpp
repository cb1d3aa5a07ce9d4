#pragma once

#include <atomic>
#include <cstdint>

namespace sherd {

/// Returns free memory to the system while chunks are encoded. Codecs allocate and free large blocks of varying sizes
/// in every call, on several threads. The C library keeps freed blocks between others, so a process that uses few bytes
/// would hold more memory with each object it makes. Thread-safe.
class HeapTrimmer {
 public:
  explicit HeapTrimmer(std::uint64_t memory_budget) noexcept;
  /// To be called after encoding `bytes` of elements; trims the heap if enough were encoded since the last time.
  void encoded(std::uint64_t bytes) noexcept;

 private:
  const std::uint64_t every_;
  std::atomic<std::uint64_t> since_{0};
};

}  // namespace sherd
