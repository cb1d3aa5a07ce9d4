#include "copy/heap_trimmer.hpp"

#include <malloc.h>

#include <algorithm>

namespace sherd {

HeapTrimmer::HeapTrimmer(std::uint64_t memory_budget) noexcept
    : every_(std::max(memory_budget, std::uint64_t{8} << 20)) {}

void HeapTrimmer::encoded(std::uint64_t bytes) noexcept {
  if (since_.fetch_add(bytes) + bytes < every_ || since_.exchange(0) < every_) return;
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace sherd
