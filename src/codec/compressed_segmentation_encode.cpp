// Encodes labels as compressed_segmentation: every block gets the smallest indices that are sufficient and a sorted
// table, and equal tables of a channel are stored once. Most rows of a real segmentation contain one or two labels;
// these are numbered without a branch per voxel.
#include <bit>
#include <cstring>

#include "base/endian.hpp"
#include "codec/compressed_segmentation.hpp"

namespace sherd::segmentation {
namespace {

constexpr std::uint64_t kMaxOffset = 0xffffffff;

/// Bits of an index into a table of `labels` labels.
constexpr unsigned width_for(std::uint64_t labels) noexcept {
  unsigned width = labels > 1 ? 1 : 0;
  while (width < 32 && labels > std::uint64_t{1} << width) width *= 2;
  return width;
}

/// Numbers the labels of one block in order of occurrence.
template <class Label>
class Numbering {
 public:
  /// Memory for blocks of `voxels` voxels.
  Result<void> reserve(std::uint64_t voxels) {
    const std::uint64_t slots = std::bit_ceil(2 * voxels);
    shift_ = static_cast<unsigned>(64 - std::countr_zero(slots));
    SHERD_TRY(labels_.resize(voxels * sizeof(Label)));
    SHERD_TRY(homes_.resize(voxels * sizeof(std::uint32_t)));
    SHERD_TRY(slots_.resize(slots * sizeof(std::uint32_t)));
    // A slot is in use if the label that it refers to points back at it, so slots are never cleared.
    std::memset(slots_.data(), 0, slots_.size());
    return {};
  }
  void clear() noexcept { count_ = 0; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] const Label* labels() const noexcept { return reinterpret_cast<const Label*>(labels_.data()); }

  std::uint32_t number(Label label) noexcept {
    auto* labels = reinterpret_cast<Label*>(labels_.data());
    auto* homes = reinterpret_cast<std::uint32_t*>(homes_.data());
    auto* slots = reinterpret_cast<std::uint32_t*>(slots_.data());
    const std::uint64_t mask = slots_.size() / sizeof(std::uint32_t) - 1;
    auto slot = static_cast<std::uint32_t>(std::uint64_t{label} * 0x9e3779b97f4a7c15 >> shift_);
    for (;; slot = static_cast<std::uint32_t>((slot + 1) & mask)) {
      const std::uint32_t number = slots[slot];
      if (number >= count_ || homes[number] != slot) break;
      if (labels[number] == label) return number;
    }
    labels[count_] = label;
    homes[count_] = slot;
    slots[slot] = count_;
    return count_++;
  }

 private:
  Buffer labels_, homes_, slots_;
  unsigned shift_ = 0;
  std::uint32_t count_ = 0;
};

/// The labels of one block, and the number of each voxel's.
template <class Label>
class BlockLabels {
 public:
  explicit BlockLabels(const Geometry& geometry) noexcept : geometry_(geometry), size_(volume(geometry.block)) {}

  Result<void> reserve() {
    Triple most = geometry_.block;
    for (std::size_t d = 0; d < most.size(); ++d) most[d] = std::min(most[d], geometry_.shape[d]);
    const std::uint64_t labels = volume(most);
    SHERD_TRY(numbering_.reserve(labels));
    SHERD_TRY(order_.resize(labels * sizeof(std::uint32_t)));
    SHERD_TRY(sorted_.resize(labels * sizeof(Label)));
    SHERD_TRY(ranks_.resize((labels + 1) * sizeof(std::uint32_t)));
    return numbers_.resize(size_ * sizeof(std::uint32_t));
  }

  void collect(const Block& block, const std::byte* channel) noexcept {
    numbering_.clear();
    const Label first = load(channel + block.first * sizeof(Label));
    last_ = before_ = {first, numbering_.number(first)};
    std::uint32_t* numbers = words(numbers_);
    if (block.extents != geometry_.block) std::fill_n(numbers, size_, padding());
    for_each_row(geometry_, block, [&](std::uint64_t voxel, std::uint64_t position) {
      const std::byte* row = channel + voxel * sizeof(Label);
      if (block.extents[0] == kUsualRow)
        number_row(row, std::integral_constant<std::uint64_t, kUsualRow>{}, numbers + position);
      else
        number_row(row, block.extents[0], numbers + position);
      return true;
    });
    sort();
  }

  /// The block's table as stored.
  [[nodiscard]] Bytes table() const noexcept { return sorted_.span().first(numbering_.count() * sizeof(Label)); }
  [[nodiscard]] std::uint64_t count() const noexcept { return numbering_.count(); }

  [[nodiscard]] std::uint64_t packed_bytes(unsigned width) const noexcept {
    return ceil_div(size_ * width, 32) * kWordBytes;
  }
  void pack(unsigned width, std::byte* to) const noexcept {
    switch (width) {
      case 0:
        return;
      case 1:
        return pack_as<1>(to);
      case 2:
        return pack_as<2>(to);
      case 4:
        return pack_as<4>(to);
      case 8:
        return pack_as<8>(to);
      case 16:
        return pack_as<16>(to);
      default:
        return pack_as<32>(to);
    }
  }

 private:
  static constexpr std::uint64_t kUsualRow = 8;
  struct Numbered {
    Label label;
    std::uint32_t number;
  };

  static std::uint32_t* words(Buffer& buffer) noexcept { return reinterpret_cast<std::uint32_t*>(buffer.data()); }
  static const std::uint32_t* words(const Buffer& buffer) noexcept {
    return reinterpret_cast<const std::uint32_t*>(buffer.data());
  }
  static Label load(const std::byte* from) noexcept {
    Label label;
    std::memcpy(&label, from, sizeof label);
    return label;
  }
  /// Marks positions of a clipped block that have no voxel; its rank is 0.
  [[nodiscard]] std::uint32_t padding() const noexcept {
    return static_cast<std::uint32_t>(ranks_.size() / sizeof(std::uint32_t) - 1);
  }

  /// Rows with only one label, or only the two most recent ones, take no branch per voxel.
  template <class Count>
  void number_row(const std::byte* row, Count count, std::uint32_t* to) noexcept {
    Label differs = 0;
    for (std::uint64_t i = 0; i < count; ++i) differs |= load(row + i * sizeof(Label)) ^ last_.label;
    if (differs == 0) {
      std::fill_n(to, std::uint64_t{count}, last_.number);
      return;
    }
    unsigned others = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Label label = load(row + i * sizeof(Label));
      const bool is_last = label == last_.label;
      to[i] = is_last ? last_.number : before_.number;
      others |= static_cast<unsigned>(!is_last) & static_cast<unsigned>(label != before_.label);
    }
    if (others == 0) return;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Label label = load(row + i * sizeof(Label));
      if (label != last_.label) {
        std::swap(last_, before_);
        if (label != last_.label) last_ = {label, numbering_.number(label)};
      }
      to[i] = last_.number;
    }
  }

  void sort() noexcept {
    const std::uint32_t count = numbering_.count();
    const Label* labels = numbering_.labels();
    std::uint32_t* order = words(order_);
    std::uint32_t* ranks = words(ranks_);
    for (std::uint32_t i = 0; i < count; ++i) order[i] = i;
    if (count > 1)
      std::sort(order, order + count, [&](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });
    for (std::uint32_t i = 0; i < count; ++i) {
      ranks[order[i]] = i;
      store_little(sorted_.data() + i * sizeof(Label), labels[order[i]]);
    }
    ranks[padding()] = 0;
  }

  template <unsigned kWidth>
  void pack_as(std::byte* to) const noexcept {
    constexpr std::uint64_t per_word = 32 / kWidth;
    const std::uint32_t* numbers = words(numbers_);
    const std::uint32_t* ranks = words(ranks_);
    const auto word_of = [&](const std::uint32_t* from, std::uint64_t count) {
      std::uint32_t word = 0;
      for (std::uint64_t i = 0; i < count; ++i) word |= ranks[from[i]] << (i * kWidth);
      return word;
    };
    std::uint64_t done = 0;
    for (; size_ - done >= per_word; done += per_word, to += kWordBytes)
      store_little(to, word_of(numbers + done, per_word));
    if (done < size_) store_little(to, word_of(numbers + done, size_ - done));
  }

  const Geometry& geometry_;
  std::uint64_t size_;  ///< voxels of an unclipped block
  Numbering<Label> numbering_;
  Buffer numbers_, order_, ranks_, sorted_;
  Numbered last_{}, before_{};
};

/// Bytes that grow at their end.
class Output {
 public:
  explicit Output(Buffer& to) noexcept : to_(to) {}
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  [[nodiscard]] std::byte* at(std::uint64_t offset) noexcept { return to_.data() + offset; }
  /// The destination of `bytes` more bytes; valid until the next call.
  Result<std::byte*> extend(std::uint64_t bytes) {
    if (to_.size() - size_ < bytes) SHERD_TRY(to_.grow(std::max(2 * to_.size(), size_ + bytes)));
    std::byte* added = to_.data() + size_;
    size_ += bytes;
    return added;
  }
  void finish() noexcept { to_.truncate(size_); }

 private:
  Buffer& to_;
  std::uint64_t size_ = 0;
};

/// The tables of one channel by their contents.
class KnownTables {
 public:
  Result<void> reserve(std::uint64_t blocks) {
    SHERD_TRY(slots_.resize(std::bit_ceil(2 * blocks) * sizeof(Slot)));
    std::memset(slots_.data(), 0, slots_.size());
    return {};
  }
  /// The slot of an equal table, or the free one for it. `channel`: the bytes of the channel so far.
  struct Slot {
    std::uint32_t hash;
    std::uint32_t offset;  ///< in words; 0 if the slot is free, since the headers are there
    std::uint64_t bytes;
  };
  Slot& find(Bytes table, const std::byte* channel) noexcept {
    const std::uint32_t hash = hash_of(table);
    auto* slots = reinterpret_cast<Slot*>(slots_.data());
    const std::uint64_t mask = slots_.size() / sizeof(Slot) - 1;
    for (std::uint64_t i = hash & mask;; i = (i + 1) & mask) {
      Slot& slot = slots[i];
      if (slot.offset == 0) {
        slot.hash = hash;
        slot.bytes = table.size();
        return slot;
      }
      if (slot.hash == hash && slot.bytes == table.size() &&
          std::memcmp(channel + slot.offset * kWordBytes, table.data(), table.size()) == 0)
        return slot;
    }
  }

 private:
  static std::uint32_t hash_of(Bytes table) noexcept {
    std::uint64_t hash = table.size();
    for (std::size_t i = 0; i < table.size(); i += kWordBytes)
      hash = (hash ^ load_little<std::uint32_t>(table.data() + i)) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
    return static_cast<std::uint32_t>(hash);
  }
  Buffer slots_;
};

template <class Label>
class ChannelEncoder {
 public:
  ChannelEncoder(const Geometry& geometry, Output& to) noexcept
      : geometry_(geometry), to_(to), labels_(geometry), begin_(to.size()) {}

  Result<void> encode(const std::byte* channel) {
    SHERD_TRY(labels_.reserve());
    SHERD_TRY(tables_.reserve(geometry_.blocks()));
    SHERD_TRY(to_.extend(geometry_.blocks() * kHeaderWords * kWordBytes));
    return for_each_block(geometry_, [&](const Block& block) { return encode_block(block, channel); });
  }

 private:
  [[nodiscard]] std::uint64_t words() const noexcept { return (to_.size() - begin_) / kWordBytes; }

  Result<void> encode_block(const Block& block, const std::byte* channel) {
    labels_.collect(block, channel);
    const unsigned width = width_for(labels_.count());
    const std::uint64_t values = words();
    if (values > kMaxOffset)
      return unsupported("compressed_segmentation: the chunk needs more than 2^32 words; choose smaller chunks");
    SHERD_TRY(packed, to_.extend(labels_.packed_bytes(width)));
    labels_.pack(width, packed);
    SHERD_TRY(table, table_offset());
    std::byte* header = to_.at(begin_ + block.number * kHeaderWords * kWordBytes);
    store_little(header, static_cast<std::uint32_t>(table | width << kTableOffsetBits));
    store_little(header + kWordBytes, static_cast<std::uint32_t>(values));
    return {};
  }

  /// Of an existing equal table, or of a new one at the end.
  Result<std::uint32_t> table_offset() {
    const Bytes table = labels_.table();
    auto& slot = tables_.find(table, to_.at(begin_));
    if (slot.offset != 0) return slot.offset;
    if (words() > kMaxTableOffset)
      return unsupported(
          "compressed_segmentation: a channel's tables must begin within its first 2^24 words (64 MiB), and these "
          "labels "
          "need more; choose smaller chunks");
    slot.offset = static_cast<std::uint32_t>(words());
    SHERD_TRY(to, to_.extend(table.size()));
    std::memcpy(to, table.data(), table.size());
    return slot.offset;
  }

  const Geometry& geometry_;
  Output& to_;
  BlockLabels<Label> labels_;
  KnownTables tables_;
  std::uint64_t begin_;
};

template <class Label>
Result<void> encode_channels(const Chunk& chunk, Bytes from, Buffer& to) {
  const Geometry geometry(chunk);
  const std::uint64_t channels = segmentation::channels(chunk.type);
  // An estimate that is usually sufficient; otherwise the size doubles.
  SHERD_TRY(to.resize(from.size() / 16 + (channels + geometry.blocks() * kHeaderWords) * kWordBytes));
  Output output(to);
  SHERD_TRY(output.extend(channels * kWordBytes));
  for (std::uint64_t channel = 0; channel < channels; ++channel) {
    const std::uint64_t begin = output.size() / kWordBytes;
    if (begin > kMaxOffset)
      return unsupported("compressed_segmentation: the chunk needs more than 2^32 words; choose smaller chunks");
    store_little(output.at(channel * kWordBytes), static_cast<std::uint32_t>(begin));
    ChannelEncoder<Label> encoder(geometry, output);
    SHERD_TRY(encoder.encode(from.data() + channel * volume(geometry.shape) * sizeof(Label)));
  }
  output.finish();
  return {};
}

}  // namespace

Result<void> encode(const Chunk& chunk, Bytes elements, Buffer& to) {
  if (chunk.type.dtype == DType::uint32) return encode_channels<std::uint32_t>(chunk, elements, to);
  return encode_channels<std::uint64_t>(chunk, elements, to);
}

}  // namespace sherd::segmentation
