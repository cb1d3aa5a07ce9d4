// numcodecs' quantize filter: floats rounded to the multiple of a power of two that keeps `digits` decimal digits, and
// stored in `astype`. Encoding loses the other digits; decoding only converts the type. The powers are computed with
// the same C library calls as in numcodecs, so the stored bits are the same.
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

constexpr IntegerBounds kDigits{-300, 300};

bool is_float(const DType& dtype) noexcept {
  return dtype == DType::float16 || dtype == DType::float32 || dtype == DType::float64;
}

template <class Visitor>
void visit_float(const DType& dtype, Visitor&& visitor) {
  if (dtype == DType::float16) return visitor(Float16{});
  return dtype == DType::float32 ? visitor(float{}) : visitor(double{});
}

double number(double value) noexcept { return value; }
double number(Float16 value) noexcept { return value.value(); }

double scale_of(std::int64_t digits) noexcept {
  const double exponent = std::log10(std::pow(10.0, -static_cast<double>(digits)));
  const double whole = exponent < 0 ? std::floor(exponent) : std::ceil(exponent);
  return std::exp2(std::ceil(std::log2(std::pow(10.0, -whole))));
}

/// Each step is rounded to T, as in numpy. Numbers that T cannot hold after scaling have no digits to lose.
template <class T>
T quantized(T value, double scale) noexcept {
  const T scaled{static_cast<T>(number(value) * number(static_cast<T>(scale)))};
  if (!std::isfinite(number(scaled))) return value;
  return static_cast<T>(number(static_cast<T>(std::nearbyint(number(scaled)))) / number(static_cast<T>(scale)));
}

class QuantizeCodec final : public ArrayCodec {
 public:
  QuantizeCodec(double scale, DType dtype, DType astype)
      : scale_(scale), dtype_(std::move(dtype)), astype_(std::move(astype)) {}

  Result<ChunkType> encoded_type(const ChunkType& in) const override {
    if (in.dtype != dtype_)
      return configuration_error(
          "dtype", "quantize: elements are of type " + in.dtype.name() + ", not of type " + numpy_name(dtype_));
    return ChunkType{astype_, in.shape};
  }

  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    visit_float(dtype_, [&]<class T>(T) {
      visit_float(astype_, [&]<class A>(A) {
        for (std::size_t i = 0; i < from.size() / sizeof(T); ++i)
          store_number(to.data(), i, static_cast<A>(number(quantized(load_number<T>(from.data(), i), scale_))));
      });
    });
    return {};
  }

  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    visit_float(dtype_, [&]<class T>(T) {
      visit_float(astype_, [&]<class A>(A) {
        for (std::size_t i = 0; i < from.size() / sizeof(A); ++i)
          store_number(to.data(), i, static_cast<T>(number(load_number<A>(from.data(), i))));
      });
    });
    return {};
  }

 private:
  double scale_;
  DType dtype_;
  DType astype_;
};

Result<DType> float_member(Configuration& configuration, std::string_view key, const std::optional<DType>& absent) {
  SHERD_TRY(dtype, numeric_member(configuration, key, absent));
  if (is_float(dtype)) return dtype;
  return configuration_error(key, "quantize: '" + std::string(key) + "' must be a float type, not " + dtype.name());
}

Result<std::unique_ptr<ArrayCodec>> make_quantize(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(digits, configuration.integer("digits", kDigits));
  SHERD_TRY(dtype, float_member(configuration, "dtype",
                                is_float(context.in.dtype) ? std::optional(context.in.dtype) : std::nullopt));
  SHERD_TRY(astype, float_member(configuration, "astype", dtype));
  SHERD_TRY(configuration.done());
  const double scale = scale_of(digits);
  bool fits = true;
  visit_float(dtype, [&]<class T>(T) {
    const double held = number(static_cast<T>(scale));
    fits = std::isfinite(held) && held > 0;
  });
  if (!fits)
    return configuration_error(
        "digits", "quantize: " + dtype.name() + " does not have " + std::to_string(digits) + " decimal digits");
  return std::unique_ptr<ArrayCodec>(std::make_unique<QuantizeCodec>(scale, std::move(dtype), std::move(astype)));
}

Result<Json> short_quantize(std::string_view argument, const DType& dtype) {
  if (argument.empty()) return invalid_argument("the number of decimal digits is missing, such as quantize:3");
  SHERD_TRY(digits, short_integer(argument, kDigits, 0));
  if (!is_float(dtype)) return unsupported("quantize: elements of type " + dtype.name() + " are not floats");
  return Json(Json::Object{{"digits", digits}, {"dtype", numpy_name(dtype)}});
}

Json required_of_quantize(const DType& dtype) {
  return is_float(dtype) ? Json(Json::Object{{"dtype", numpy_name(dtype)}}) : Json();
}

}  // namespace

extern constinit const CodecEntry quantize_codec{.name = "numcodecs.quantize",
                                                 .aliases = {"quantize"},
                                                 .array_codec = make_quantize,
                                                 .short_form = short_quantize,
                                                 .required = required_of_quantize};

}  // namespace sherd
