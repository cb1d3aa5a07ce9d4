// bitround (zarr-extensions) and numcodecs.bitround: numbers rounded to `keepbits` bits, half to even, so that the
// other bits are zeros, which compress well. For floats these are bits of the fraction. For integers, which numcodecs
// does not accept, they are counted from the highest set bit, and negative numbers are in two's complement (as in
// zarrs). Decoding is a copy.
#include <bit>
#include <cstring>
#include <memory>

#include "base/float_format.hpp"
#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

/// How the words of a type are rounded; complex elements are two words.
struct RoundedWords {
  std::size_t size = 0;  ///< bytes; 0 if elements cannot be rounded
  int fraction = 0;      ///< bits; 0 for integers
};

RoundedWords words_of(const DType& dtype) noexcept {
  using Kind = DType::Kind;
  if (dtype.kind() == Kind::datetime64 || dtype.kind() == Kind::timedelta64) return {8, 0};
  const auto format = float_format(part_of_complex(dtype.kind()).value_or(dtype.kind()));
  if (!format) return {is_integer(dtype) ? dtype.size() : 0, 0};
  if (format->bits < 16) return {};
  return {static_cast<std::size_t>(format->bits) / 8, format->fraction};
}

/// `word` without its lowest `dropped` bits; if rounding up would overflow the word, it stays at the maximum.
template <class Word>
Word rounded(Word word, int dropped) noexcept {
  if (dropped <= 0) return word;
  const auto half = static_cast<Word>((Word{1} << (dropped - 1)) - 1);
  const auto up = static_cast<Word>(half + (word >> dropped & 1));
  const auto sum = static_cast<Word>(word + up);
  const Word all = static_cast<Word>(~Word{0});
  return static_cast<Word>((sum < word ? all : sum) & static_cast<Word>(all << dropped));
}

template <class Word>
void round_integers(int keep, std::span<const std::byte> from, std::byte* to) noexcept {
  for (std::size_t i = 0; i < from.size() / sizeof(Word); ++i) {
    const auto word = load_number<Word>(from.data(), i);
    store_number(to, i, rounded(word, std::bit_width(word) - keep));
  }
}

/// NaNs are unchanged, because some would become infinite if rounded.
template <class Word>
void round_floats(int fraction, int keep, std::span<const std::byte> from, std::byte* to) noexcept {
  constexpr Word magnitude = static_cast<Word>(~Word{0}) >> 1;
  const Word infinity = static_cast<Word>(magnitude >> fraction << fraction);
  for (std::size_t i = 0; i < from.size() / sizeof(Word); ++i) {
    const auto word = load_number<Word>(from.data(), i);
    store_number(to, i, (word & magnitude) > infinity ? word : rounded(word, fraction - keep));
  }
}

class BitroundCodec final : public ArrayCodec {
 public:
  BitroundCodec(RoundedWords words, int keep) noexcept : words_(words), keep_(keep) {}

  Result<ChunkType> encoded_type(const ChunkType& in) const override { return in; }

  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    const auto round = [&]<class Word>(Word) {
      if (words_.fraction == 0) return round_integers<Word>(keep_, from, to.data());
      round_floats<Word>(words_.fraction, keep_, from, to.data());
    };
    switch (words_.size) {
      case 1:
        return round(std::uint8_t{}), Result<void>{};
      case 2:
        return round(std::uint16_t{}), Result<void>{};
      case 4:
        return round(std::uint32_t{}), Result<void>{};
      default:
        return round(std::uint64_t{}), Result<void>{};
    }
  }

  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
    return {};
  }

 private:
  RoundedWords words_;
  int keep_;
};

Result<std::unique_ptr<ArrayCodec>> make_bitround(const CodecSpec& spec, const CodecContext& context, bool registered) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(keep, configuration.integer("keepbits", {registered ? 1 : 0, 64}));
  SHERD_TRY(configuration.done());
  const RoundedWords words = words_of(context.in.dtype);
  if (words.size == 0 || (!registered && words.fraction == 0))
    return invalid_argument(spec.name + ": elements of type " + context.in.dtype.name() + " cannot be rounded");
  return std::unique_ptr<ArrayCodec>(std::make_unique<BitroundCodec>(words, static_cast<int>(keep)));
}

Result<std::unique_ptr<ArrayCodec>> make_registered_bitround(const CodecSpec& spec, const CodecContext& context) {
  return make_bitround(spec, context, true);
}
Result<std::unique_ptr<ArrayCodec>> make_numcodecs_bitround(const CodecSpec& spec, const CodecContext& context) {
  return make_bitround(spec, context, false);
}

Result<Json> short_bitround(std::string_view argument, const DType&) {
  if (argument.empty()) return invalid_argument("the number of bits is missing, such as bitround:8");
  SHERD_TRY(keep, short_integer(argument, {1, 64}, 1));
  return Json(Json::Object{{"keepbits", keep}});
}

}  // namespace

extern constinit const CodecEntry bitround_codec{.name = "bitround",
                                                 .aliases = {"https://codec.zarrs.dev/array_to_bytes/bitround"},
                                                 .array_codec = make_registered_bitround,
                                                 .short_form = short_bitround};
extern constinit const CodecEntry numcodecs_bitround_codec{
    .name = "numcodecs.bitround", .aliases = {}, .array_codec = make_numcodecs_bitround, .short_form = short_bitround};

}  // namespace sherd
