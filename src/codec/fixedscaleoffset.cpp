// numcodecs' fixedscaleoffset filter: (x - offset) * scale, rounded half to even and stored in `astype`; decoded as
// x / scale + offset in `dtype`.
// The arithmetic is numpy's: floats keep their width. Integers remain integers, and wrap, if the constant is written as
// an integer, and become float64 if it has a fraction; division always gives floats.
#include <bit>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

/// `offset` or `scale`: its text determines whether it is an integer.
struct Constant {
  double value = 0;
  std::optional<std::int64_t> integer;
};

/// std::nearbyint without a call, so that loops can be vectorised. Not for -ffast-math.
template <class T>
T round_half_even(T value) noexcept {
  constexpr T whole = std::is_same_v<T, float> ? T(8388608.0) : T(4503599627370496.0);
  const T magic = std::copysign(whole, value);
  const T rounded = std::copysign((value + magic) - magic, value);
  return std::fabs(value) < whole ? rounded : value;
}

struct Steps {
  Constant offset;
  Constant scale;
};

/// The type of numpy's result for an array of T and a constant.
template <class T, bool IntegerConstant>
using Operand = std::conditional_t<!std::is_integral_v<T> || IntegerConstant, T, double>;

template <class T, bool IntegerConstant>
Operand<T, IntegerConstant> as_operand(const Constant& constant) noexcept {
  if constexpr (std::is_integral_v<T> && IntegerConstant)
    return static_cast<T>(*constant.integer);
  else
    return static_cast<Operand<T, IntegerConstant>>(constant.value);
}

template <class T, class A, bool IntegerOffset, bool IntegerScale>
void encode_elements(const Steps& steps, std::span<const std::byte> from, std::byte* to) noexcept {
  using Shifted = Operand<T, IntegerOffset>;
  using Scaled = Operand<Shifted, IntegerScale>;
  const Shifted offset = as_operand<T, IntegerOffset>(steps.offset);
  const Scaled scale = as_operand<Shifted, IntegerScale>(steps.scale);
  for (std::size_t i = 0; i < from.size() / sizeof(T); ++i) {
    const Shifted shifted = number_difference(static_cast<Shifted>(load_number<T>(from.data(), i)), offset);
    const Scaled scaled = number_product(static_cast<Scaled>(shifted), scale);
    if constexpr (std::is_floating_point_v<Scaled>)
      store_number<A>(to, i, convert_number<A>(round_half_even(scaled)));
    else if constexpr (std::is_same_v<Scaled, Float16>)
      store_number<A>(to, i, convert_number<A>(Float16(round_half_even(scaled.value()))));
    else
      store_number<A>(to, i, convert_number<A>(scaled));
  }
}

template <class T, class A>
void encode_numbers(const Steps& steps, std::span<const std::byte> from, std::byte* to) noexcept {
  if constexpr (!std::is_integral_v<T>) {
    encode_elements<T, A, false, false>(steps, from, to);
  } else if (!steps.offset.integer) {
    encode_elements<T, A, false, false>(steps, from, to);
  } else if (!steps.scale.integer) {
    encode_elements<T, A, true, false>(steps, from, to);
  } else {
    encode_elements<T, A, true, true>(steps, from, to);
  }
}

template <class T, class A>
void decode_numbers(const Steps& steps, std::span<const std::byte> from, std::byte* to) noexcept {
  using Quotient = std::conditional_t<std::is_integral_v<A>, double, A>;
  const auto scale = static_cast<Quotient>(steps.scale.value);
  const auto offset = static_cast<Quotient>(steps.offset.value);
  for (std::size_t i = 0; i < from.size() / sizeof(A); ++i) {
    const auto value = static_cast<Quotient>(load_number<A>(from.data(), i));
    store_number<T>(to, i, convert_number<T>(number_sum(float_quotient(value, scale), offset)));
  }
}

class FixedScaleOffsetCodec final : public ArrayCodec {
 public:
  FixedScaleOffsetCodec(Steps steps, DType dtype, std::optional<DType> astype)
      : steps_(steps), dtype_(std::move(dtype)), astype_(std::move(astype)) {}

  Result<ChunkType> encoded_type(const ChunkType& in) const override {
    if (!viewed_as(in.dtype, dtype_))
      return configuration_error("dtype", "fixedscaleoffset: elements of type " + in.dtype.name() +
                                              " are not numbers of type " + numpy_name(dtype_));
    return ChunkType{astype_ ? *astype_ : in.dtype, in.shape};
  }

  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    visit_calculable(dtype_, [&]<class T>(T) {
      visit_calculable(stored(), [&]<class A>(A) { encode_numbers<T, A>(steps_, from, to.data()); });
    });
    return {};
  }

  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    visit_calculable(dtype_, [&]<class T>(T) {
      visit_calculable(stored(), [&]<class A>(A) { decode_numbers<T, A>(steps_, from, to.data()); });
    });
    return {};
  }

 private:
  [[nodiscard]] const DType& stored() const noexcept { return astype_ ? *astype_ : dtype_; }

  Steps steps_;
  DType dtype_;
  std::optional<DType> astype_;
};

Result<Constant> constant_member(Configuration& configuration, std::string_view key) {
  const Json* value = configuration.find(key);
  const auto number = value != nullptr ? value->as_double() : std::nullopt;
  if (!number || !std::isfinite(*number))
    return configuration_error(key, "fixedscaleoffset: '" + std::string(key) + "' must be a finite number");
  return Constant{*number, value->as_int()};
}

/// numpy refuses an integer constant that the elements' type cannot hold.
Result<void> check_fits(const Constant& constant, const DType& dtype, std::string_view key) {
  const bool fits = visit_calculable(dtype, [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>)
      return !constant.integer || std::in_range<T>(*constant.integer);
    else
      return true;
  });
  if (fits) return {};
  return configuration_error(key, "fixedscaleoffset: '" + std::string(key) + "' does not fit into " +
                                      numpy_name(dtype) + "; write it with a fraction to compute in float64");
}

Result<std::unique_ptr<ArrayCodec>> make_fixedscaleoffset(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(offset, constant_member(configuration, "offset"));
  SHERD_TRY(scale, constant_member(configuration, "scale"));
  if (scale.value == 0) return configuration_error("scale", "fixedscaleoffset: 'scale' must not be 0");
  const auto own = is_calculable(context.in.dtype) ? std::optional(context.in.dtype) : std::nullopt;
  SHERD_TRY(dtype, calculable_member(configuration, "dtype", own));
  SHERD_TRY(astype, astype_member(configuration));
  SHERD_TRY(configuration.done());
  SHERD_TRY(check_fits(offset, dtype, "offset"));
  if (offset.integer) SHERD_TRY(check_fits(scale, dtype, "scale"));
  return std::unique_ptr<ArrayCodec>(
      std::make_unique<FixedScaleOffsetCodec>(Steps{offset, scale}, std::move(dtype), std::move(astype)));
}

Json required_of_fixedscaleoffset(const DType& dtype) {
  return is_calculable(dtype) ? Json(Json::Object{{"dtype", numpy_name(dtype)}}) : Json();
}

}  // namespace

extern constinit const CodecEntry fixedscaleoffset_codec{.name = "numcodecs.fixedscaleoffset",
                                                         .aliases = {"fixedscaleoffset"},
                                                         .array_codec = make_fixedscaleoffset,
                                                         .required = required_of_fixedscaleoffset};

}  // namespace sherd
