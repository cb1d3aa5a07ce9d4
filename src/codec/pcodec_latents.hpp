// Reads one sequence of latents of a chunk of pcodec: its bins, which become the table of a tANS decoder, and batches.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/try.hpp"
#include "codec/pcodec_bits.hpp"

namespace sherd::pcodec {

[[nodiscard]] inline Error damaged(std::string what) { return corrupt("pcodec: " + std::move(what)); }
[[nodiscard]] inline Error truncated() { return damaged("the stream ends within a chunk"); }

/// Decoding consists of shifts by variable numbers of bits, for which BMI2 has single instructions.
#ifdef __x86_64__
inline const bool kHasBmi2 = __builtin_cpu_supports("bmi2") != 0;
#else
inline constexpr bool kHasBmi2 = false;
#endif

template <class Word>
class LatentReader {
 public:
  /// From the metadata of a chunk.
  Result<void> read_bins(BitReader& from) {
    if (!from.has(kTableLogBits + kBinCountBits)) return truncated();
    log_ = static_cast<unsigned>(from.read(kTableLogBits));
    bins_ = static_cast<std::size_t>(from.read(kBinCountBits));
    const std::string counts = std::to_string(bins_) + " bins in a table of 2^" + std::to_string(log_) + " states";
    if (log_ > kMaxTableLog || bins_ > std::size_t{1} << log_ || (bins_ <= 1 && log_ > 0)) return damaged(counts);
    if (!from.has(bins_ * (log_ + kBits<Word> + kOffsetCountBits<Word>))) return truncated();
    SHERD_TRY(nodes_->resize(sizeof(Node) << log_));
    SHERD_TRY(lay_out(from, counts));
    return {};
  }
  [[nodiscard]] bool is_empty() const noexcept { return bins_ == 0; }
  [[nodiscard]] Word least_lower() const noexcept { return least_lower_; }
  [[nodiscard]] Word greatest_lower() const noexcept { return greatest_lower_; }

  /// From the metadata of a page. has() of 4 * kMaxTableLog bits is checked by the caller.
  void read_states(BitReader& from) noexcept {
    for (std::uint32_t& state : states_) state = static_cast<std::uint32_t>(from.read(log_));
  }
  [[nodiscard]] std::uint64_t states_bits() const noexcept { return kStates * std::uint64_t{log_}; }

  /// The next `count` latents of a batch; the caller checks is_within() before the next one.
  void read(BitReader& from, std::size_t count, Word* to) noexcept {
    if (kHasBmi2)
      read_with_bmi2(from, count, to);
    else
      read_batch(from, count, to);
  }

 private:
  /// The meaning of a state: a bin, and the next state without `bits` bits of the stream.
  struct Node {
    Word lower;
    std::uint16_t next;
    std::uint8_t width;  ///< of the offset, in bits
    std::uint8_t bits;
  };
  [[nodiscard]] Node* table() noexcept { return reinterpret_cast<Node*>(nodes_->data()); }

#ifdef __x86_64__
  [[gnu::target("bmi2")]] void read_with_bmi2(BitReader& from, std::size_t count, Word* to) noexcept {
    read_batch(from, count, to);
  }
#else
  void read_with_bmi2(BitReader&, std::size_t, Word*) noexcept {}
#endif

  [[gnu::always_inline]] void read_batch(BitReader& from, std::size_t count, Word* to) noexcept {
    std::array<std::uint8_t, kBatch> widths;
    const Node* const nodes = table();
    if (bins_ <= 1) {
      std::fill_n(to, count, nodes->lower);
    } else {
      read_bins_of(from, count, to, widths.data());
    }
    if (widest_ == 0) return;
    if (widest_ > 56) {
      if (bins_ <= 1) std::fill_n(widths.begin(), count, nodes->width);
      add_offsets<true>(from, count, [&](std::size_t i) { return widths[i]; }, to);
    } else if (bins_ <= 1) {
      add_offsets<false>(from, count, [width = nodes->width](std::size_t) { return width; }, to);
    } else {
      add_offsets<false>(from, count, [&](std::size_t i) { return widths[i]; }, to);
    }
  }

  /// Spreads the bins over the states according to their weights.
  Result<void> lay_out(BitReader& from, const std::string& counts) {
    Node* const nodes = table();
    const std::uint32_t size = std::uint32_t{1} << log_;
    Scratch lent;
    SHERD_TRY(lent->resize(std::max<std::size_t>(bins_, 1) * sizeof(std::uint32_t)));
    auto* const weights = reinterpret_cast<std::uint32_t*>(lent->data());
    nodes[0] = {}, weights[0] = 1;
    widest_ = 0, least_lower_ = static_cast<Word>(~Word{0}), greatest_lower_ = 0;
    std::uint32_t step = 0;
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      weights[bin] = static_cast<std::uint32_t>(from.read(log_)) + 1;
      const auto lower = static_cast<Word>(from.read(kBits<Word>));
      const auto width = static_cast<unsigned>(from.read(kOffsetCountBits<Word>));
      if (width > kBits<Word>) return damaged("an offset of " + std::to_string(width) + " bits");
      if (weights[bin] > size - step) return damaged("the weights are too large for " + counts);
      widest_ = std::max(widest_, width);
      least_lower_ = std::min(least_lower_, lower), greatest_lower_ = std::max(greatest_lower_, lower);
      for (const std::uint32_t end = step + weights[bin]; step < end; ++step)
        nodes[stride(log_) * step & (size - 1)] = {lower, static_cast<std::uint16_t>(bin),
                                                   static_cast<std::uint8_t>(width), 0};
    }
    if (bins_ > 0 && step != size) return damaged("the weights are too small for " + counts);
    for (std::uint32_t state = 0; state < size; ++state) {
      const std::uint32_t next = weights[nodes[state].next]++;
      const unsigned bits = log_ + 1 - static_cast<unsigned>(std::bit_width(next));
      nodes[state].bits = static_cast<std::uint8_t>(bits);
      nodes[state].next = static_cast<std::uint16_t>((next << bits) - size);
    }
    return {};
  }

  [[gnu::always_inline]] void read_bins_of(BitReader& from, std::size_t count, Word* to,
                                           std::uint8_t* widths) noexcept {
    const Node* const nodes = table();
    std::array<std::uint32_t, kStates> states = states_;
    std::uint64_t at = from.position();
    const auto take = [&](std::uint32_t& state, std::size_t i, std::uint64_t word, unsigned& used) {
      const Node node = nodes[state];
      to[i] = node.lower;
      widths[i] = node.width;
      state = node.next + static_cast<std::uint32_t>(word >> used & ((1U << node.bits) - 1));
      used += node.bits;
    };
    std::size_t i = 0;
    // Four bins have 56 bits at most, so one word contains them from any bit of a byte.
    for (; i + kStates <= count; i += kStates) {
      const auto word = load_little<std::uint64_t>(from.data() + at / 8);
      const auto first = static_cast<unsigned>(at % 8);
      unsigned used = first;
      take(states[0], i, word, used), take(states[1], i + 1, word, used);
      take(states[2], i + 2, word, used), take(states[3], i + 3, word, used);
      at += used - first;
    }
    states_ = states;
    for (; i < count; ++i) {
      const auto word = load_little<std::uint64_t>(from.data() + at / 8);
      const auto first = static_cast<unsigned>(at % 8);
      unsigned used = first;
      take(states_[i % kStates], i, word, used);
      at += used - first;
    }
    from.move_to(at);
  }

  /// `Wide`: some offset may not fit the word that begins at its first byte.
  template <bool Wide, class Widths>
  [[gnu::always_inline]] static void add_offsets(BitReader& from, std::size_t count, const Widths& widths,
                                                 Word* to) noexcept {
    const std::byte* const data = from.data();
    std::uint64_t at = from.position();
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned width = widths(i);
      const auto shift = static_cast<unsigned>(at % 8);
      std::uint64_t word = load_little<std::uint64_t>(data + at / 8) >> shift;
      if constexpr (Wide) {
        // Two shifts, because one of 64 bits is undefined.
        word |= std::to_integer<std::uint64_t>(data[at / 8 + 8]) << 1 << (63 - shift);
        word &= low_bits(width);
      } else {
        word &= (std::uint64_t{1} << width) - 1;
      }
      to[i] = static_cast<Word>(to[i] + word);
      at += width;
    }
    from.move_to(at);
  }

  Scratch nodes_;
  unsigned log_ = 0, widest_ = 0;
  std::size_t bins_ = 0;
  Word least_lower_ = 0, greatest_lower_ = 0;
  std::array<std::uint32_t, kStates> states_{};
};

}  // namespace sherd::pcodec
