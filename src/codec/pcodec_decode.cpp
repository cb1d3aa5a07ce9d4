// Reads files of pcodec, in every version: the header, then for each chunk its metadata and one page of batches.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "codec/pcodec_latents.hpp"

namespace sherd::pcodec {
namespace {

constexpr std::uint64_t kNewestFile = 3, kNewestMajor = 4;
/// The first versions with a separate file version; before, it is the format's.
constexpr std::uint64_t kFirstOwnVersion = 2, kFirstUniformType = 3;
/// The first versions of the format with a minor version, and with other than consecutive differences.
constexpr std::uint64_t kFirstMinorVersion = 4, kFirstDeltaVariants = 3;

Error too_new(std::uint64_t version) {
  return unsupported("pcodec: version " + std::to_string(version) + " of the format is newer than this Sherd");
}

/// The number type of this code. numcodecs' bitround converts floats to integers with the same bits.
Result<NumberType> stored_type(const NumberType& type, std::uint64_t code) {
  if (code == type.code) return type;
  if (type.kind == Kind::floating) {  // of 2, 4 or 8 bytes
    const std::uint8_t of_integer = type.bytes == 2 ? 8 : type.bytes == 4 ? 3 : 4;
    if (code == of_integer) return NumberType{of_integer, type.bytes, Kind::signed_integer};
  }
  return damaged("the numbers are of type " + std::to_string(code) + ", not " + std::to_string(type.code));
}

/// Returns the major version of the format.
Result<std::uint64_t> read_header(BitReader& from, const NumberType& type) {
  if (!from.has(8 * (kMagicBytes + 2))) return damaged("the stream has no header");
  for (std::size_t i = 0; i < kMagicBytes; ++i)
    if (from.read(8) != static_cast<unsigned char>(kMagic[i])) return damaged("the stream does not begin with 'pco!'");
  std::uint64_t version = from.read(8);
  if (version >= kFirstOwnVersion) {
    if (version > kNewestFile) return too_new(version);
    // All of it fits in the padding, so a single check afterwards is sufficient.
    const std::uint64_t uniform = version >= kFirstUniformType ? from.read(8) : 0;
    const auto hint_bits = static_cast<unsigned>(from.read(kHintLogBits)) + 1;
    from.read(hint_bits);
    const bool aligned = from.align();
    version = from.read(8);
    if (!from.is_within()) return damaged("the stream has no header");
    if (!aligned) return damaged("the padding of the header is not 0");
    if (uniform != 0) SHERD_TRY(stored_type(type, uniform));
  }
  if (version > kNewestMajor) return too_new(version);
  if (version < kFirstMinorVersion) return version;
  if (!from.has(8)) return damaged("the stream has no header");
  from.read(8);
  return version;
}

/// How a chunk's latents are computed from the stored ones.
struct Difference {
  Delta kind = Delta::none;
  bool of_secondary = false;
  std::size_t states = 0;  ///< latents that are stored unchanged, before all batches
  std::uint32_t window = 0;
  unsigned quantization = 0;
  std::int64_t bias = 0;
  std::vector<std::int64_t> weights;
};

Result<Difference> read_convolution(BitReader& from) {
  Difference delta;
  delta.kind = Delta::convolution;
  delta.quantization = static_cast<unsigned>(from.read(kQuantizationBits));
  delta.bias = static_cast<std::int64_t>(from.read(64) ^ kMiddle<std::uint64_t>);
  delta.states = 1 + static_cast<std::size_t>(from.read(kWeightCountBits));
  for (std::size_t i = 0; i < delta.states; ++i)
    delta.weights.push_back(static_cast<std::int32_t>(from.read(32) ^ kMiddle<std::uint32_t>));
  return delta;
}

/// Reads at most 138 bytes, which fit in the padding; the caller checks is_within().
Result<Difference> read_difference(BitReader& from, std::uint64_t version) {
  Difference delta;
  if (version < kFirstDeltaVariants) {
    delta.states = static_cast<std::size_t>(from.read(kOrderBits));
    delta.kind = delta.states > 0 ? Delta::consecutive : Delta::none;
    return delta;
  }
  switch (const std::uint64_t kind = from.read(kDeltaBits)) {
    case 0:
      return delta;
    case 1:
      delta.kind = Delta::consecutive;
      delta.states = static_cast<std::size_t>(from.read(kOrderBits));
      delta.of_secondary = from.read(1) != 0;
      if (delta.states == 0) return damaged("differences of order 0");
      return delta;
    case 2: {
      const auto window_log = 1 + static_cast<unsigned>(from.read(kWindowBits));
      const auto states_log = static_cast<unsigned>(from.read(kStateCountBits));
      delta.kind = Delta::lookback;
      delta.of_secondary = from.read(1) != 0;
      if (window_log > 24 || states_log > window_log)
        return damaged("a window of 2^" + std::to_string(window_log) + " numbers that begins with 2^" +
                       std::to_string(states_log));
      delta.window = std::uint32_t{1} << window_log;
      delta.states = std::size_t{1} << states_log;
      return delta;
    }
    case 3:
      return read_convolution(from);
    default:
      return damaged("differences of the unknown kind " + std::to_string(kind));
  }
}

template <class Word>
Word turned(Word word) noexcept {
  return word ^ kMiddle<Word>;
}

/// One sequence of latents, and what its differences need.
template <class Word>
class Sequence {
 public:
  LatentReader<Word>& bins() noexcept { return bins_; }

  /// From the metadata of a page of `count` numbers.
  Result<void> start(BitReader& from, const Difference* delta, std::size_t count) {
    delta_ = delta;
    left_ = count;
    const std::size_t states = delta != nullptr ? delta->states : 0;
    if (!from.has(states * kBits<Word> + bins_.states_bits())) return truncated();
    // With lookbacks all latents are kept, otherwise the last ones.
    SHERD_TRY(kept_->resize((states + (looks_back() ? count : 0)) * sizeof(Word)));
    for (std::size_t i = 0; i < states; ++i) kept()[i] = static_cast<Word>(from.read(kBits<Word>));
    end_ = states;
    bins_.read_states(from);
    return {};
  }
  /// The number of stored latents of the next batch.
  [[nodiscard]] std::size_t stored() const noexcept {
    const std::size_t states = delta_ != nullptr ? delta_->states : 0;
    return std::min(kBatch, left_ - std::min(left_, states));
  }
  /// The next batch; `lookbacks` has stored() of them.
  Result<void> read(BitReader& from, const std::uint32_t* lookbacks, std::span<Word> to) {
    const std::size_t here = stored();
    bins_.read(from, here, to.data());
    if (!from.is_within()) return truncated();
    left_ -= to.size();
    if (delta_ == nullptr || delta_->kind == Delta::none) return {};
    std::fill(to.begin() + static_cast<std::ptrdiff_t>(here), to.end(), Word{0});
    if (looks_back()) return look_back({lookbacks, here}, to);
    for (Word& each : to) each = turned(each);
    if (delta_->kind == Delta::consecutive)
      sum(to);
    else
      predict(to);
    return {};
  }

 private:
  [[nodiscard]] Word* kept() noexcept { return reinterpret_cast<Word*>(kept_->data()); }
  [[nodiscard]] bool looks_back() const noexcept { return delta_ != nullptr && delta_->kind == Delta::lookback; }

  void sum(std::span<Word> latents) noexcept {
    for (std::size_t order = delta_->states; order-- > 0;) {
      Word current = kept()[order];
      for (Word& each : latents) {
        const Word next = static_cast<Word>(current + each);
        each = current;
        current = next;
      }
      kept()[order] = current;
    }
  }

  /// The latents of this batch begin `states` before the stored ones.
  Result<void> look_back(std::span<const std::uint32_t> lookbacks, std::span<Word> latents) {
    Word* const all = kept();
    for (std::size_t i = 0; i < lookbacks.size(); ++i, ++end_) {
      if (lookbacks[i] == 0 || lookbacks[i] > delta_->window)
        return damaged("a difference to " + std::to_string(lookbacks[i]) + " numbers before, in a window of " +
                       std::to_string(delta_->window));
      // The numbers before the first are zeros.
      const Word before = lookbacks[i] <= end_ ? all[end_ - lookbacks[i]] : Word{0};
      all[end_] = static_cast<Word>(turned(latents[i]) + before);
    }
    std::copy_n(all + returned_, latents.size(), latents.data());
    returned_ += latents.size();
    return {};
  }

  /// A weighted sum of the previous numbers, in fixed point; check_convolution() has excluded overflow.
  void predict(std::span<Word> latents) noexcept {
    const std::size_t order = delta_->states;
    Word* const before = kept();
    for (Word& each : latents) {
      std::int64_t sum = delta_->bias;
      for (std::size_t i = 0; i < order; ++i) sum += delta_->weights[i] * static_cast<std::int64_t>(before[i]);
      const auto next = static_cast<Word>((std::max<std::int64_t>(sum, 0) >> delta_->quantization) + each);
      each = before[0];
      std::copy(before + 1, before + order, before);
      before[order - 1] = next;
    }
  }

  LatentReader<Word> bins_;
  const Difference* delta_ = nullptr;
  Scratch kept_;
  std::size_t left_ = 0, end_ = 0, returned_ = 0;
};

template <class Word>
class Chunk {
 public:
  explicit Chunk(Kind kind) noexcept : kind_(kind) {}

  /// Decodes the metadata and `numbers`.
  Result<void> decode(BitReader& from, std::uint64_t version, std::span<std::byte> numbers) {
    SHERD_TRY(read_mode(from));
    SHERD_TRY(delta, read_difference(from, version));
    if (!from.is_within()) return truncated();
    delta_ = std::move(delta);
    if (delta_.kind == Delta::lookback) SHERD_TRY(lookbacks_.bins().read_bins(from));
    if (mode_ == Mode::dictionary) {
      SHERD_TRY(keys_.bins().read_bins(from));
    } else {
      SHERD_TRY(primary_.bins().read_bins(from));
    }
    if (has_secondary()) SHERD_TRY(secondary_.bins().read_bins(from));
    if (!from.align()) return damaged("the padding of a chunk's metadata is not 0");
    SHERD_TRY(check_difference());
    SHERD_TRY(start_page(from, numbers.size() / sizeof(Word)));
    return read_page(from, numbers);
  }

 private:
  using Floats = Real<Word>;
  [[nodiscard]] bool has_secondary() const noexcept { return mode_ != Mode::classic && mode_ != Mode::dictionary; }
  [[nodiscard]] const Difference* secondary_delta() const noexcept { return delta_.of_secondary ? &delta_ : nullptr; }

  Result<void> read_mode(BitReader& from) {
    const std::uint64_t mode = from.read(kModeBits);
    if (mode > static_cast<std::uint64_t>(Mode::dictionary)) return damaged("the unknown mode " + std::to_string(mode));
    mode_ = static_cast<Mode>(mode);
    const bool is_float = kind_ == Kind::floating;
    if ((mode_ == Mode::int_mult && is_float) ||
        ((mode_ == Mode::float_mult || mode_ == Mode::float_quant) && (!is_float || sizeof(Word) == 1)))
      return damaged("mode " + std::to_string(mode) + " is not one of the numbers' type");
    if (mode_ == Mode::dictionary) return read_dictionary(from);
    if (mode_ == Mode::float_quant) {
      quant_ = static_cast<unsigned>(from.read(kQuantBits));
      if (quant_ == 0 || quant_ > Floats::fraction) return damaged("a cut at " + std::to_string(quant_) + " bits");
    } else if (mode_ != Mode::classic) {
      base_ = static_cast<Word>(from.read(kBits<Word>));
      if (mode_ == Mode::int_mult && base_ == 0) return damaged("multiples of 0");
      const auto base = Floats::value(from_ordered(kind_, base_));
      if (mode_ == Mode::float_mult && !(std::isfinite(base) && base != 0))
        return damaged("multiples of 0, infinity or NaN");
    }
    return {};
  }

  Result<void> read_dictionary(BitReader& from) {
    words_ = static_cast<std::size_t>(from.read(kDictionaryCountBits));
    if (!from.align()) return damaged("the padding of a dictionary's count is not 0");
    if (!from.has(std::uint64_t{words_} * kBits<Word>)) return truncated();
    SHERD_TRY(dictionary_->resize(words_ * sizeof(Word)));
    for (std::size_t i = 0; i < words_; ++i)
      store_number(dictionary_->data(), i, from_ordered(kind_, static_cast<Word>(from.read(kBits<Word>))));
    return {};
  }

  Result<void> check_difference() {
    if (delta_.kind == Delta::lookback) {
      const auto& bins = lookbacks_.bins();
      if (!bins.is_empty() && (bins.least_lower() < 1 || bins.greatest_lower() > delta_.window))
        return damaged("differences to numbers outside a window of " + std::to_string(delta_.window));
    }
    if (delta_.kind == Delta::convolution)
      return check_convolution(mode_ == Mode::dictionary ? kBits<std::uint32_t> : kBits<Word>);
    return {};
  }

  /// Sums must fit a signed word of twice the width.
  Result<void> check_convolution(unsigned bits) const {
    if (bits > 32) return damaged("convolutions of numbers of 64 bits");
    double most = std::abs(static_cast<double>(delta_.bias));
    for (const std::int64_t weight : delta_.weights)
      most += std::ldexp(std::abs(static_cast<double>(weight)), static_cast<int>(bits));
    if (delta_.quantization > 2 * bits - 1 || most >= std::ldexp(1.0, static_cast<int>(2 * bits - 1)))
      return damaged("the sums of a convolution do not fit their type");
    return {};
  }

  Result<void> start_page(BitReader& from, std::size_t count) {
    // Without bins the only latents are those before the first difference.
    const bool has_latents = count > delta_.states;
    const bool lacks_bins = (delta_.kind == Delta::lookback && lookbacks_.bins().is_empty()) ||
                            (mode_ == Mode::dictionary ? keys_.bins().is_empty() : primary_.bins().is_empty()) ||
                            (has_secondary() && secondary_.bins().is_empty());
    if (has_latents && lacks_bins) return damaged("a chunk without bins");
    if (delta_.kind == Delta::lookback)
      SHERD_TRY(lookbacks_.start(from, nullptr, count - std::min(count, delta_.states)));
    if (mode_ == Mode::dictionary) {
      SHERD_TRY(keys_.start(from, &delta_, count));
    } else {
      SHERD_TRY(primary_.start(from, &delta_, count));
    }
    if (has_secondary()) SHERD_TRY(secondary_.start(from, secondary_delta(), count));
    if (!from.align() || !from.is_within()) return damaged("the padding of a page's states is not 0");
    return {};
  }

  Result<void> read_page(BitReader& from, std::span<std::byte> numbers) {
    std::array<std::uint32_t, kBatch> lookbacks, keys;
    std::array<Word, kBatch> primary, secondary;
    const std::size_t count = numbers.size() / sizeof(Word);
    for (std::size_t at = 0; at < count; at += kBatch) {
      const std::size_t here = std::min(kBatch, count - at);
      if (delta_.kind == Delta::lookback)
        SHERD_TRY(lookbacks_.read(from, nullptr, {lookbacks.data(), lookbacks_.stored()}));
      std::byte* const to = numbers.data() + at * sizeof(Word);
      if (mode_ == Mode::dictionary) {
        SHERD_TRY(keys_.read(from, lookbacks.data(), {keys.data(), here}));
        SHERD_TRY(look_up({keys.data(), here}, to));
        continue;
      }
      SHERD_TRY(primary_.read(from, lookbacks.data(), {primary.data(), here}));
      if (has_secondary()) SHERD_TRY(secondary_.read(from, lookbacks.data(), {secondary.data(), here}));
      join({primary.data(), here}, secondary.data());
      std::memcpy(to, primary.data(), here * sizeof(Word));
    }
    if (!from.align() || !from.is_within()) return damaged("the padding of a page is not 0");
    return {};
  }

  Result<void> look_up(std::span<const std::uint32_t> keys, std::byte* to) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i] >= words_)
        return damaged("key " + std::to_string(keys[i]) + " of a dictionary of " + std::to_string(words_));
      store_number(to, i, load_number<Word>(dictionary_->data(), keys[i]));
    }
    return {};
  }

  void multiply(std::span<Word> primary, const Word* secondary) const noexcept {
    const auto base = Floats::value(from_ordered(Kind::floating, base_));
    const auto multiply_all = [&](auto product) {
      for (std::size_t i = 0; i < primary.size(); ++i)
        primary[i] = turned(
            static_cast<Word>(to_ordered(Kind::floating, static_cast<Word>(product(primary[i], base))) + secondary[i]));
    };
    if constexpr (sizeof(Word) >= 4) {
      bool all_small = true;
      for (const Word each : primary) all_small &= Floats::is_small(each);
      if (all_small) return multiply_all(Floats::small_product);
    }
    multiply_all(Floats::product);
  }

  /// Converts latents to numbers, in place.
  void join(std::span<Word> primary, const Word* secondary) const noexcept {
    switch (mode_) {
      case Mode::int_mult:
        for (std::size_t i = 0; i < primary.size(); ++i)
          primary[i] = static_cast<Word>(std::uint64_t{primary[i]} * base_ + secondary[i]);
        break;
      case Mode::float_quant: {
        const auto lowest = static_cast<Word>(low_bits(quant_));
        const auto positive = static_cast<Word>(kMiddle<Word> >> quant_);
        for (std::size_t i = 0; i < primary.size(); ++i) {
          const Word rest = primary[i] >= positive ? secondary[i] : static_cast<Word>(lowest - secondary[i]);
          primary[i] = static_cast<Word>((std::uint64_t{primary[i]} << quant_) + rest);
        }
        break;
      }
      case Mode::float_mult:
        multiply(primary, secondary);
        break;
      default:
        break;
    }
    // A separate loop for each kind, so that none has to test it.
    if (kind_ == Kind::signed_integer) {
      for (Word& each : primary) each = from_ordered(Kind::signed_integer, each);
    } else if (kind_ == Kind::floating) {
      for (Word& each : primary) each = from_ordered(Kind::floating, each);
    }
  }

  Kind kind_;
  Mode mode_ = Mode::classic;
  Word base_ = 0;
  unsigned quant_ = 0;
  std::size_t words_ = 0;
  Scratch dictionary_;
  Difference delta_;
  Sequence<std::uint32_t> lookbacks_, keys_;
  Sequence<Word> primary_, secondary_;
};

/// Reads the chunk that begins at `from`, of at most as many numbers as are left; returns its count.
Result<std::size_t> read_chunk(BitReader& from, std::uint64_t version, const NumberType& type,
                               std::span<std::byte> numbers) {
  if (!from.has(kChunkCountBits)) return truncated();
  const auto count = static_cast<std::size_t>(from.read(kChunkCountBits)) + 1;
  if (count > numbers.size() / type.bytes) return damaged("the stream has more numbers than the chunk");
  auto part = numbers.first(count * type.bytes);
  SHERD_TRY(visit_word(type.bytes, [&]<class Word>(Word) -> Result<void> {
    return Chunk<Word>(type.kind).decode(from, version, part);
  }));
  return count;
}

}  // namespace

Result<void> decode(const NumberType& type, std::span<const std::byte> file, std::span<std::byte> numbers) {
  Scratch padded;
  SHERD_TRY(padded->resize(file.size() + BitReader::kPadding));
  std::ranges::copy(file, padded->data());
  std::memset(padded->data() + file.size(), 0, BitReader::kPadding);
  BitReader from(padded->data(), file.size());
  SHERD_TRY(version, read_header(from, type));
  for (;;) {
    if (!from.has(8)) return damaged("the stream ends without the byte that ends it");
    const std::uint64_t code = from.read(8);
    if (code == 0) break;
    SHERD_TRY(stored, stored_type(type, code));
    SHERD_TRY(count, read_chunk(from, version, stored, numbers));
    numbers = numbers.subspan(count * type.bytes);
  }
  if (!numbers.empty())
    return damaged("the stream lacks " + std::to_string(numbers.size() / type.bytes) + " of the chunk's numbers");
  if (from.left() != 0) return damaged(std::to_string(from.left() / 8) + " bytes follow the stream");
  return {};
}

}  // namespace sherd::pcodec
