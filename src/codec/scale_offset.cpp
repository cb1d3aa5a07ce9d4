// Knows scale_offset (zarr-extensions): (x - offset) * scale, and back x / scale + offset, in the arithmetic of the
// elements' own type. A result that the type cannot hold is an error: integers that overflow or do not divide evenly,
// and on encoding floats that overflow; on decoding those are infinite, as zarr-python has them.
#include <cmath>
#include <memory>
#include <utility>

#include "base/scalar.hpp"
#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

/// Each operation of integers; nullopt where T does not hold its result.
template <class T>
struct Arithmetic {
  using Value = T;
  static Value load(const std::byte* from, std::size_t i) noexcept { return load_number<T>(from, i); }
  static void store(std::byte* to, std::size_t i, Value value) noexcept { store_number(to, i, value); }
  static bool is_zero(Value value) noexcept { return value == 0; }

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

/// Floats: every operation is rounded to T. The small ones are calculated in double, which is wide enough for that to
/// be the same as rounding the exact result.
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
  static bool is_zero(Value value) noexcept { return value == 0; }

  static std::optional<Value> encode(Value x, Value offset, Value scale) noexcept {
    const Value result = rounded(rounded(x - offset) * scale);
    if (!std::isfinite(result) && std::isfinite(x)) return std::nullopt;
    return result;
  }
  static std::optional<Value> decode(Value x, Value offset, Value scale) noexcept {
    return rounded(rounded(x / scale) + offset);
  }
};
template <>
struct Arithmetic<float> : FloatArithmetic<float> {};
template <>
struct Arithmetic<double> : FloatArithmetic<double> {};
template <int Fraction>
struct Arithmetic<SmallFloat<Fraction>> : FloatArithmetic<SmallFloat<Fraction>> {};

enum class Direction : std::uint8_t { encode, decode };

class ScaleOffsetCodec final : public ArrayCodec {
 public:
  ScaleOffsetCodec(DType dtype, Scalar offset, Scalar scale)
      : dtype_(std::move(dtype)), offset_(std::move(offset)), scale_(std::move(scale)) {}

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
    return visit_real(dtype_, [&]<class T>(T) -> Result<void> {
      using A = Arithmetic<T>;
      const auto offset = A::load(offset_.bytes().data(), 0);
      const auto scale = A::load(scale_.bytes().data(), 0);
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
  Scalar offset_;
  Scalar scale_;
};

Result<Scalar> scalar_member(Configuration& configuration, std::string_view key, const DType& dtype, int absent) {
  const Json* json = configuration.find(key);
  SHERD_TRY(scalar,
            parse_scalar(json != nullptr ? *json : Json(absent), dtype).in_member("configuration." + std::string(key)));
  const bool finite = visit_real(dtype, [&]<class T>(T) {
    return std::isfinite(static_cast<double>(Arithmetic<T>::load(scalar.bytes().data(), 0)));
  });
  if (finite) return scalar;
  return configuration_error(key, "scale_offset: '" + std::string(key) + "' must be finite");
}

Result<std::unique_ptr<ArrayCodec>> make_scale_offset(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const DType& dtype = context.in.dtype;
  if (!is_real(dtype))
    return invalid_argument("scale_offset: elements of type " + dtype.name() + " are not integers or floats");
  SHERD_TRY(offset, scalar_member(configuration, "offset", dtype, 0));
  SHERD_TRY(scale, scalar_member(configuration, "scale", dtype, 1));
  SHERD_TRY(configuration.done());
  const bool zero = visit_real(
      dtype, [&]<class T>(T) { return Arithmetic<T>::is_zero(Arithmetic<T>::load(scale.bytes().data(), 0)); });
  if (zero) return configuration_error("scale", "scale_offset: 'scale' must not be 0");
  return std::unique_ptr<ArrayCodec>(std::make_unique<ScaleOffsetCodec>(dtype, std::move(offset), std::move(scale)));
}

}  // namespace

extern constinit const CodecEntry scale_offset_codec{
    .name = "scale_offset", .aliases = {}, .array_codec = make_scale_offset};

}  // namespace sherd
