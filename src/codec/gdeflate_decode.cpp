// Decodes pages of GDeflate: Deflate64 in pages of 64 KiB with 32 lanes of bits each. Symbols are dealt to the lanes in
// turn: a block's header and literals as in Deflate; of a match first the length and, at the lane's next turn, the
// distance. A lane holds 32 to 63 bits. If it has fewer after its turn, it gets the next 32 bits of the page, so the
// order of a page's words follows from what was read.
#include "codec/gdeflate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/endian.hpp"
#include "base/try.hpp"

namespace sherd::gdeflate {
namespace {

constexpr std::size_t kLanes = 32;
constexpr unsigned kWordBits = 32;
constexpr std::size_t kWordBytes = 4;

constexpr std::size_t kSymbols = 288, kDistances = 32, kLengthSymbols = 19;
constexpr unsigned kMaxCodeBits = 15;
constexpr unsigned kEndOfBlock = 256, kFirstLength = 257;

enum class Block : std::uint8_t { stored, fixed, dynamic };

/// A length or distance: the minimum of a symbol, and the number of bits added to it.
struct Range {
  std::uint32_t base;
  std::uint8_t bits;
};
/// For symbols from kFirstLength. As in Deflate64, the last ones reach the size of a page.
constexpr std::array<Range, 31> kLengths{{{3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},  {8, 0},  {9, 0},  {10, 0},
                                          {11, 1},  {13, 1},  {15, 1},  {17, 1},  {19, 2}, {23, 2}, {27, 2}, {31, 2},
                                          {35, 3},  {43, 3},  {51, 3},  {59, 3},  {67, 4}, {83, 4}, {99, 4}, {115, 4},
                                          {131, 5}, {163, 5}, {195, 5}, {227, 5}, {3, 16}, {3, 16}, {3, 16}}};
constexpr std::array<Range, kDistances> kDistanceRanges = [] {
  std::array<Range, kDistances> ranges{};
  std::uint32_t base = 1;
  for (std::uint32_t i = 0; i < kDistances; ++i) {
    const std::uint32_t bits = i < 4 ? 0 : i / 2 - 1;
    ranges[i] = {base, static_cast<std::uint8_t>(bits)};
    base += std::uint32_t{1} << bits;
  }
  return ranges;
}();
/// The order in which the lengths of the codes of code lengths are stored.
constexpr std::array<std::uint8_t, kLengthSymbols> kLengthOrder{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
/// Code lengths of fixed blocks: symbols, then distances.
constexpr auto kFixedLengths = [] {
  std::array<std::uint8_t, kSymbols + kDistances> lengths{};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < kSymbols ? 8 : 5;
  return lengths;
}();

Error damaged(std::string what) { return corrupt("gdeflate: " + std::move(what)); }

/// The lanes of a page, which take turns.
class Lanes {
 public:
  explicit Lanes(std::span<const std::byte> page) noexcept : page_(page) {
    for (; turn_ < kLanes; ++turn_) refill();
    turn_ = 0;
  }
  [[nodiscard]] std::size_t turn() const noexcept { return turn_; }
  void restart() noexcept { turn_ = 0; }
  [[nodiscard]] std::uint32_t peek() const noexcept { return static_cast<std::uint32_t>(lanes_[turn_].word); }
  void drop(unsigned bits) noexcept {
    lanes_[turn_].word >>= bits;
    lanes_[turn_].left -= bits;
  }
  /// A turn takes 32 bits at most.
  std::uint32_t take(unsigned bits) noexcept {
    const std::uint32_t value = peek() & ((std::uint32_t{1} << bits) - 1);
    drop(bits);
    return value;
  }
  void refill() noexcept {
    Lane& lane = lanes_[turn_];
    if (lane.left < lane.missing) overrun_ = true;
    if (lane.left >= kWordBits) return;
    std::uint32_t word = 0;
    if (page_.size() - at_ >= kWordBytes) {
      word = load_little<std::uint32_t>(page_.data() + at_);
      at_ += kWordBytes;
    } else {
      lane.missing += kWordBits;
    }
    lane.word |= std::uint64_t{word} << lane.left;
    lane.left += kWordBits;
  }
  void next() noexcept {
    refill();
    turn_ = (turn_ + 1) % kLanes;
  }
  /// Whether more bits were read than the page has.
  [[nodiscard]] bool overrun() const noexcept { return overrun_; }
  [[nodiscard]] std::size_t rest() const noexcept { return page_.size() - at_; }

 private:
  struct Lane {
    std::uint64_t word = 0;
    unsigned left = 0;
    unsigned missing = 0;  ///< of `left`, the last ones, which are in no word of the page
  };
  std::array<Lane, kLanes> lanes_;
  std::span<const std::byte> page_;
  std::size_t at_ = 0, turn_ = 0;
  bool overrun_ = false;
};

/// A prefix code, looked up by as many bits as its longest word.
class Code {
 public:
  static constexpr unsigned kNone = 0xffff;

  /// Codes must be complete, except for a code with a single one-bit word and an empty one.
  Result<void> build(std::span<const std::uint8_t> lengths) {
    std::array<std::uint32_t, kMaxCodeBits + 2> next{};
    std::size_t words = 0;
    longest_ = 0;
    for (const std::uint8_t length : lengths)
      if (length > 0) ++next[length + 1U], ++words, longest_ = std::max<unsigned>(longest_, length);
    std::uint32_t code = 0, used = 0;
    for (unsigned length = 1; length <= kMaxCodeBits; ++length) {
      const std::uint32_t count = next[length + 1];
      next[length] = code;
      code = (code + count) << 1;
      used += count << (kMaxCodeBits - length);
    }
    const bool complete = used == 1U << kMaxCodeBits, is_single = words == 1 && longest_ == 1;
    if (words > 0 && !complete && !is_single) return damaged("an incomplete prefix code");
    entries_.assign(std::size_t{1} << longest_, {kNone, 0});
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      const unsigned length = lengths[symbol];
      if (length == 0) continue;
      std::uint32_t reversed = 0;
      for (std::uint32_t i = 0, word = next[length]++; i < length; ++i, word >>= 1)
        reversed = reversed << 1 | (word & 1);
      for (std::size_t at = reversed; at < entries_.size(); at += std::size_t{1} << length)
        entries_[at] = {static_cast<std::uint16_t>(symbol), static_cast<std::uint16_t>(length)};
    }
    return {};
  }
  /// kNone for bits that are not a word.
  unsigned take(Lanes& from) const noexcept {
    const Entry entry = entries_[from.peek() & (entries_.size() - 1)];
    from.drop(entry.bits);
    return entry.symbol;
  }

 private:
  struct Entry {
    std::uint16_t symbol, bits;
  };
  std::vector<Entry> entries_;
  unsigned longest_ = 0;
};

class Page {
 public:
  Page(std::span<const std::byte> page, std::span<std::byte> to) noexcept : lanes_(page), to_(to) {}

  Result<void> decode() {
    for (bool is_last = false; !is_last;) {
      lanes_.restart();
      is_last = lanes_.take(1) != 0;
      const std::uint32_t kind = lanes_.take(2);
      lanes_.refill();
      if (kind == static_cast<std::uint32_t>(Block::stored)) {
        SHERD_TRY(read_stored());
      } else {
        SHERD_TRY(read_codes(kind));
        lanes_.restart();
        SHERD_TRY(read_symbols());
      }
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if (lengths_[lanes_.turn()] > 0) SHERD_TRY(copy());
        lanes_.next();
      }
      if (lanes_.overrun()) return damaged("a page ends within a block");
    }
    if (at_ != to_.size())
      return damaged("a page has " + std::to_string(at_) + " bytes instead of " + std::to_string(to_.size()));
    if (lanes_.rest() > 0) return damaged(std::to_string(lanes_.rest()) + " bytes follow a page");
    return {};
  }

 private:
  static Error too_long() { return damaged("a page decodes to more bytes than expected"); }

  Result<void> read_stored() {
    const std::size_t count = lanes_.take(16);
    if (count > to_.size() - at_) return too_long();
    for (std::size_t i = 0; i < count; ++i) {
      to_[at_++] = static_cast<std::byte>(lanes_.take(8));
      lanes_.next();
    }
    return {};
  }

  Result<void> read_codes(std::uint32_t kind) {
    if (kind == static_cast<std::uint32_t>(Block::fixed)) {
      SHERD_TRY(symbols_.build(std::span(kFixedLengths).first(kSymbols)));
      return distances_.build(std::span(kFixedLengths).subspan(kSymbols));
    }
    if (kind != static_cast<std::uint32_t>(Block::dynamic)) return damaged("a block of an unknown kind");
    const std::size_t symbols = lanes_.take(5) + kFirstLength;
    const std::size_t distances = lanes_.take(5) + 1;
    const std::size_t stated = lanes_.take(4) + 4;
    lanes_.refill();
    std::array<std::uint8_t, kLengthSymbols> of_lengths{};
    for (std::size_t i = 0; i < stated; ++i) {
      of_lengths[kLengthOrder[i]] = static_cast<std::uint8_t>(lanes_.take(3));
      lanes_.next();
    }
    Code code;
    SHERD_TRY(code.build(of_lengths));
    lanes_.restart();
    std::array<std::uint8_t, kSymbols + kDistances> lengths{};
    for (std::size_t i = 0; i < symbols + distances;) {
      const unsigned symbol = code.take(lanes_);
      std::size_t count = 1;
      std::uint8_t length = 0;
      if (symbol < 16) {
        length = static_cast<std::uint8_t>(symbol);
      } else if (symbol == 16) {
        if (i == 0) return damaged("a code length that repeats the previous one, and there is none");
        length = lengths[i - 1];
        count = 3 + lanes_.take(2);
      } else if (symbol == 17) {
        count = 3 + lanes_.take(3);
      } else if (symbol == 18) {
        count = 11 + lanes_.take(7);
      } else {
        return damaged("an invalid code length");
      }
      if (count > symbols + distances - i) return damaged("more code lengths than symbols");
      std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(i), count, length);
      i += count;
      lanes_.next();
    }
    SHERD_TRY(symbols_.build(std::span(lengths).first(symbols)));
    return distances_.build(std::span(lengths).subspan(symbols, distances));
  }

  Result<void> read_symbols() {
    for (;; lanes_.next()) {
      if (lengths_[lanes_.turn()] > 0) {
        SHERD_TRY(copy());
        continue;
      }
      const unsigned symbol = symbols_.take(lanes_);
      if (symbol < kEndOfBlock) {
        if (at_ == to_.size()) return too_long();
        to_[at_++] = static_cast<std::byte>(symbol);
        continue;
      }
      if (symbol == kEndOfBlock) return {};
      if (symbol == Code::kNone) return damaged("an invalid symbol");
      const Range range = kLengths[symbol - kFirstLength];
      const std::size_t length = range.base + lanes_.take(range.bits);
      if (length > to_.size() - at_) return too_long();
      lengths_[lanes_.turn()] = static_cast<std::uint32_t>(length);
      places_[lanes_.turn()] = static_cast<std::uint32_t>(at_);
      at_ += length;
    }
  }

  /// Copies the match whose length this lane has read. All earlier matches are done, so its source exists.
  Result<void> copy() {
    const std::size_t lane = lanes_.turn();
    const unsigned symbol = distances_.take(lanes_);
    if (symbol == Code::kNone) return damaged("an invalid distance");
    const Range range = kDistanceRanges[symbol];
    const std::size_t distance = range.base + lanes_.take(range.bits);
    if (distance > places_[lane]) return damaged("a match that begins before the page");
    std::byte* to = to_.data() + places_[lane];
    const std::byte* from = to - distance;
    const std::size_t length = lengths_[lane];
    if (distance >= length)
      std::memcpy(to, from, length);
    else
      for (std::size_t i = 0; i < length; ++i) to[i] = from[i];
    lengths_[lane] = 0;
    return {};
  }

  Lanes lanes_;
  std::span<std::byte> to_;
  std::size_t at_ = 0;
  Code symbols_, distances_;
  std::array<std::uint32_t, kLanes> lengths_{}, places_{};  ///< of matches whose distance has not been read yet
};

}  // namespace

Result<void> decode_page(std::span<const std::byte> page, std::span<std::byte> to) { return Page(page, to).decode(); }

}  // namespace sherd::gdeflate
