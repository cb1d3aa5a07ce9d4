// scale_offset (zarr-extensions): (x - offset) * scale, decoded as x / scale + offset, in the arithmetic of the
// elements' own type. As the specification requires, a result that the type cannot hold is an error: integers that
// overflow or do not divide evenly, floats that overflow, and zero and negative numbers in types that lack them.
// zarr-python returns infinity if a float overflows on decoding.
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/real.hpp"
#include "base/scalar.hpp"
#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

/// Each operation on integers; nullopt if T cannot hold its result.
template <class T>
struct Arithmetic {
  using Value = T;
  static Value load(const std::byte* from, std::size_t i) noexcept { return load_number<T>(from, i); }
  static void store(std::byte* to, std::size_t i, Value value) noexcept { store_number(to, i, value); }

  static std::optional<Value> encode(Value x, Value offset, Value scale) noexcept {
    T result{};
    if (__builtin_sub_overflow(x, offset, &result) || __builtin_mul_overflow(result, scale, &result))
      return std::nullopt;
    return result;
  }
  static std::optional<Value> decode(Value x, Value offset, Value scale) noexcept {
    T result{};
    if (std::is_signed_v<T> && scale == static_cast<T>(-1)) {
      if (__builtin_sub_overflow(T{0}, x, &result)) return std::nullopt;
    } else {
      if (x % scale != 0) return std::nullopt;
      result = static_cast<T>(x / scale);
    }
    if (__builtin_add_overflow(result, offset, &result)) return std::nullopt;
    return result;
  }
};

/// Floats: every operation is rounded to T. Small floats are calculated in double, which is wide enough that this
/// equals rounding the exact result.
template <class T>
struct FloatArithmetic {
  using Value = std::conditional_t<std::is_same_v<T, float>, float, double>;
  static Value rounded(Value value) noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return value;
    else
      return T(value).value();
  }
  static Value load(const std::byte* from, std::size_t i) noexcept {
    if constexpr (std::is_floating_point_v<T>)
      return load_number<T>(from, i);
    else
      return load_number<T>(from, i).value();
  }
  static void store(std::byte* to, std::size_t i, Value value) noexcept { store_number(to, i, static_cast<T>(value)); }

  static std::optional<Value> encode(Value x, Value offset, Value scale) noexcept {
    return result_of(x, rounded(rounded(x - offset) * scale));
  }
  static std::optional<Value> decode(Value x, Value offset, Value scale) noexcept {
    return result_of(x, rounded(rounded(x / scale) + offset));
  }

 private:
  static std::optional<Value> result_of(Value x, Value result) noexcept {
    if (!std::isfinite(result) && std::isfinite(x)) return std::nullopt;
    return result;
  }
};
template <>
struct Arithmetic<float> : FloatArithmetic<float> {};
template <>
struct Arithmetic<double> : FloatArithmetic<double> {};
template <int Fraction>
struct Arithmetic<SmallFloat<Fraction>> : FloatArithmetic<SmallFloat<Fraction>> {};

enum class Direction : std::uint8_t { encode, decode };

struct Linear {
  std::optional<Scalar> offset;  ///< not every type has a zero as default
  Scalar scale;
};

/// The result for each number of a one-byte type; nullopt if there is none.
using ByteResults = std::array<std::optional<std::uint8_t>, 256>;

double value_of(const Real& real) noexcept {
  if (real.kind == Real::Kind::nan) return std::numeric_limits<double>::quiet_NaN();
  if (real.kind == Real::Kind::infinite)
    return real.negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  const double magnitude = std::ldexp(static_cast<double>(real.significand), real.exponent);
  return real.negative ? -magnitude : magnitude;
}

/// The number of this type that is nearest to `value`; for integers only an exact match.
template <class Number>
std::optional<std::uint8_t> byte_of(double value) noexcept {
  using Double = FloatNumber<*float_format(DType::Kind::float64)>;
  const auto word = word_of(Number{}, Double::load(std::bit_cast<std::uint64_t>(value)), {});
  if (!word || (Number::is_integer && value_of(Number::load(*word)) != value)) return std::nullopt;
  return static_cast<std::uint8_t>(*word);
}

/// Calculates every step in double, which is wide enough that one-byte types are rounded like the exact result.
template <class Number>
ByteResults byte_results(const Linear& linear, Direction direction) {
  using Word = typename Number::Word;
  const auto value = [](std::uint8_t byte) { return value_of(Number::load(static_cast<Word>(byte))); };
  const auto byte_at = [](const Scalar& scalar) { return std::to_integer<std::uint8_t>(scalar.bytes()[0]); };
  const double scale = value(byte_at(linear.scale));
  const auto scaled = [&](std::uint8_t x) {
    return byte_of<Number>(direction == Direction::encode ? value(x) * scale : value(x) / scale);
  };
  const auto moved = [&](std::uint8_t x) -> std::optional<std::uint8_t> {
    if (!linear.offset) return x;
    const double offset = value(byte_at(*linear.offset));
    return byte_of<Number>(direction == Direction::encode ? value(x) - offset : value(x) + offset);
  };
  ByteResults results;
  for (std::size_t x = 0; x < results.size(); ++x) {
    const auto byte = static_cast<std::uint8_t>(x);
    const auto first = direction == Direction::encode ? moved(byte) : scaled(byte);
    if (first) results[x] = direction == Direction::encode ? scaled(*first) : moved(*first);
  }
  return results;
}

/// For types for which neither C++ nor numpy has arithmetic.
std::optional<ByteResults> byte_results_of(const DType& dtype, const Linear& linear, Direction direction) {
  if (is_real(dtype)) return std::nullopt;
  return visit_real_number(
      dtype.kind(),
      [&]<class Number>(Number) -> std::optional<ByteResults> {
        if constexpr (sizeof(typename Number::Word) == 1) return byte_results<Number>(linear, direction);
        return std::nullopt;
      },
      [] { return std::optional<ByteResults>(); });
}

class ScaleOffsetCodec final : public ArrayCodec {
 public:
  ScaleOffsetCodec(DType dtype, Linear linear)
      : dtype_(std::move(dtype)),
        linear_(std::move(linear)),
        encoded_(byte_results_of(dtype_, linear_, Direction::encode)),
        decoded_(byte_results_of(dtype_, linear_, Direction::decode)) {}

  Result<ChunkType> encoded_type(const ChunkType& in) const override { return in; }
  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return run<Direction::encode>(from, to);
  }
  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    return run<Direction::decode>(from, to);
  }

 private:
  template <Direction direction>
  [[nodiscard]] Result<void> run(std::span<const std::byte> from, std::span<std::byte> to) const {
    if (const auto& results = direction == Direction::encode ? encoded_ : decoded_) {
      for (std::size_t i = 0; i < from.size(); ++i) {
        const auto result = (*results)[std::to_integer<std::size_t>(from[i])];
        if (!result) return refusal(i, from.subspan(i, 1), direction);
        to[i] = std::byte{*result};
      }
      return {};
    }
    return visit_real(dtype_, [&]<class T>(T) -> Result<void> {
      using A = Arithmetic<T>;
      const auto offset = linear_.offset ? A::load(linear_.offset->bytes().data(), 0) : typename A::Value{};
      const auto scale = A::load(linear_.scale.bytes().data(), 0);
      for (std::size_t i = 0; i < from.size() / sizeof(T); ++i) {
        const auto x = A::load(from.data(), i);
        const auto result = direction == Direction::encode ? A::encode(x, offset, scale) : A::decode(x, offset, scale);
        if (!result) return refusal(i, from.subspan(i * sizeof(T), sizeof(T)), direction);
        A::store(to.data(), i, *result);
      }
      return {};
    });
  }

  [[nodiscard]] Error refusal(std::size_t index, std::span<const std::byte> element, Direction direction) const {
    const bool encoding = direction == Direction::encode;
    return {encoding ? ErrorCode::invalid_argument : ErrorCode::corrupt,
            "scale_offset: element " + std::to_string(index) + ", " + print_scalar(element, dtype_).dump() + ", " +
                (encoding ? "times" : "divided by") + " the scale is not a value of " + dtype_.name() +
                (encoding ? " after the offset is subtracted" : " or not with the offset")};
  }

  DType dtype_;
  Linear linear_;
  std::optional<ByteResults> encoded_, decoded_;  ///< for types without arithmetic of their own
};

/// nullopt for types that are not real numbers.
std::optional<Real> real_of(const Scalar& scalar, const DType& dtype) {
  return visit_real_number(
      dtype.kind(),
      [&]<class Number>(Number) -> std::optional<Real> { return load_real<Number>(scalar.bytes().data(), 0); },
      [] { return std::optional<Real>(); });
}

Result<Scalar> parse_finite(const Json& json, std::string_view key, const DType& dtype) {
  SHERD_TRY(scalar, parse_scalar(json, dtype).in_member("configuration." + std::string(key)));
  if (real_of(scalar, dtype)->kind == Real::Kind::finite) return scalar;
  return configuration_error(key, "scale_offset: '" + std::string(key) + "' must be finite");
}

Result<std::unique_ptr<ArrayCodec>> make_scale_offset(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const DType& dtype = context.in.dtype;
  if (!real_of(default_scalar(dtype), dtype))
    return invalid_argument("scale_offset: elements of type " + dtype.name() + " are not integers or floats");
  const Json* offset = configuration.find("offset");
  const Json* scale = configuration.find("scale");
  SHERD_TRY(scale_value, parse_finite(scale != nullptr ? *scale : Json(1), "scale", dtype));
  Linear linear{{}, std::move(scale_value)};
  if (offset != nullptr) {
    SHERD_TRY(value, parse_finite(*offset, "offset", dtype));
    linear.offset = std::move(value);
  }
  SHERD_TRY(configuration.done());
  if (real_of(linear.scale, dtype)->significand == 0)
    return configuration_error("scale", "scale_offset: 'scale' must not be 0");
  return std::unique_ptr<ArrayCodec>(std::make_unique<ScaleOffsetCodec>(dtype, std::move(linear)));
}

}  // namespace

extern constinit const CodecEntry scale_offset_codec{
    .name = "scale_offset", .aliases = {}, .array_codec = make_scale_offset};

}  // namespace sherd
