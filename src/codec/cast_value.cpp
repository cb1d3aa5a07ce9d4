// Knows cast_value (zarr-extensions): numbers stored as the nearest number of another type, in the rounding and with
// the treatment of numbers out of range that the configuration names; both ways alike.
// Every number passes through an exact form, sign · significand · 2^exponent, so that each pair of types is rounded
// once. What has no value in the other type (NaN and infinities in integers, numbers out of range where nothing is
// said of them) is an error, unless `scalar_map` says what it becomes.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

#include "base/scalar.hpp"
#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

enum class Rounding : std::uint8_t { nearest_even, nearest_away, towards_zero, towards_positive, towards_negative };
enum class OutOfRange : std::uint8_t { error, clamp, wrap };

struct Rules {
  Rounding rounding = Rounding::nearest_even;
  OutOfRange out_of_range = OutOfRange::error;
};

/// One number, exactly. Numbers of one type are equal where all members are; zeros differ in `negative` only.
struct Real {
  enum class Kind : std::uint8_t { finite, infinite, nan } kind = Kind::finite;
  bool negative = false;
  int exponent = 0;
  std::uint64_t significand = 0;

  [[nodiscard]] auto key() const noexcept {
    const bool sign = negative && (kind == Kind::infinite || significand != 0);
    return std::tuple(kind, sign, exponent, significand);
  }
};

/// How a float type is made of bits.
template <class T>
struct FloatBits {
  using Word = std::uint16_t;
  static constexpr int fraction = T::fraction;
  static constexpr int bias = T::bias;
  static Word word(T value) noexcept { return value.bits; }
};
template <>
struct FloatBits<float> {
  using Word = std::uint32_t;
  static constexpr int fraction = 23;
  static constexpr int bias = 127;
  static Word word(float value) noexcept { return std::bit_cast<Word>(value); }
};
template <>
struct FloatBits<double> {
  using Word = std::uint64_t;
  static constexpr int fraction = 52;
  static constexpr int bias = 1023;
  static Word word(double value) noexcept { return std::bit_cast<Word>(value); }
};

template <class T>
Real load_real(const std::byte* from, std::size_t index) noexcept {
  const T value = load_number<T>(from, index);
  if constexpr (std::is_integral_v<T>) {
    const auto bits = static_cast<std::uint64_t>(value);
    return {.negative = value < 0, .significand = value < 0 ? 0 - bits : bits};
  } else {
    using Bits = FloatBits<T>;
    constexpr std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(T) - 1);
    const std::uint64_t word = Bits::word(value);
    const std::uint64_t rest = word & ((std::uint64_t{1} << Bits::fraction) - 1);
    const auto exponent = static_cast<int>((word & (sign - 1)) >> Bits::fraction);
    const bool negative = (word & sign) != 0;
    if (exponent == 2 * Bits::bias + 1) {
      if (rest != 0) return {.kind = Real::Kind::nan};
      return {.kind = Real::Kind::infinite, .negative = negative};
    }
    const std::uint64_t leading = exponent != 0 ? std::uint64_t{1} << Bits::fraction : 0;
    return {.negative = negative,
            .exponent = std::max(exponent, 1) - Bits::bias - Bits::fraction,
            .significand = leading | rest};
  }
}

/// significand / 2^shift, rounded; shift > 0.
std::uint64_t shifted_right(const Real& real, int shift, Rounding rounding) noexcept {
  const std::uint64_t whole = shift < 64 ? real.significand >> shift : 0;
  const std::uint64_t rest = shift < 64 ? real.significand - (whole << shift) : real.significand;
  if (rest == 0) return whole;
  const std::uint64_t half = shift <= 64 ? std::uint64_t{1} << (shift - 1) : 0;
  const bool above = shift <= 64 && rest > half;
  const bool tie = shift <= 64 && rest == half;
  bool up = false;
  switch (rounding) {
    case Rounding::nearest_even:
      up = above || (tie && whole % 2 == 1);
      break;
    case Rounding::nearest_away:
      up = above || tie;
      break;
    case Rounding::towards_zero:
      break;
    case Rounding::towards_positive:
      up = !real.negative;
      break;
    case Rounding::towards_negative:
      up = real.negative;
      break;
  }
  return whole + (up ? 1 : 0);
}

template <class T>
bool store_integer(const Real& real, Rules rules, std::byte* to, std::size_t index) noexcept {
  if (real.kind != Real::Kind::finite) return false;
  const int shift = real.exponent;
  std::uint64_t magnitude = real.significand;
  if (shift < 0) magnitude = shifted_right(real, -shift, rules.rounding);
  if (shift > 0) magnitude = shift < 64 ? magnitude << shift : 0;
  const bool lost = shift > 0 && (shift >= 64 || magnitude >> shift != real.significand) && real.significand != 0;
  constexpr std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  constexpr std::uint64_t least = std::is_signed_v<T> ? most + 1 : 0;
  auto value = static_cast<T>(real.negative ? 0 - magnitude : magnitude);
  if (lost || magnitude > (real.negative ? least : most)) {
    if (rules.out_of_range == OutOfRange::error) return false;
    if (rules.out_of_range == OutOfRange::clamp)
      value = real.negative ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
  store_number(to, index, value);
  return true;
}

template <class T>
bool store_float(const Real& real, Rules rules, std::byte* to, std::size_t index) noexcept {
  using Bits = FloatBits<T>;
  using Word = typename Bits::Word;
  constexpr std::uint64_t infinity = std::uint64_t{2 * Bits::bias + 1} << Bits::fraction;
  const std::uint64_t sign = real.negative ? std::uint64_t{1} << (8 * sizeof(T) - 1) : 0;
  const auto store = [&](std::uint64_t word) {
    store_number(to, index, static_cast<Word>(word));
    return true;
  };
  if (real.kind == Real::Kind::nan) return store(infinity | std::uint64_t{1} << (Bits::fraction - 1));
  if (real.kind == Real::Kind::infinite) return store(sign | infinity);
  if (real.significand == 0) return store(sign);
  constexpr int least = 1 - Bits::bias;  // exponent of the smallest normal number
  const int leading = std::bit_width(real.significand) - 1 + real.exponent;
  const int exponent = std::max(leading, least);
  const int shift = exponent - Bits::fraction - real.exponent;
  const std::uint64_t digits = shift > 0 ? shifted_right(real, shift, rules.rounding) : real.significand << -shift;
  // The leading bit of a normal number carries into the exponent, as does one that rounding made.
  const bool fits = leading <= Bits::bias;
  const std::uint64_t word = fits ? (static_cast<std::uint64_t>(exponent - least) << Bits::fraction) + digits : 0;
  if (fits && word < infinity) return store(sign | word);
  return rules.out_of_range == OutOfRange::clamp && store(sign | infinity);
}

using Load = Real (*)(const std::byte*, std::size_t) noexcept;
using Store = bool (*)(const Real&, Rules, std::byte*, std::size_t) noexcept;

Load loader(const DType& dtype) {
  return visit_real(dtype, []<class T>(T) -> Load { return load_real<T>; });
}
Store storer(const DType& dtype) {
  return visit_real(dtype, []<class T>(T) -> Store {
    if constexpr (std::is_integral_v<T>)
      return store_integer<T>;
    else
      return store_float<T>;
  });
}

/// One direction: from elements of one type to the other.
class Cast {
 public:
  using Map = std::vector<std::pair<Real, Real>>;  ///< sorted by key

  Cast(DType source, DType target, Rules rules, Map map)
      : source_(std::move(source)),
        target_(std::move(target)),
        rules_(rules),
        map_(std::move(map)),
        load_(loader(source_)),
        store_(storer(target_)) {}

  [[nodiscard]] Result<void> run(std::span<const std::byte> from, std::span<std::byte> to, ErrorCode code) const {
    const std::size_t count = from.size() / source_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!store_(mapped(load_(from.data(), i)), rules_, to.data(), i))
        return refusal(i, from.subspan(i * source_.size(), source_.size()), code);
    }
    return {};
  }

 private:
  [[nodiscard]] Real mapped(const Real& real) const noexcept {
    if (map_.empty()) return real;
    const auto found = std::lower_bound(map_.begin(), map_.end(), real,
                                        [](const auto& row, const Real& key) { return row.first.key() < key.key(); });
    return found != map_.end() && found->first.key() == real.key() ? found->second : real;
  }

  [[nodiscard]] Error refusal(std::size_t index, std::span<const std::byte> element, ErrorCode code) const {
    const Real real = mapped(load_(element.data(), 0));
    const std::string value = print_scalar(element, source_).dump();
    return {code, "cast_value: element " + std::to_string(index) + ", " + value + ", has no value in " +
                      target_.name() +
                      (real.kind == Real::Kind::finite ? "; its range is exceeded" : "; 'scalar_map' can name one")};
  }

  DType source_;
  DType target_;
  Rules rules_;
  Map map_;
  Load load_;
  Store store_;
};

class CastValueCodec final : public ArrayCodec {
 public:
  CastValueCodec(DType encoded, Cast encode, Cast decode)
      : encoded_(std::move(encoded)), encode_(std::move(encode)), decode_(std::move(decode)) {}

  Result<ChunkType> encoded_type(const ChunkType& in) const override { return ChunkType{encoded_, in.shape}; }
  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return encode_.run(from, to, ErrorCode::invalid_argument);
  }
  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return decode_.run(from, to, ErrorCode::corrupt);
  }
  /// "If the fill value cannot survive a round-trip cast, implementations MUST treat this as an error."
  Result<void> encode_fill(const ChunkType& in, std::span<const std::byte> from,
                           std::span<std::byte> to) const override {
    SHERD_TRY(encode_.run(from, to, ErrorCode::invalid_argument));
    std::vector<std::byte> back(in.dtype.size());
    SHERD_TRY(decode_.run(to, back, ErrorCode::invalid_argument));
    const Load load = loader(in.dtype);
    if (load(from.data(), 0).key() == load(back.data(), 0).key()) return {};
    return invalid_argument("cast_value: comes back from " + encoded_.name() + " as " +
                            print_scalar(back, in.dtype).dump() + "; it must survive");
  }

 private:
  DType encoded_;
  Cast encode_;
  Cast decode_;
};

/// The specification's own example writes "+Infinity" in a scalar_map, which no fill value is.
Result<Real> map_scalar(const Json& json, const DType& dtype) {
  const bool plus = json.is_string() && json.text() == "+Infinity";
  SHERD_TRY(scalar, parse_scalar(plus ? Json("Infinity") : json, dtype));
  return loader(dtype)(scalar.bytes().data(), 0);
}

Result<Cast::Map> parse_map(const Json* list, const DType& source, const DType& target) {
  Cast::Map map;
  if (list == nullptr) return map;
  if (!list->is_array()) return invalid_argument("cast_value: must be a list of pairs");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& row = list->elements()[i];
    const std::string place = "[" + std::to_string(i) + "]";
    if (!row.is_array() || row.size() != 2) return invalid_argument("cast_value: must be a pair").in_member(place);
    SHERD_TRY(key, map_scalar(row.elements()[0], source).in_member("[0]").in_member(place));
    SHERD_TRY(value, map_scalar(row.elements()[1], target).in_member("[1]").in_member(place));
    map.emplace_back(key, value);
  }
  // The first of equal keys counts.
  const auto before = [](const auto& a, const auto& b) { return a.first.key() < b.first.key(); };
  std::stable_sort(map.begin(), map.end(), before);
  const auto same = [](const auto& a, const auto& b) { return a.first.key() == b.first.key(); };
  map.erase(std::unique(map.begin(), map.end(), same), map.end());
  return map;
}

struct Maps {
  Cast::Map encode, decode;
};

Result<Maps> parse_maps(const Json* json, const DType& decoded, const DType& encoded) {
  Maps maps;
  if (json == nullptr) return maps;
  const auto place = [](std::string_view key) { return "configuration.scalar_map." + std::string(key); };
  if (!json->is_object()) return configuration_error("scalar_map", "cast_value: 'scalar_map' must be an object");
  for (const auto& [key, value] : json->members()) {
    if (key != "encode" && key != "decode")
      return unsupported("cast_value: unknown member '" + key + "'").in_member(place(key));
  }
  SHERD_TRY(encode, parse_map(json->find("encode"), decoded, encoded).in_member(place("encode")));
  SHERD_TRY(decode, parse_map(json->find("decode"), encoded, decoded).in_member(place("decode")));
  return Maps{std::move(encode), std::move(decode)};
}

template <class Value, std::size_t Count>
Result<Value> word_member(Configuration& configuration, std::string_view key, Value absent,
                          const std::array<std::pair<std::string_view, Value>, Count>& words) {
  if (configuration.find(key) == nullptr) return absent;
  SHERD_TRY(text, configuration.text(key));
  std::string all;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    all += (all.empty() ? "\"" : ", \"") + std::string(word) + "\"";
  }
  return configuration_error(key, "cast_value: '" + std::string(key) + "' must be one of " + all);
}

constexpr std::array<std::pair<std::string_view, Rounding>, 5> kRoundings{
    {{"nearest-even", Rounding::nearest_even},
     {"towards-zero", Rounding::towards_zero},
     {"towards-positive", Rounding::towards_positive},
     {"towards-negative", Rounding::towards_negative},
     {"nearest-away", Rounding::nearest_away}}};
constexpr std::array<std::pair<std::string_view, OutOfRange>, 2> kOutOfRange{
    {{"clamp", OutOfRange::clamp}, {"wrap", OutOfRange::wrap}}};

Result<std::unique_ptr<ArrayCodec>> make_cast_value(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const DType& decoded = context.in.dtype;
  const Json* named = configuration.find("data_type");
  if (named == nullptr) return configuration_error("data_type", "cast_value: 'data_type' is missing");
  SHERD_TRY(encoded, parse_dtype(*named).in_member("configuration.data_type"));
  for (const DType* dtype : {&decoded, &std::as_const(encoded)}) {
    if (!is_real(*dtype))
      return configuration_error("data_type", "cast_value: only integers and floats are cast, not " + dtype->name());
  }
  SHERD_TRY(rounding, word_member(configuration, "rounding", Rounding::nearest_even, kRoundings));
  SHERD_TRY(out_of_range, word_member(configuration, "out_of_range", OutOfRange::error, kOutOfRange));
  if (out_of_range == OutOfRange::wrap && !is_integer(encoded))
    return configuration_error("out_of_range", "cast_value: only integers wrap, not " + encoded.name());
  SHERD_TRY(maps, parse_maps(configuration.find("scalar_map"), decoded, encoded));
  SHERD_TRY(configuration.done());
  const Rules rules{rounding, out_of_range};
  return std::unique_ptr<ArrayCodec>(
      std::make_unique<CastValueCodec>(encoded, Cast(decoded, encoded, rules, std::move(maps.encode)),
                                       Cast(encoded, decoded, rules, std::move(maps.decode))));
}

Result<Json> short_cast_value(std::string_view argument, const DType&) {
  if (argument.empty()) return invalid_argument("the type to be stored is missing, such as cast_value:uint8");
  return Json(Json::Object{{"data_type", argument}});
}

}  // namespace

extern constinit const CodecEntry cast_value_codec{
    .name = "cast_value", .aliases = {}, .array_codec = make_cast_value, .short_form = short_cast_value};

}  // namespace sherd
