// How a pcodec encoder converts numbers to latents: it tries modes and differences on a sample.
#pragma once

#include <cstdint>
#include <span>

#include "codec/pcodec.hpp"

namespace sherd::pcodec {

/// A mode with its parameter, and the differences of the primary latents.
template <class Word>
struct Plan {
  Mode mode = Mode::classic;
  Word base = 0;       ///< of int_mult, and of float_mult in the order of its type
  unsigned quant = 0;  ///< of float_quant
  unsigned order = 0;  ///< of consecutive differences
  bool looks_back = false;
  [[nodiscard]] bool has_secondary() const noexcept { return mode != Mode::classic; }
};

template <class Word>
[[nodiscard]] Plan<Word> choose_plan(Kind kind, const Settings& settings, std::span<const std::byte> numbers);

/// `secondary` has room for as many if the plan uses it.
template <class Word>
void split(Kind kind, const Plan<Word>& plan, std::span<const std::byte> numbers, std::span<Word> primary,
           Word* secondary) noexcept;

/// Takes differences `order` times, in place, and returns them; first[i] is the first latent before step i.
template <class Word>
std::span<Word> take_differences(std::span<Word> latents, unsigned order, Word* first) noexcept;

/// A lookback of at most `window` numbers, for each number but the first.
template <class Word>
void choose_lookbacks(std::span<const Word> latents, std::uint32_t window, std::uint32_t* lookbacks);
/// Differences to the numbers that far back, for all but the first.
template <class Word>
void look_back(std::span<Word> latents, const std::uint32_t* lookbacks) noexcept;

}  // namespace sherd::pcodec
