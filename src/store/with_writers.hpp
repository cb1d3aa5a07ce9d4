// Loops that write objects: how many threads they have, in which order, and the memory that writers hold, as a part of
// a call's budget.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sherd/store.hpp"

namespace sherd {

/// The objects that a loop writes, one in each iteration.
struct ObjectsToWrite {
  std::uint64_t count = ~std::uint64_t{0};  ///< or more
  std::uint64_t bytes = ~std::uint64_t{0};  ///< maximum size of each
};

/// The memory that the writer of an object of `bytes` bytes holds.
[[nodiscard]] std::uint64_t writer_bytes(const StoreTraits& traits, std::uint64_t bytes) noexcept;

/// The call's configuration for such a loop: at most as many threads as half of the memory budget has room for writers
/// (always one), and as memory budget what the writers leave. Small files have more threads than there are cores,
/// unless the caller says how many: most of them wait for the disk.
[[nodiscard]] Config with_writers(const Config& config, const StoreTraits& traits, const ObjectsToWrite& objects = {});

/// How many threads commit objects beside such a loop (Commits), whose own threads then need not wait for the disk: it
/// should say that it has thread_count(0). 0 if they should commit.
[[nodiscard]] std::size_t committing_threads(const Config& config, const StoreTraits& traits) noexcept;

/// The call's configuration for a loop that copies objects of any size, which takes the memory of each by itself.
[[nodiscard]] Config with_copies(const Config& config, const StoreTraits& from, const StoreTraits& to);

/// The order in which the threads of such a loop write `count` objects, which are neighbours in the order of their
/// keys.
class WriteOrder {
 public:
  WriteOrder(const Config& config, const StoreTraits& traits, std::uint64_t count) noexcept;
  /// The number of the object that a thread writes at this place of the loop, below `count`.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t place) const noexcept;

 private:
  std::uint64_t lanes_, each_, longer_;
};

}  // namespace sherd
