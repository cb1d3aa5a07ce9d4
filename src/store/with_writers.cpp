// Each thread has one writer open at a time.
#include "store/with_writers.hpp"

#include <algorithm>

#include "base/pool.hpp"

namespace sherd {
namespace {

bool are_files(const StoreTraits& traits) noexcept { return traits.amend == AmendCost::at_once; }

/// Whether threads wait for the disk, and the caller has not said how many there are.
bool waits_for_disk(const Config& config, const StoreTraits& traits) noexcept {
  return are_files(traits) && config.durable && config.threads == 0;
}

constexpr std::uint64_t kSmallObjectBytes = std::uint64_t{4} << 20;

}  // namespace

std::uint64_t writer_bytes(const StoreTraits& traits, std::uint64_t bytes) noexcept {
  return std::min(traits.writer_bytes, bytes);
}

Config with_writers(const Config& config, const StoreTraits& traits, const ObjectsToWrite& objects) {
  Config result = config;
  if (waits_for_disk(config, traits) && objects.bytes <= kSmallObjectBytes)
    // A journal commits the syncs of several files at once.
    result.threads = std::max(thread_count(0), kWaitingThreads);
  const std::uint64_t each = writer_bytes(traits, objects.bytes);
  if (each == 0 || objects.count == 0) return result;
  const std::uint64_t wanted = std::min<std::uint64_t>(objects.count, thread_count(result.threads));
  const std::uint64_t half = config.memory_budget / 2;
  const std::uint64_t writers = std::clamp<std::uint64_t>(half / each, 1, wanted);
  if (writers < wanted) result.threads = static_cast<unsigned>(writers);
  result.memory_budget -= std::min(half, writers * each);
  return result;
}

std::size_t committing_threads(const Config& config, const StoreTraits& traits) noexcept {
  return waits_for_disk(config, traits) ? kWaitingThreads : 0;
}

Config with_copies(const Config& config, const StoreTraits& from, const StoreTraits& to) {
  return with_writers(with_requests(config, std::max(from.parallel_requests, to.parallel_requests)), to, {.bytes = 0});
}

// Each of `lanes_` threads has a run of neighbours, and the first runs are longer by one. A file system makes and
// renames the files of a directory one at a time, so threads in the same one would wait for each other. In an archive,
// what is written one after the other is stored side by side, and read together.
WriteOrder::WriteOrder(const Config& config, const StoreTraits& traits, std::uint64_t count) noexcept
    : lanes_(are_files(traits) ? thread_count(config.threads) : 1), each_(count / lanes_), longer_(count % lanes_) {}

std::uint64_t WriteOrder::operator()(std::uint64_t place) const noexcept {
  const bool is_last = place >= each_ * lanes_;  // of a longer run
  const std::uint64_t lane = is_last ? place - each_ * lanes_ : place % lanes_;
  return lane * each_ + std::min(lane, longer_) + (is_last ? each_ : place / lanes_);
}

}  // namespace sherd
