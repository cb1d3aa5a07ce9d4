#include "tests/faults/allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "sherd/result.hpp"

namespace {

constexpr long kNone = std::numeric_limits<long>::max();

/// How many allocations by `new` succeed before one fails.
std::atomic<long> allocations_left{kNone};
std::atomic<bool> fails_from_then_on{false};

bool fails() noexcept {
  if (allocations_left.load(std::memory_order_relaxed) == kNone) return false;
  const long left = allocations_left.fetch_sub(1);
  return left == 0 || (left < 0 && fails_from_then_on);
}

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (fails()) return nullptr;
  return std::aligned_alloc(alignment, (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment);
}

}  // namespace

void* operator new(std::size_t size) {
  void* memory = allocate(size, alignof(std::max_align_t));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  void* memory = allocate(size, static_cast<std::size_t>(alignment));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate(size, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept { std::free(memory); }

namespace faults {
namespace {

struct Outcome {
  bool has_failed = false;  ///< an allocation
  bool is_acknowledged = false;
  std::optional<sherd::Error> error = {};
};

Outcome run(const std::function<void()>& act, long succeeding, NoMemory kind) {
  Outcome outcome;
  std::optional<sherd::Exception> thrown;
  fails_from_then_on = kind == NoMemory::from_then_on;
  allocations_left = succeeding;
  const auto end = [&] { outcome.has_failed = allocations_left.exchange(kNone) < 0; };
  try {
    act();
    end();
    outcome.is_acknowledged = true;
  } catch (const std::bad_alloc&) {
    end();
  } catch (const sherd::Exception& failure) {
    end();
    outcome.error = failure.error();
  }
  return outcome;
}

}  // namespace

std::size_t for_each_failing_allocation(NoMemory kind, const std::function<std::function<void()>()>& begin,
                                        const std::function<void(bool is_acknowledged)>& expect, std::size_t step) {
  std::size_t failed = 0;
  for (bool is_done = false; !is_done && !testing::Test::HasFailure();) {
    SCOPED_TRACE("allocation " + std::to_string(failed * step) +
                 (kind == NoMemory::from_then_on ? " and all later ones" : ""));
    Outcome outcome;
    {
      const std::function<void()> act = begin();
      outcome = run(act, static_cast<long>(failed * step), kind);
    }
    if (outcome.error) {
      EXPECT_EQ(outcome.error->code(), sherd::ErrorCode::unavailable) << outcome.error->text();
    }
    expect(outcome.is_acknowledged);
    is_done = !outcome.has_failed;
    if (!is_done) ++failed;
  }
  return failed;
}

}  // namespace faults
