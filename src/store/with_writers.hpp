// The memory that writers of objects hold, as a part of a call's budget.
#pragma once

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
/// (always one), and as memory budget what the writers leave.
[[nodiscard]] Config with_writers(const Config& config, const StoreTraits& traits, const ObjectsToWrite& objects = {});

}  // namespace sherd
