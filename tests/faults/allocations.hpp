// Allocations that fail on request: `new` is replaced in the program of these tests.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace faults {

enum class NoMemory : bool { once, from_then_on };

/// Runs `act` in a way that one of its allocations by `new`, in any thread, fails, and with `from_then_on` all later
/// ones; the first run fails at the first allocation, each other one `step` allocations later, and the last one
/// does not fail. `begin` prepares the next run and returns `act`. After each run, expect(is_acknowledged) is called:
/// whether it has thrown nothing. What is thrown must be std::bad_alloc or the error `unavailable`.
/// Returns the number of runs that failed.
std::size_t for_each_failing_allocation(NoMemory kind, const std::function<std::function<void()>()>& begin,
                                        const std::function<void(bool is_acknowledged)>& expect, std::size_t step = 1);

}  // namespace faults
