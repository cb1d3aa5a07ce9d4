// Chooses bins for a sequence of pcodec latents, and codes the sequence with them. A sorted sample is cut into ranges
// with equal numbers of latents, with frequent values apart; then neighbours are merged so that the metadata, the
// states and the offsets together need the fewest bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/pcodec_bits.hpp"

namespace sherd::pcodec {

template <class Word>
struct Bin {
  Word lower = 0, upper = 0;
  std::uint32_t count = 0;
  std::uint32_t weight = 1;
  [[nodiscard]] unsigned width() const noexcept { return static_cast<unsigned>(std::bit_width(Word(upper - lower))); }
};

/// 2^log ranges, and weights of 2^table_log states. The fraction `share` of a bin's metadata counts as its cost.
struct Effort {
  unsigned log = 8;
  double share = 1;
};

/// Approximate number of bits for `latents`; sorts them.
template <class Word>
double cost(std::span<Word> latents, const Effort& effort);

/// One sequence of a chunk, as stored.
template <class Word>
class SequenceWriter {
 public:
  /// Chooses bins and codes all latents, which must not change until they are written.
  Result<void> train(std::span<const Word> latents, unsigned log);

  [[nodiscard]] std::size_t count() const noexcept { return latents_.size(); }
  [[nodiscard]] std::uint64_t metadata_bits() const noexcept;
  /// Of all batches.
  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
  void write_bins(BitWriter& to) const noexcept;
  void write_states(BitWriter& to) const noexcept;
  void write(BitWriter& to, std::size_t first, std::size_t count) noexcept;

 private:
  Result<void> count_ranges(std::vector<Bin<Word>>& ranges);
  std::vector<std::uint16_t> choose(std::span<const Bin<Word>> ranges);
  Result<void> code(std::span<const std::uint16_t> bin_of);
  [[nodiscard]] std::uint16_t* symbols() noexcept { return reinterpret_cast<std::uint16_t*>(symbols_->data()); }
  [[nodiscard]] std::uint32_t* coded() noexcept { return reinterpret_cast<std::uint32_t*>(coded_->data()); }

  std::span<const Word> latents_;
  std::vector<Bin<Word>> bins_;
  unsigned log_ = 0;
  std::uint64_t bits_ = 0;
  std::uint32_t states_[kStates] = {};
  Scratch symbols_;  ///< one bin per latent; not set if there is only one bin
  Scratch coded_;    ///< the bits that a latent's bin adds to the stream and, from bit 16, their number
};

}  // namespace sherd::pcodec
