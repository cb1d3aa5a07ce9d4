#include "codec/pcodec_mode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "codec/pcodec_bins.hpp"

namespace sherd::pcodec {
namespace {

/// A sample consists of some runs of numbers, or of all if there are no more.
constexpr std::size_t kRun = 256, kRuns = 16;
constexpr std::size_t kLookbackRun = 8192;
constexpr unsigned kSampleLog = 6;
/// Bits per number that a mode of two sequences, a further difference and lookbacks must save: each slows decoding.
constexpr double kModeSaves = 0.5, kOrderSaves = 0.02, kLookbackSaves = 2;
/// The fraction of a sample's numbers that must be near a multiple.
constexpr double kMostly = 0.9;

template <class Word>
Word toggled(Word word) noexcept {
  return word ^ kMiddle<Word>;
}

/// Runs of bytes of numbers from everywhere.
std::vector<std::byte> take_runs(std::span<const std::byte> numbers, std::size_t size) {
  const std::size_t count = numbers.size() / size;
  if (count <= kRun * kRuns) return {numbers.begin(), numbers.end()};
  std::vector<std::byte> sample;
  for (std::size_t run = 0; run < kRuns; ++run) {
    const auto part = numbers.subspan((count - kRun) * run / (kRuns - 1) * size, kRun * size);
    sample.insert(sample.end(), part.begin(), part.end());
  }
  return sample;
}

/// Estimates the bits per number of `numbers` from the sample `latents`; `order` is the best order of differences.
template <class Word>
class Estimate {
 public:
  Estimate(std::span<const Word> sample, std::size_t numbers, unsigned log)
      : sample_(sample),
        log_(std::min(log, kSampleLog)),
        share_(static_cast<double>(sample.size()) / static_cast<double>(std::max<std::size_t>(numbers, 1))) {}

  [[nodiscard]] double with_order(unsigned order) {
    std::array<Word, kMaxOrder> first;
    scratch_.clear();
    std::vector<Word> run;
    for (std::size_t at = 0; at < sample_.size(); at += kRun) {
      const auto part = sample_.subspan(at, std::min(kRun, sample_.size() - at));
      if (part.size() <= order) continue;
      run.assign(part.begin(), part.end());
      const auto latents = take_differences(std::span(run), order, first.data());
      scratch_.insert(scratch_.end(), latents.begin(), latents.end());
    }
    return per_number(scratch_);
  }
  [[nodiscard]] double per_number(std::span<Word> latents) const {
    if (latents.empty()) return kBits<Word>;
    return cost(latents, {.log = log_, .share = share_}) / static_cast<double>(latents.size());
  }
  /// The best order and its bits per number.
  [[nodiscard]] std::pair<unsigned, double> best_order() {
    std::pair<unsigned, double> best{0, with_order(0)};
    for (unsigned order = 1; order <= kMaxOrder; ++order) {
      const double bits = with_order(order);
      if (bits >= best.second - kOrderSaves) break;
      best = {order, bits};
    }
    return best;
  }

 private:
  std::span<const Word> sample_;
  unsigned log_;
  double share_;
  std::vector<Word> scratch_;
};

/// The most frequent greatest common divisor of triples' differences, or 1.
template <class Word>
Word common_base(std::span<const Word> sample) {
  std::vector<Word> divisors;
  for (std::size_t i = 0; i + 3 <= sample.size(); i += 3) {
    const auto [least, greatest] = std::ranges::minmax(sample.subspan(i, 3));
    const Word middle = sample[i] ^ sample[i + 1] ^ sample[i + 2] ^ least ^ greatest;
    divisors.push_back(std::gcd(Word(greatest - least), Word(middle - least)));
  }
  if (divisors.size() < 8) return 1;
  std::ranges::sort(divisors);
  Word best = 1;
  std::size_t most = 0;
  for (std::size_t at = 0; at < divisors.size();) {
    std::size_t end = at;
    while (end < divisors.size() && divisors[end] == divisors[at]) ++end;
    // A divisor of 0 means that all numbers are equal.
    if (divisors[at] > 1 && end - at > most) most = end - at, best = divisors[at];
    at = end;
  }
  return most * 4 >= divisors.size() ? best : Word{1};
}

/// The reciprocal of a power of ten that divides most of the sample, except for some last bits; 0 if none does.
template <class Word>
typename Real<Word>::Float decimal_base(std::span<const Word> sample) {
  using Float = typename Real<Word>::Float;
  constexpr int digits = sizeof(Word) == 8 ? 12 : 5;
  const Float slack = std::ldexp(Float(1), 2 - static_cast<int>(Real<Word>::fraction));
  Float scale = 1;
  for (int digit = 0; digit <= digits; ++digit, scale *= 10) {
    std::size_t near = 0, finite = 0;
    for (const Word each : sample) {
      const Float value = std::abs(Real<Word>::value(each));
      if (!std::isfinite(value)) continue;
      ++finite;
      const Float multiple = value * scale;
      if (multiple >= static_cast<Float>(Real<Word>::exact / 4)) continue;
      const Float rounded = static_cast<Float>(static_cast<std::uint64_t>(multiple + Float(0.5)));
      near += std::abs(rounded - multiple) <= multiple * slack;
    }
    if (finite > 0 && static_cast<double>(near) >= kMostly * static_cast<double>(finite)) return 1 / scale;
  }
  return 0;
}

/// The number of their last bits that are zero in most floats.
template <class Word>
unsigned unset_bits(std::span<const Word> sample) {
  constexpr unsigned fraction = Real<Word>::fraction;
  std::array<std::size_t, fraction + 1> counts{};
  for (const Word each : sample) ++counts[std::min(static_cast<unsigned>(std::countr_zero(each)), fraction)];
  std::size_t with = 0;
  for (unsigned bits = fraction; bits > 0; --bits) {
    with += counts[bits];
    if (static_cast<double>(with) >= kMostly * static_cast<double>(sample.size())) return bits;
  }
  return 0;
}

template <class Word>
std::vector<Plan<Word>> candidates(Kind kind, std::span<const std::byte> bytes) {
  std::vector<Plan<Word>> plans;
  std::vector<Word> words(bytes.size() / sizeof(Word));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  if (kind != Kind::floating) {
    for (Word& each : words) each = to_ordered(kind, each);
    const Word base = common_base<Word>(words);
    if (base > 1) plans.push_back({.mode = Mode::int_mult, .base = base});
    return plans;
  }
  const unsigned quant = unset_bits<Word>(words);
  if (quant > 0) plans.push_back({.mode = Mode::float_quant, .quant = quant});
  if constexpr (sizeof(Word) >= 4) {
    const auto base = decimal_base<Word>(words);
    if (base != 0) plans.push_back({.mode = Mode::float_mult, .base = to_ordered(kind, Real<Word>::word(base))});
  }
  return plans;
}

/// Bits per number saved by lookbacks, in a longer run of the primary latents.
template <class Word>
bool lookbacks_pay(Kind kind, const Plan<Word>& plan, std::span<const std::byte> numbers, double bits) {
  const std::size_t count = std::min(numbers.size() / sizeof(Word), kLookbackRun);
  const std::size_t first = (numbers.size() / sizeof(Word) - count) / 2;
  if (count < kRun || bits < kLookbackSaves) return false;
  std::vector<Word> latents(count), secondary(plan.has_secondary() ? count : 0);
  split(kind, plan, numbers.subspan(first * sizeof(Word), count * sizeof(Word)), std::span(latents), secondary.data());
  std::vector<std::uint32_t> lookbacks(count);
  choose_lookbacks<Word>(latents, kMaxWindow, lookbacks.data());
  look_back(std::span(latents), lookbacks.data());
  Estimate<Word> of_latents(latents, numbers.size() / sizeof(Word), kSampleLog);
  Estimate<std::uint32_t> of_lookbacks(lookbacks, numbers.size() / sizeof(Word), kSampleLog);
  const double found =
      of_latents.per_number(std::span(latents).subspan(1)) + of_lookbacks.per_number(std::span(lookbacks).subspan(1));
  return found < bits - kLookbackSaves;
}

/// The nearest integer to `value` for product(); -0 keeps its sign. 0 for values that have none.
template <class Word>
Word multiple_of(typename Real<Word>::Float value) noexcept {
  using Float = typename Real<Word>::Float;
  constexpr auto exact = static_cast<Float>(Real<Word>::exact);
  const Float magnitude = std::abs(value);
  std::uint64_t whole = 0;
  if (magnitude < exact / 2)
    whole = static_cast<std::uint64_t>(magnitude + Float(0.5));
  else if (magnitude < exact)
    whole = static_cast<std::uint64_t>(magnitude);
  else if (std::isfinite(magnitude))
    whole = Real<Word>::exact + (Real<Word>::word(magnitude) - Real<Word>::word(exact));
  return static_cast<Word>(std::signbit(value) ? kMiddle<Word> - 1 - whole : kMiddle<Word> + whole);
}

}  // namespace

template <class Word>
std::span<Word> take_differences(std::span<Word> latents, unsigned order, Word* first) noexcept {
  if (order == 0) return latents;
  for (unsigned i = 0; i < order; ++i) {
    first[i] = latents[0];
    for (std::size_t at = latents.size() - 1; at > 0; --at)
      latents[at] = static_cast<Word>(latents[at] - latents[at - 1]);
    latents = latents.subspan(1);
  }
  for (Word& each : latents) each = toggled(each);
  return latents;
}

template <class Word>
Plan<Word> choose_plan(Kind kind, const Settings& settings, std::span<const std::byte> numbers) {
  const std::size_t count = numbers.size() / sizeof(Word);
  const std::vector<std::byte> sample = take_runs(numbers, sizeof(Word));
  std::vector<Plan<Word>> plans{{}};
  if (!settings.classic) std::ranges::copy(candidates<Word>(kind, sample), std::back_inserter(plans));
  std::vector<Word> primary(sample.size() / sizeof(Word)), secondary(primary.size());
  Plan<Word> best;
  double least = 0;
  for (Plan<Word> plan : plans) {
    split(kind, plan, sample, std::span(primary), secondary.data());
    Estimate<Word> estimate(primary, count, settings.level);
    double bits = 0;
    if (settings.delta == Settings::Delta::automatic) {
      std::tie(plan.order, bits) = estimate.best_order();
    } else {
      plan.order = settings.delta == Settings::Delta::consecutive ? settings.order : 0;
      bits = estimate.with_order(plan.order);
    }
    if (plan.has_secondary()) bits += Estimate<Word>(secondary, count, settings.level).with_order(0) + kModeSaves;
    if (!plan.has_secondary() || bits < least) best = plan, least = bits;
  }
  const bool is_asked = settings.delta == Settings::Delta::lookback;
  const bool may = count > 1 && (is_asked || settings.delta == Settings::Delta::automatic);
  best.looks_back = may && (is_asked || lookbacks_pay(kind, best, numbers, least));
  const auto most = static_cast<unsigned>(std::min<std::size_t>(count - 1, kMaxOrder));
  best.order = best.looks_back ? 0 : std::min(best.order, most);
  return best;
}

template <class Word>
void split(Kind kind, const Plan<Word>& plan, std::span<const std::byte> numbers, std::span<Word> primary,
           Word* secondary) noexcept {
  std::memcpy(primary.data(), numbers.data(), numbers.size());
  if (plan.mode != Mode::float_mult)
    for (Word& each : primary) each = to_ordered(kind, each);
  switch (plan.mode) {
    case Mode::int_mult:
      for (std::size_t i = 0; i < primary.size(); ++i) {
        secondary[i] = primary[i] % plan.base;
        primary[i] = primary[i] / plan.base;
      }
      break;
    case Mode::float_quant: {
      const auto lowest = static_cast<Word>(low_bits(plan.quant));
      for (std::size_t i = 0; i < primary.size(); ++i) {
        const auto rest = static_cast<Word>(primary[i] & lowest);
        secondary[i] = primary[i] >= kMiddle<Word> ? rest : static_cast<Word>(lowest - rest);
        primary[i] = static_cast<Word>(primary[i] >> plan.quant);
      }
      break;
    }
    case Mode::float_mult: {
      const auto base = Real<Word>::value(from_ordered(kind, plan.base));
      const auto inverse = 1 / base;
      for (std::size_t i = 0; i < primary.size(); ++i) {
        const Word number = to_ordered(kind, primary[i]);
        primary[i] = multiple_of<Word>(Real<Word>::value(primary[i]) * inverse);
        secondary[i] = toggled(static_cast<Word>(number - to_ordered(kind, Real<Word>::product(primary[i], base))));
      }
      break;
    }
    default:
      break;
  }
}

/// Candidates are the previous lookback, 1, and the last number that is equal or nearly equal. A lookback is good if it
/// leaves a small difference and is frequent.
template <class Word>
void choose_lookbacks(std::span<const Word> latents, std::uint32_t window, std::uint32_t* lookbacks) {
  constexpr unsigned log = 14;
  constexpr std::array<unsigned, 2> coarse{0, 8};
  std::vector<std::uint32_t> last(std::size_t{coarse.size()} << log, 0);
  std::vector<std::uint32_t> counts(window + 1, 1);
  std::uint32_t before = 1, earlier = 1;
  for (std::size_t i = 1; i < latents.size(); ++i) {
    std::array<std::uint32_t, 3 + coarse.size()> proposed{before, earlier, 1};
    const auto remember = [&](std::size_t at, std::size_t position) {
      for (std::size_t c = 0; c < coarse.size(); ++c) {
        const std::uint64_t bucket = coarse[c] < kBits<Word> ? std::uint64_t{latents[at]} >> coarse[c] : 0;
        std::uint32_t& slot = last[c << log | (bucket * 0x9e3779b97f4a7c15U) >> (64 - log)];
        if (at == i) proposed[3 + c] = static_cast<std::uint32_t>(i - slot);
        slot = static_cast<std::uint32_t>(position);
      }
    };
    if (i == 1) remember(0, 0);
    remember(i, i);
    std::uint32_t best = 1;
    int good = -1;
    for (const std::uint32_t lookback : proposed) {
      if (lookback == 0 || lookback > window || lookback > i) continue;
      const Word up = static_cast<Word>(latents[i] - latents[i - lookback]);
      const Word difference = std::min(up, static_cast<Word>(-up));
      const int score = std::countl_zero(difference) + std::bit_width(counts[lookback]);
      if (score > good) good = score, best = lookback;
    }
    ++counts[best];
    if (best != before) earlier = before;
    before = best;
    lookbacks[i] = best;
  }
  if (!latents.empty()) lookbacks[0] = 1;
}

template <class Word>
void look_back(std::span<Word> latents, const std::uint32_t* lookbacks) noexcept {
  for (std::size_t i = latents.size(); i-- > 1;)
    latents[i] = toggled(static_cast<Word>(latents[i] - latents[i - lookbacks[i]]));
}

#define SHERD_PCODEC_WORD(Word)                                                                              \
  template Plan<Word> choose_plan(Kind, const Settings&, std::span<const std::byte>);                        \
  template void split(Kind, const Plan<Word>&, std::span<const std::byte>, std::span<Word>, Word*) noexcept; \
  template std::span<Word> take_differences(std::span<Word>, unsigned, Word*) noexcept;                      \
  template void choose_lookbacks(std::span<const Word>, std::uint32_t, std::uint32_t*);                      \
  template void look_back(std::span<Word>, const std::uint32_t*) noexcept;
SHERD_PCODEC_WORD(std::uint8_t)
SHERD_PCODEC_WORD(std::uint16_t)
SHERD_PCODEC_WORD(std::uint32_t)
SHERD_PCODEC_WORD(std::uint64_t)
#undef SHERD_PCODEC_WORD

}  // namespace sherd::pcodec
