// A block of memory filled with values from its beginning and with their records from its end.
#pragma once

#include <cstdint>
#include <span>

#include "base/buffer.hpp"
#include "neuroglancer/spill_file.hpp"
#include "neuroglancer/stored_keys.hpp"
#include "sherd/options.hpp"

namespace sherd {

class ValueArena {
 public:
  /// A value and its destination.
  struct Record {
    std::uint64_t route;
    std::uint64_t id;
    std::uint64_t offset;  ///< of the value, in the arena or, if `spilled`, in the temporary file
    std::uint64_t length : 63;
    std::uint64_t spilled : 1;
    std::uint64_t preceding;  ///< the part of its bytes before the value
    [[nodiscard]] StoredKey key() const noexcept { return {id, {offset, length}, preceding}; }
  };

  static Result<ValueArena> make(std::uint64_t bytes);

  [[nodiscard]] bool fits(std::uint64_t value_bytes) const noexcept {
    return value_bytes <= block_.size() && free_bytes() >= value_bytes + sizeof(Record);
  }
  [[nodiscard]] std::uint64_t most_value_bytes() const noexcept { return block_.size() - sizeof(Record); }
  /// A value, and the bytes before it that belong to it.
  struct Parts {
    std::span<const std::byte> preceding, value;
    [[nodiscard]] std::uint64_t size() const noexcept { return preceding.size() + value.size(); }
  };
  /// Adds a value, which must fit.
  void add(std::uint64_t route, std::uint64_t id, const Parts& parts) noexcept;
  /// Adds a value whose bytes are already in the file, `preceding` of them before it; a value of no bytes must fit.
  void add_spilled(std::uint64_t route, const StoredKey& key) noexcept;
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Whether none of it is in a file.
  [[nodiscard]] bool whole() const noexcept { return !spilled_; }

  /// Sorts the records by shard, minishard and id.
  Result<void> sort(const Config& config);
  /// The keys of the sorted records; their extents are ranges of values().
  [[nodiscard]] std::vector<StoredKey> keys() const;
  [[nodiscard]] std::span<const std::byte> values() const noexcept { return block_.span().first(used_); }
  /// Writes values and keys in sorted order, empties the arena, and returns the offset of the keys.
  Result<Extent> spill(SpillFile& to);

 private:
  [[nodiscard]] std::uint64_t free_bytes() const noexcept { return block_.size() - used_ - count_ * sizeof(Record); }
  [[nodiscard]] Record* records() const noexcept;
  void put(const Record& record) noexcept;

  mutable Buffer block_;
  std::uint64_t used_ = 0;
  std::uint64_t count_ = 0;
  bool spilled_ = false;
};

}  // namespace sherd
