// Records have a fixed size and are at the end of the block, the last one first, so values and records share the memory
// as needed: few large values, or many that are smaller than their records.
#include "neuroglancer/value_arena.hpp"

#include <algorithm>
#include <cstring>

#include "base/pool.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

using Record = ValueArena::Record;

constexpr std::size_t kSortAlone = std::size_t{1} << 14;
constexpr std::size_t kSpillBytes = std::size_t{256} << 10;

/// A type rather than a function, so that sorting can inline it.
struct Before {
  bool operator()(const Record& a, const Record& b) const noexcept {
    return a.route != b.route ? a.route < b.route : a.id < b.id;
  }
};
constexpr Before before;

/// Quicksort whose two sides are sorted in parallel, as deep as there are threads.
Result<void> sort_parts(std::span<Record> records, unsigned threads, const Config& config) {
  if (threads <= 1 || records.size() <= kSortAlone) {
    std::sort(records.begin(), records.end(), before);
    return {};
  }
  const Record a = records.front(), b = records[records.size() / 2], c = records.back();
  const Record& pivot = std::max(std::min(a, b, before), std::min(std::max(a, b, before), c, before), before);
  const auto middle =
      std::partition(records.begin(), records.end(), [&](const Record& each) { return before(each, pivot); });
  const auto left = static_cast<std::size_t>(middle - records.begin());
  return parallel_for(2, config, [&](std::size_t side) {
    return sort_parts(side == 0 ? records.first(left) : records.subspan(left), threads / 2, config);
  });
}

/// Collects small consecutive pieces of a file.
class SpillWriter {
 public:
  SpillWriter(SpillFile& to, std::uint64_t offset) : to_(to), offset_(offset) {}
  Result<void> put(std::span<const std::byte> bytes) {
    if (filled_ + bytes.size() > kSpillBytes) SHERD_TRY(flush());
    if (bytes.size() > kSpillBytes) {
      SHERD_TRY(to_.write(offset_, bytes));
      offset_ += bytes.size();
      return {};
    }
    if (buffer_->size() != kSpillBytes) SHERD_TRY(buffer_->resize(kSpillBytes));
    if (!bytes.empty()) std::memcpy(buffer_->data() + filled_, bytes.data(), bytes.size());
    filled_ += bytes.size();
    return {};
  }
  Result<void> flush() {
    SHERD_TRY(to_.write(offset_, buffer_->span().first(filled_)));
    offset_ += std::exchange(filled_, 0);
    return {};
  }
  [[nodiscard]] std::uint64_t end() const noexcept { return offset_ + filled_; }

 private:
  SpillFile& to_;
  std::uint64_t offset_;
  Scratch buffer_;
  std::size_t filled_ = 0;
};

}  // namespace

Result<ValueArena> ValueArena::make(std::uint64_t bytes) {
  ValueArena arena;
  SHERD_TRY(arena.block_.resize(bytes / sizeof(Record) * sizeof(Record)));
  return arena;
}

Record* ValueArena::records() const noexcept {
  return reinterpret_cast<Record*>(block_.data() + block_.size()) - count_;
}

void ValueArena::put(const Record& record) noexcept {
  ++count_;
  std::memcpy(static_cast<void*>(records()), &record, sizeof record);
}

void ValueArena::add(std::uint64_t route, std::uint64_t id, const Parts& parts) noexcept {
  put({route, id, used_, parts.size(), 0, parts.preceding.size()});
  for (const auto& bytes : {parts.preceding, parts.value}) {
    if (!bytes.empty()) std::memcpy(block_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
}

void ValueArena::add_spilled(std::uint64_t route, const StoredKey& key) noexcept {
  put({route, key.id, key.value.offset, key.value.length, 1, key.preceding});
  spilled_ = true;
}

Result<void> ValueArena::sort(const Config& config) {
  return sort_parts({records(), count_}, 2 * thread_count(config.threads), config);
}

std::vector<StoredKey> ValueArena::keys() const {
  std::vector<StoredKey> keys;
  keys.reserve(count_);
  for (const Record& record : std::span(records(), count_)) keys.push_back(record.key());
  return keys;
}

Result<Extent> ValueArena::spill(SpillFile& to) {
  const std::span sorted(records(), count_);
  SpillWriter values(to, to.reserve(used_));
  for (Record& record : sorted) {
    if (record.spilled != 0) continue;
    const std::uint64_t offset = values.end();
    SHERD_TRY(values.put(block_.span().subspan(record.offset, record.length)));
    record.offset = offset;
  }
  SHERD_TRY(values.flush());
  const Extent where{to.reserve(count_ * sizeof(StoredKey)), count_ * sizeof(StoredKey)};
  SpillWriter keys(to, where.offset);
  for (const Record& record : sorted) {
    const StoredKey key = record.key();
    SHERD_TRY(keys.put(std::as_bytes(std::span(&key, 1))));
  }
  SHERD_TRY(keys.flush());
  used_ = count_ = 0;
  spilled_ = false;
  return where;
}

}  // namespace sherd
