// The index of a shard: the only code in which stored words become ranges. It handles the 2^64-1 sentinel and the
// checks of overflow and bounds. Offsets are relative to the beginning of the shard.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/checked.hpp"
#include "codec/chain.hpp"
#include "sherd/array.hpp"
#include "store/extent.hpp"

namespace sherd {

/// How a shard's index is encoded and where it is.
struct IndexFormat {
  CodecChain codecs;
  IndexLocation location = IndexLocation::end;

  /// The encoded size for a shard with this many inner chunks per dimension; unsupported above limits.index_bytes.
  [[nodiscard]] Result<std::uint64_t> encoded_size(const Shape& grid, const Limits& limits) const;
};

/// One (offset, nbytes) pair per slot, in C order of the inner chunks.
class ShardIndex {
 public:
  /// All slots empty; for a new shard, or one of this size whose extents are kept elsewhere.
  explicit ShardIndex(std::uint64_t slots, std::uint64_t object_size = 0)
      : words_(slots * 2, kEmpty), object_size_(object_size) {}

  /// Decodes the index of a shard of `object_size` bytes.
  static Result<ShardIndex> decode(const IndexFormat& format, const Shape& grid, std::span<const std::byte> encoded,
                                   std::uint64_t object_size);
  Result<void> encode(const IndexFormat& format, const Shape& grid, Buffer& to) const;

  [[nodiscard]] std::uint64_t slots() const noexcept { return words_.size() / 2; }
  [[nodiscard]] bool empty(std::uint64_t slot) const noexcept {
    return words_[2 * slot] == kEmpty && words_[2 * slot + 1] == kEmpty;
  }
  /// The state of a slot's entry.
  enum class Entry : std::uint8_t {
    empty,
    stored,
    half_empty,     ///< one of its two words is the sentinel
    overflow,       ///< it ends beyond 2^64
    out_of_bounds,  ///< it ends beyond the shard
  };
  [[nodiscard]] Entry entry(std::uint64_t slot) const noexcept {
    const Extent extent = placed(slot);
    if (empty(slot)) return Entry::empty;
    if (extent.offset == kEmpty || extent.length == kEmpty) return Entry::half_empty;
    const auto end = checked_add(extent.offset, extent.length);
    if (!end) return Entry::overflow;
    return *end > object_size_ ? Entry::out_of_bounds : Entry::stored;
  }
  /// The number of slots that are not empty.
  [[nodiscard]] std::uint64_t count() const noexcept;
  /// The slot's bytes, nullopt if it is empty; `corrupt` if the entry is half empty, overflows or ends beyond the
  /// shard. Such an entry affects only its own slot.
  [[nodiscard]] Result<std::optional<Extent>> extent(std::uint64_t slot) const;

  /// The unchecked words of a non-empty slot: an extent if the entry is `stored` or was set.
  [[nodiscard]] Extent placed(std::uint64_t slot) const noexcept { return {words_[2 * slot], words_[2 * slot + 1]}; }

  void set(std::uint64_t slot, Extent extent) noexcept {
    words_[2 * slot] = extent.offset;
    words_[2 * slot + 1] = extent.length;
  }
  void clear(std::uint64_t slot) noexcept { words_[2 * slot] = words_[2 * slot + 1] = kEmpty; }

  /// The shard's size in bytes when the index was decoded; 0 for a new one.
  [[nodiscard]] std::uint64_t object_size() const noexcept { return object_size_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return words_.size() * sizeof(std::uint64_t) + sizeof *this;
  }
  /// Whether it was read from the copy at the end of the shard, because the index at the beginning is written in part.
  [[nodiscard]] bool is_copy() const noexcept { return is_copy_; }
  void set_copy() noexcept { is_copy_ = true; }
  friend bool operator==(const ShardIndex&, const ShardIndex&) = default;

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  std::vector<std::uint64_t> words_;
  std::uint64_t object_size_;
  bool is_copy_ = false;
};

/// How the index of one shard is written: the interface between a writer of shards and a kind of index.
class IndexCoding {
 public:
  virtual ~IndexCoding() = default;
  [[nodiscard]] virtual std::uint64_t slots() const noexcept = 0;
  /// The number of bytes at the beginning of the shard that no chunk may use.
  [[nodiscard]] virtual Result<std::uint64_t> head_bytes() const = 0;
  /// Bytes of the index and their offset in the shard.
  struct Part {
    std::uint64_t offset = 0;
    Buffer bytes;
  };
  /// The encoded index of a shard whose chunks end before `end`.
  [[nodiscard]] virtual Result<std::vector<Part>> encode(const ShardIndex& index, std::uint64_t end) const = 0;
};

/// The index of sharding_indexed: one block of a size known in advance.
class SlotIndexCoding final : public IndexCoding {
 public:
  /// References must outlive the coding.
  SlotIndexCoding(const IndexFormat& format, Shape grid, const Limits& limits)
      : format_(format), grid_(std::move(grid)), limits_(limits), slots_(*element_count(grid_)) {}
  [[nodiscard]] std::uint64_t slots() const noexcept override { return slots_; }
  [[nodiscard]] Result<std::uint64_t> head_bytes() const override;
  [[nodiscard]] Result<std::vector<Part>> encode(const ShardIndex& index, std::uint64_t end) const override;

 private:
  const IndexFormat& format_;
  const Shape grid_;
  const Limits& limits_;
  const std::uint64_t slots_;
};

}  // namespace sherd
