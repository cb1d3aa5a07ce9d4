#include "codec/pcodec_bins.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/try.hpp"

namespace sherd::pcodec {
namespace {

constexpr std::size_t kSample = std::size_t{1} << 14;
constexpr std::size_t kSampleOfRange = 64;
/// Bits per number that a single bin, without states, may cost more than several, because it is decoded faster.
constexpr double kOneBinBonus = 0.1;

template <class Word>
constexpr double kBinBits = 12 + kBits<Word> + kOffsetCountBits<Word>;

/// Divides sorted latents into ranges (lower and upper ends and counts). A value that fills a range has its own.
template <class Word>
void cut(std::span<const Word> sorted, unsigned log, std::vector<Bin<Word>>& ranges) {
  ranges.clear();
  const std::size_t full = std::max<std::size_t>(sorted.size() >> log, 1);
  Bin<Word> open;
  const auto close = [&] {
    if (open.count > 0) ranges.push_back(open);
    open.count = 0;
  };
  for (std::size_t at = 0; at < sorted.size();) {
    const Word value = sorted[at];
    std::size_t end = at + 1;
    while (end < sorted.size() && sorted[end] == value) ++end;
    const auto run = static_cast<std::uint32_t>(end - at);
    if (run >= full) close();
    if (open.count == 0) open.lower = value;
    open.upper = value;
    open.count += run;
    if (open.count >= full) close();
    at = end;
  }
  close();
}

/// Merges neighbours for the fewest bits; returns that number. `firsts`: the first range of each bin.
template <class Word>
double join(std::span<const Bin<Word>> ranges, double bin_bits, std::vector<std::size_t>& firsts) {
  const std::size_t count = ranges.size();
  std::vector<double> best(count + 1, 0);
  std::vector<std::uint32_t> before(count + 1, 0);
  std::vector<std::size_t> from(count);
  for (std::size_t i = 0; i < count; ++i) before[i + 1] = before[i] + ranges[i].count;
  const double total = before[count], total_log = std::log2(total);
  const auto bits_of = [&](std::size_t first, std::size_t last) {
    const auto numbers = static_cast<float>(before[last + 1] - before[first]);
    const auto width = std::bit_width(Word(ranges[last].upper - ranges[first].lower));
    return bin_bits + numbers * (total_log - std::log2(numbers) + width);
  };
  for (std::size_t last = 0; last < count; ++last) {
    best[last + 1] = std::numeric_limits<double>::max();
    for (std::size_t first = last + 1; first-- > 0;) {
      const double bits = best[first] + bits_of(first, last);
      if (bits >= best[last + 1]) continue;
      best[last + 1] = bits, from[last] = first;
    }
  }
  firsts.clear();
  const double one = bits_of(0, count - 1);
  if (one <= best[count] + kOneBinBonus * total) {
    firsts.push_back(0);
    return one;
  }
  for (std::size_t last = count; last > 0; last = firsts.back()) firsts.push_back(from[last - 1]);
  std::ranges::reverse(firsts);
  return best[count];
}

/// Weights proportional to the counts, at least 1 each, with the sum 2^log; returns log.
template <class Word>
unsigned weigh(std::span<Bin<Word>> bins, std::size_t total, unsigned log) {
  if (bins.size() == 1) return bins[0].weight = 1, 0;
  log = std::max(log, static_cast<unsigned>(std::bit_width(bins.size() - 1)));
  const double size = static_cast<double>(std::size_t{1} << log), scale = size / static_cast<double>(total);
  double wanted = 0;
  for (const Bin<Word>& bin : bins) wanted += std::max(bin.count * scale - 1, 0.0);
  const double spare = size - static_cast<double>(bins.size());
  auto left = static_cast<std::size_t>(spare);
  std::vector<std::pair<double, std::size_t>> rests;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double share = wanted > 0 ? std::max(bins[i].count * scale - 1, 0.0) / wanted * spare : 0;
    const auto whole = std::min(static_cast<std::size_t>(share), left);
    bins[i].weight = static_cast<std::uint32_t>(1 + whole);
    left -= whole;
    rests.emplace_back(share - static_cast<double>(whole), i);
  }
  std::ranges::sort(rests, std::greater());
  for (std::size_t i = 0; left > 0; i = (i + 1) % rests.size(), --left) ++bins[rests[i].second].weight;
  std::uint32_t all = 0;
  for (const Bin<Word>& bin : bins) all |= bin.weight;
  const auto halvings = static_cast<unsigned>(std::countr_zero(all));
  for (Bin<Word>& bin : bins) bin.weight >>= halvings;
  return log - halvings;
}

/// Latents from everywhere, with a varying step so that it matches no period.
template <class Word>
void take_sample(std::span<const Word> latents, std::span<Word> sample) {
  const std::size_t step = latents.size() / sample.size();
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    random = random * 1664525U + 1013904223U;
    sample[i] = latents[i * step + (random >> 8) % step];
  }
}

/// Where the ranges of a sample begin. Values between two ranges belong to the previous one or, if that is a single
/// value, to a range of their own.
template <class Word>
std::vector<Word> beginnings(std::span<const Bin<Word>> ranges) {
  std::vector<Word> lowers{0};
  for (const Bin<Word>& range : ranges) {
    if (range.lower > lowers.back()) lowers.push_back(range.lower);
    if (range.lower == range.upper && range.upper != static_cast<Word>(~Word{0}))
      lowers.push_back(static_cast<Word>(range.upper + 1));
  }
  return lowers;
}

/// Finds the last beginning that is not above a latent.
template <class Word>
class Finder {
 public:
  explicit Finder(std::vector<Word> lowers) : last_(lowers.size() - 1), lowers_(std::move(lowers)) {
    lowers_.resize(std::bit_ceil(lowers_.size()), Word(~Word{0}));
  }
  [[nodiscard]] std::size_t operator()(Word latent) const noexcept {
    const Word* at = lowers_.data();
    for (std::size_t step = lowers_.size() / 2; step > 0; step /= 2) at += at[step] <= latent ? step : 0;
    return std::min(static_cast<std::size_t>(at - lowers_.data()), last_);
  }

 private:
  std::size_t last_;
  std::vector<Word> lowers_;
};

}  // namespace

template <class Word>
double cost(std::span<Word> latents, const Effort& effort) {
  if (latents.empty()) return 0;
  std::ranges::sort(latents);
  std::vector<Bin<Word>> ranges;
  std::vector<std::size_t> firsts;
  cut<Word>(latents, effort.log, ranges);
  return join<Word>(ranges, kBinBits<Word> * effort.share, firsts);
}

template <class Word>
Result<void> SequenceWriter<Word>::train(std::span<const Word> latents, unsigned log) {
  latents_ = latents, bits_ = 0, log_ = 0;
  bins_.clear();
  if (latents.empty()) return {};
  const auto [least, greatest] = std::ranges::minmax(latents);
  if (least == greatest) {
    bins_.push_back({least, greatest, static_cast<std::uint32_t>(latents.size())});
    return {};
  }
  const std::size_t wanted = std::min(std::max(kSample, kSampleOfRange << log), latents.size());
  Scratch lent;
  SHERD_TRY(lent->resize(wanted * sizeof(Word)));
  const std::span sample(reinterpret_cast<Word*>(lent->data()), wanted);
  take_sample(latents, sample);
  std::ranges::sort(sample);
  std::vector<Bin<Word>> ranges;
  cut<Word>(sample, log, ranges);
  SHERD_TRY(count_ranges(ranges));
  const std::vector<std::uint16_t> bin_of = choose(ranges);
  const auto enough = static_cast<unsigned>(std::bit_width(latents.size() - 1));
  log_ = weigh<Word>(bins_, latents.size(), std::min({log + 2, 12U, enough}));
  return code(bin_of);
}

/// Finds the range of each latent, and the ends and counts of all ranges; some may be empty.
template <class Word>
Result<void> SequenceWriter<Word>::count_ranges(std::vector<Bin<Word>>& ranges) {
  SHERD_TRY(symbols_->resize(latents_.size() * sizeof(std::uint16_t)));
  std::vector<Word> lowers = beginnings<Word>(ranges);
  ranges.assign(lowers.size(), {static_cast<Word>(~Word{0}), 0, 0});
  const Finder<Word> find(std::move(lowers));
  for (std::size_t i = 0; i < latents_.size(); ++i) {
    const std::size_t found = find(latents_[i]);
    Bin<Word>& range = ranges[found];
    range.lower = std::min(range.lower, latents_[i]);
    range.upper = std::max(range.upper, latents_[i]);
    ++range.count;
    symbols()[i] = static_cast<std::uint16_t>(found);
  }
  return {};
}

/// Makes bins of ranges, and returns the bin of each range.
template <class Word>
std::vector<std::uint16_t> SequenceWriter<Word>::choose(std::span<const Bin<Word>> ranges) {
  std::vector<Bin<Word>> filled;
  for (const Bin<Word>& range : ranges)
    if (range.count > 0) filled.push_back(range);
  std::vector<std::size_t> firsts;
  join<Word>(filled, kBinBits<Word>, firsts);
  firsts.push_back(filled.size());
  std::vector<std::uint16_t> bin_of;
  std::size_t at = 0;
  for (const Bin<Word>& range : ranges) {
    if (range.count > 0 && at == firsts[bins_.size()]) bins_.push_back({range.lower, range.upper, 0});
    bin_of.push_back(static_cast<std::uint16_t>(bins_.empty() ? 0 : bins_.size() - 1));
    if (range.count == 0) continue;
    bins_.back().upper = range.upper;
    bins_.back().count += range.count;
    ++at;
  }
  return bin_of;
}

/// From the last latent to the first, as tANS requires: each state's low bits go to the stream, and then comes a state
/// of the latent's bin.
template <class Word>
Result<void> SequenceWriter<Word>::code(std::span<const std::uint16_t> bin_of) {
  if (bins_.size() == 1) {
    bits_ = latents_.size() * bins_[0].width();
    return {};
  }
  struct Step {
    std::uint32_t bits;  // added to a state: the number of bits to write is above bit 16
    std::int32_t first;  // added to the rest of the state to get the next one's position
    std::uint32_t width;
  };
  const std::uint32_t size = std::uint32_t{1} << log_;
  std::vector<Step> steps(bins_.size());
  std::vector<std::uint16_t> next(size);
  std::vector<std::uint16_t> owner(size);
  std::uint32_t step = 0;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    const std::uint32_t weight = bins_[bin].weight;
    const unsigned least = log_ + 1 - static_cast<unsigned>(std::bit_width(2 * weight - 1));
    steps[bin] = {((least + 1) << 16) - (2 * weight << least),
                  static_cast<std::int32_t>(step) - static_cast<std::int32_t>(weight), bins_[bin].width()};
    for (const std::uint32_t end = step + weight; step < end; ++step)
      owner[stride(log_) * step & (size - 1)] = static_cast<std::uint16_t>(bin);
  }
  std::vector<std::uint32_t> filled(bins_.size(), 0);
  for (std::uint32_t state = 0; state < size; ++state) {
    const std::size_t bin = owner[state];
    next[static_cast<std::size_t>(steps[bin].first + static_cast<std::int32_t>(bins_[bin].weight + filled[bin]++))] =
        static_cast<std::uint16_t>(size + state);
  }
  SHERD_TRY(coded_->resize(latents_.size() * sizeof(std::uint32_t)));
  for (std::uint32_t& state : states_) state = size;
  std::uint64_t bits = 0;
  for (std::size_t i = latents_.size(); i-- > 0;) {
    std::uint32_t& state = states_[i % kStates];
    symbols()[i] = bin_of[symbols()[i]];
    const Step& of = steps[symbols()[i]];
    const std::uint32_t count = (state + of.bits) >> 16;
    coded()[i] = (state & ((1U << count) - 1)) | count << 16;
    bits += count + of.width;
    state = next[static_cast<std::size_t>(static_cast<std::int32_t>(state >> count) + of.first)];
  }
  bits_ = bits;
  return {};
}

template <class Word>
std::uint64_t SequenceWriter<Word>::metadata_bits() const noexcept {
  return kTableLogBits + kBinCountBits + bins_.size() * (log_ + kBits<Word> + kOffsetCountBits<Word>)+kStates * log_;
}

template <class Word>
void SequenceWriter<Word>::write_bins(BitWriter& to) const noexcept {
  to.write(log_, kTableLogBits);
  to.write(bins_.size(), kBinCountBits);
  for (const Bin<Word>& bin : bins_) {
    to.write(bin.weight - 1, log_);
    to.write(bin.lower, kBits<Word>);
    to.write(bin.width(), kOffsetCountBits<Word>);
  }
}

template <class Word>
void SequenceWriter<Word>::write_states(BitWriter& to) const noexcept {
  for (const std::uint32_t state : states_) to.write(bins_.size() > 1 ? state - (1U << log_) : 0, log_);
}

template <class Word>
void SequenceWriter<Word>::write(BitWriter& to, std::size_t first, std::size_t count) noexcept {
  if (bins_.size() <= 1) {
    const unsigned width = count > 0 ? bins_[0].width() : 0;
    if (width > 0)
      for (std::size_t i = first; i < first + count; ++i)
        to.write(static_cast<Word>(latents_[i] - bins_[0].lower), width);
    return;
  }
  for (std::size_t i = first; i < first + count; ++i) to.write(coded()[i] & 0xffffU, coded()[i] >> 16);
  for (std::size_t i = first; i < first + count; ++i) {
    const Bin<Word>& bin = bins_[symbols()[i]];
    to.write(static_cast<Word>(latents_[i] - bin.lower), bin.width());
  }
}

template double cost(std::span<std::uint8_t>, const Effort&);
template double cost(std::span<std::uint16_t>, const Effort&);
template double cost(std::span<std::uint32_t>, const Effort&);
template double cost(std::span<std::uint64_t>, const Effort&);
template class SequenceWriter<std::uint8_t>;
template class SequenceWriter<std::uint16_t>;
template class SequenceWriter<std::uint32_t>;
template class SequenceWriter<std::uint64_t>;

}  // namespace sherd::pcodec
