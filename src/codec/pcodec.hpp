// Shared by reading and writing pcodec's format (github.com/pcodec/pcodec, docs/format.md, versions 0 to 4.1). A file
// is a header and chunks of at most 2^24 numbers. A chunk's mode converts its numbers to one or two sequences of
// unsigned words, the latents; their differences may be stored instead. A latent is coded as a bin, by a tANS coder of
// four interleaved states, and its offset from the lower end of that bin. A batch of 256 numbers stores the bins and
// then the offsets of one sequence, then those of the next one. All bits are packed from the lowest.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/buffer.hpp"
#include "codec/number.hpp"
#include "sherd/result.hpp"

namespace sherd::pcodec {

enum class Kind : std::uint8_t { unsigned_integer, signed_integer, floating };

/// A number type: its byte in files, and the type of its words.
struct NumberType {
  std::uint8_t code;
  std::uint8_t bytes;
  Kind kind;
};

/// What the configuration asks of an encoder.
struct Settings {
  enum class Delta : std::uint8_t { automatic, none, consecutive, lookback };
  unsigned level = 8;
  bool classic = false;  ///< only the mode classic
  Delta delta = Delta::automatic;
  unsigned order = 1;                   ///< of consecutive differences
  std::size_t page_numbers = 1U << 18;  ///< maximum number of numbers in a chunk of the file
};

/// Fills `numbers`; a file with another type or count is `corrupt`.
Result<void> decode(const NumberType& type, std::span<const std::byte> file, std::span<std::byte> numbers);
/// Replaces `to` with a file that pcodec 0.3 and later can read; for 8-bit integers, pcodec 1.0 and later.
Result<void> encode(const NumberType& type, const Settings& settings, std::span<const std::byte> numbers, Buffer& to);

inline constexpr char kMagic[] = "pco!";
inline constexpr std::size_t kMagicBytes = 4;
inline constexpr std::size_t kMaxChunkNumbers = std::size_t{1} << 24;
inline constexpr std::size_t kBatch = 256;
inline constexpr std::size_t kStates = 4;
inline constexpr unsigned kMaxTableLog = 14;
inline constexpr unsigned kMaxOrder = 7;
/// Of lookbacks that are written.
inline constexpr unsigned kWindowLog = 15;
inline constexpr std::uint32_t kMaxWindow = std::uint32_t{1} << kWindowLog;

enum class Mode : std::uint8_t { classic, int_mult, float_mult, float_quant, dictionary };
enum class Delta : std::uint8_t { none, consecutive, lookback, convolution };

/// Widths of fields, in bits.
inline constexpr unsigned kChunkCountBits = 24, kModeBits = 4, kQuantBits = 8, kDictionaryCountBits = 25,
                          kDeltaBits = 4, kOrderBits = 3, kWindowBits = 5, kStateCountBits = 4, kQuantizationBits = 5,
                          kWeightCountBits = 5, kTableLogBits = 4, kBinCountBits = 15, kHintLogBits = 6;

template <class Word>
inline constexpr unsigned kBits = 8 * sizeof(Word);
template <class Word>
inline constexpr Word kMiddle = Word(Word{1} << (kBits<Word> - 1));
/// Of the count of a bin's offset bits.
template <class Word>
inline constexpr unsigned kOffsetCountBits = std::bit_width(kBits<Word>);

/// Between a number's word in memory and a word whose order is that of the numbers. Of floats that is the complement
/// where they are negative; signs may be random, so nothing branches on them.
template <class Word>
[[nodiscard]] constexpr Word to_ordered(Kind kind, Word word) noexcept {
  if (kind == Kind::unsigned_integer) return word;
  if (kind == Kind::signed_integer) return word ^ kMiddle<Word>;
  const auto negative = static_cast<Word>(word >> (kBits<Word> - 1));
  return word ^ static_cast<Word>(kMiddle<Word> | (Word{0} - negative));
}
template <class Word>
[[nodiscard]] constexpr Word from_ordered(Kind kind, Word word) noexcept {
  if (kind == Kind::unsigned_integer) return word;
  if (kind == Kind::signed_integer) return word ^ kMiddle<Word>;
  const auto positive = static_cast<Word>(word >> (kBits<Word> - 1));
  return word ^ static_cast<Word>(kMiddle<Word> | (positive - Word{1}));
}

/// Floats of a word's size, as the modes of floats calculate with them.
template <class Word>
struct Real {
  using Float = std::conditional_t<sizeof(Word) == 8, double, float>;
  static constexpr unsigned fraction = sizeof(Word) == 8 ? 52 : sizeof(Word) == 4 ? 23 : 10;
  /// The first integer after which not every integer has a float.
  static constexpr std::uint64_t exact = std::uint64_t{2} << fraction;

  [[nodiscard]] static Float value(Word word) noexcept {
    if constexpr (sizeof(Word) < 4) {
      Float16 half;
      half.bits = word;
      return static_cast<float>(half.value());
    } else {
      return std::bit_cast<Float>(word);
    }
  }
  [[nodiscard]] static Word word(Float value) noexcept {
    if constexpr (sizeof(Word) < 4) {
      return static_cast<Word>(Float16(value).bits);
    } else {
      return std::bit_cast<Word>(value);
    }
  }
  /// As product(), of a latent less than `exact` / 2 away from the middle: so it can be calculated for many at a time.
  [[nodiscard]] static Word small_product(Word latent, Float base) noexcept
    requires(sizeof(Word) >= 4)
  {
    constexpr Float shift = static_cast<Float>(exact / 2);  // its unit in the last place is 1
    const auto below = static_cast<Word>(Word{1} - (latent >> (kBits<Word> - 1)));
    const auto magnitude = static_cast<Word>(latent ^ (kMiddle<Word> - below));
    const Word multiple = word(value(word(shift) | magnitude) - shift);
    return word(value(multiple | below << (kBits<Word> - 1)) * base);
  }
  [[nodiscard]] static bool is_small(Word latent) noexcept {
    return static_cast<Word>(latent - (kMiddle<Word> - Word{exact / 2})) < exact;
  }
  /// multiple * base as a word, where `latent` is that of a multiple: the integers up to `exact` around the middle,
  /// then each float that follows, to infinities and NaNs.
  [[nodiscard]] static Word product(Word latent, Float base) noexcept {
    const bool negative = latent < kMiddle<Word>;
    const auto magnitude = static_cast<Word>(latent ^ (kMiddle<Word> - Word{negative}));
    Word bits;
    if (magnitude < exact)
      bits = word(static_cast<Float>(static_cast<std::int64_t>(magnitude)));
    else
      bits = static_cast<Word>(word(static_cast<Float>(exact)) + (magnitude - exact));
    bits = static_cast<Word>(bits | Word{negative} << (kBits<Word> - 1));
    if constexpr (sizeof(Word) < 4) {
      constexpr unsigned infinity = 0x7c00, quiet = 0x0200;
      if ((bits & 0x7fffU) > infinity) return static_cast<Word>(bits | quiet);
    }
    return word(value(bits) * base);
  }
};

/// The state of a table of 2^log states that follows a bin's state, where the bins' states are laid out in their order.
[[nodiscard]] constexpr std::uint32_t stride(unsigned log) noexcept { return ((std::uint32_t{3} << log) / 5) | 1U; }

}  // namespace sherd::pcodec
