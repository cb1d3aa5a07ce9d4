// Each thread has one writer open at a time.
#include "store/with_writers.hpp"

#include <algorithm>

#include "base/pool.hpp"

namespace sherd {

std::uint64_t writer_bytes(const StoreTraits& traits, std::uint64_t bytes) noexcept {
  return std::min(traits.writer_bytes, bytes);
}

Config with_writers(const Config& config, const StoreTraits& traits, const ObjectsToWrite& objects) {
  Config result = config;
  const std::uint64_t each = writer_bytes(traits, objects.bytes);
  if (each == 0 || objects.count == 0) return result;
  const std::uint64_t wanted = std::min<std::uint64_t>(objects.count, thread_count(config.threads));
  const std::uint64_t half = config.memory_budget / 2;
  const std::uint64_t writers = std::clamp<std::uint64_t>(half / each, 1, wanted);
  if (writers < wanted) result.threads = static_cast<unsigned>(writers);
  result.memory_budget -= std::min(half, writers * each);
  return result;
}

}  // namespace sherd
