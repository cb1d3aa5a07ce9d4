// Decodes compressed_segmentation to labels. All values in headers are compared with the available bytes before they
// are used, so that any bytes are refused or decode in time and memory proportional to the chunk.
#include <cstring>

#include "base/endian.hpp"
#include "codec/compressed_segmentation.hpp"

namespace sherd::segmentation {
namespace {

using Elements = std::span<std::byte>;

std::string location_of(std::uint64_t channel, std::uint64_t block) {
  return "channel " + std::to_string(channel) + ", block " + std::to_string(block) + ": ";
}
Error broken(std::string what) { return corrupt("compressed_segmentation: " + std::move(what)); }

/// The part of a block's table that may be read.
struct Table {
  const std::byte* labels = nullptr;
  std::uint64_t count = 0;
};

template <class Label, unsigned kWidth, bool kChecked>
class RowDecoder {
 public:
  RowDecoder(const std::byte* values, Table table) noexcept : values_(values), table_(table) {
    if constexpr (kPaired) {
      for (unsigned i = 0; i < pairs_.size(); ++i) pairs_[i] = {label(i & kMask), label(i >> kWidth)};
    }
  }

  /// Converts indices beginning at `position` to labels; false if one is beyond the table.
  bool decode(std::uint64_t position, std::byte* to, std::uint64_t count) const noexcept {
    const std::uint64_t bit = position * kWidth;
    const std::byte* next = values_ + bit / 32 * kWordBytes;
    unsigned left = 0;
    std::uint32_t word = 0;
    const auto load = [&] {
      word = load_little<std::uint32_t>(next);
      next += kWordBytes;
      left = kPerWord;
    };
    if (bit % 32 != 0) {
      load();
      word >>= bit % 32;
      left -= static_cast<unsigned>(bit % 32 / kWidth);
    }
    while (count > 0) {
      if (left == 0) load();
      if (count >= kStep && left >= kStep) {
        if (!step(word, to)) return false;
        word = kWidth * kStep < 32 ? word >> (kWidth * kStep % 32) : 0;
        to += kStep * sizeof(Label);
        count -= kStep;
        left -= kStep;
        continue;
      }
      if (!put(word & kMask, to)) return false;
      word >>= kWidth % 32;
      to += sizeof(Label);
      --count;
      --left;
    }
    return true;
  }

 private:
  static constexpr unsigned kPerWord = 32 / kWidth;
  static constexpr unsigned kStep = std::min(8u, kPerWord);
  static constexpr std::uint32_t kMask = ~std::uint32_t{0} >> (32 - kWidth);
  /// Two labels at a time if there are few pairs of them.
  static constexpr bool kPaired = kWidth <= 2 && !kChecked;
  using Pair = std::array<Label, 2>;

  [[nodiscard]] Label label(std::uint32_t index) const noexcept {
    return load_little<Label>(table_.labels + std::size_t{index} * sizeof(Label));
  }
  bool put(std::uint32_t index, std::byte* to) const noexcept {
    if constexpr (kChecked) {
      if (index >= table_.count) return false;
    }
    const Label value = label(index);
    std::memcpy(to, &value, sizeof value);
    return true;
  }
  bool step(std::uint32_t word, std::byte* to) const noexcept {
    if constexpr (kPaired) {
      for (unsigned i = 0; i < kStep / 2; ++i)
        std::memcpy(to + i * sizeof(Pair), &pairs_[word >> (2 * i * kWidth) & ((1u << 2 * kWidth) - 1)], sizeof(Pair));
      return true;
    } else {
      bool good = true;
      for (unsigned i = 0; i < kStep; ++i) good &= put(word >> (i * kWidth) & kMask, to + i * sizeof(Label));
      return good;
    }
  }

  const std::byte* values_;
  Table table_;
  std::array<Pair, kPaired ? std::size_t{1} << 2 * kWidth : 0> pairs_;
};

/// One channel's words, from its beginning to the end of the chunk.
template <class Label>
class ChannelDecoder {
 public:
  ChannelDecoder(const Geometry& geometry, Bytes from, std::byte* to) noexcept
      : geometry_(geometry), from_(from), words_(from.size() / kWordBytes), to_(to) {}

  /// The error in the block, or nullptr.
  const char* decode(const Block& block) {
    const std::byte* header = from_.data() + block.number * kHeaderWords * kWordBytes;
    const auto first = load_little<std::uint32_t>(header);
    const std::uint64_t values = load_little<std::uint32_t>(header + kWordBytes);
    const std::uint64_t table = first & kMaxTableOffset;
    const unsigned width = first >> kTableOffsetBits;
    if (table > words_ || (words_ - table) * kWordBytes < sizeof(Label)) return "the table is beyond the end";
    const Table labels{from_.data() + table * kWordBytes, (words_ - table) * kWordBytes / sizeof(Label)};
    if (width == 0) return fill(block, labels), nullptr;
    if ((width & (width - 1)) != 0 || width > 32) return "its indices have neither 0, 1, 2, 4, 8, 16 nor 32 bits";
    // Other writers may omit what a clipped block's last indices would need: only the bytes that are read must exist.
    const auto& extents = block.extents;
    const std::uint64_t end =
        extents[0] + geometry_.block[0] * (extents[1] - 1 + geometry_.block[1] * (extents[2] - 1));
    if (values > words_ || words_ - values < ceil_div(end * width, 32)) return "the indices are beyond the end";
    const bool inside = decode_values(block, from_.data() + values * kWordBytes, labels, width);
    return inside ? nullptr : "an index is beyond the end of the table";
  }

 private:
  void fill(const Block& block, const Table& table) {
    const Label label = load_little<Label>(table.labels);
    for_each_row(geometry_, block, [&](std::uint64_t voxel, std::uint64_t) {
      std::byte* row = to_ + voxel * sizeof label;
      for (std::uint64_t i = 0; i < block.extents[0]; ++i) std::memcpy(row + i * sizeof label, &label, sizeof label);
      return true;
    });
  }

  template <unsigned kWidth, bool kChecked>
  bool decode_rows(const Block& block, const std::byte* values, const Table& table) {
    const RowDecoder<Label, kWidth, kChecked> rows(values, table);
    return for_each_row(geometry_, block, [&](std::uint64_t voxel, std::uint64_t position) {
      return rows.decode(position, to_ + voxel * sizeof(Label), block.extents[0]);
    });
  }
  /// Indices are checked individually only if the table is so close to the end that they could point beyond it.
  template <unsigned kWidth>
  bool decode_width(const Block& block, const std::byte* values, const Table& table) {
    if (table.count >> kWidth != 0) return decode_rows<kWidth, false>(block, values, table);
    return decode_rows<kWidth, true>(block, values, table);
  }
  bool decode_values(const Block& block, const std::byte* values, const Table& table, unsigned width) {
    switch (width) {
      case 1:
        return decode_width<1>(block, values, table);
      case 2:
        return decode_width<2>(block, values, table);
      case 4:
        return decode_width<4>(block, values, table);
      case 8:
        return decode_width<8>(block, values, table);
      case 16:
        return decode_width<16>(block, values, table);
      default:
        return decode_width<32>(block, values, table);
    }
  }

  const Geometry& geometry_;
  Bytes from_;
  std::uint64_t words_;
  std::byte* to_;
};

/// `from` begins with the offsets of the chunk's channels.
template <class Label>
Result<void> decode_channels(const Chunk& chunk, Bytes from, Elements to) {
  const Geometry geometry(chunk);
  const std::uint64_t channels = segmentation::channels(chunk.type);
  const std::uint64_t words = from.size() / kWordBytes;
  const std::uint64_t headers = geometry.blocks() * kHeaderWords;
  for (std::uint64_t channel = 0; channel < channels; ++channel) {
    const std::uint64_t offset = load_little<std::uint32_t>(from.data() + channel * kWordBytes);
    if (channel == 0 && offset != channels)
      return broken("the first channel begins at word " + std::to_string(offset) + "; the chunk has " +
                    std::to_string(channels) + " channels");
    if (offset > words || words - offset < headers)
      return broken("truncated: the " + std::to_string(geometry.blocks()) + " blocks of channel " +
                    std::to_string(channel) + " have their headers at word " + std::to_string(offset) + " of " +
                    std::to_string(words));
    ChannelDecoder<Label> decoder(geometry, from.subspan(offset * kWordBytes),
                                  to.data() + channel * volume(geometry.shape) * sizeof(Label));
    SHERD_TRY(for_each_block(geometry, [&](const Block& block) -> Result<void> {
      const char* fault = decoder.decode(block);
      if (fault != nullptr) return broken(location_of(channel, block.number) + fault);
      return {};
    }));
  }
  return {};
}

}  // namespace

Result<void> decode(const Chunk& chunk, Bytes encoded, Elements elements) {
  const std::uint64_t channels = segmentation::channels(chunk.type);
  if (encoded.size() % kWordBytes != 0 || encoded.size() / kWordBytes < channels)
    return broken(std::to_string(encoded.size()) + " bytes are not whole words, or not even the offsets of " +
                  std::to_string(channels) + " channels");
  if (chunk.type.dtype == DType::uint32) return decode_channels<std::uint32_t>(chunk, encoded, elements);
  return decode_channels<std::uint64_t>(chunk, encoded, elements);
}

}  // namespace sherd::segmentation
