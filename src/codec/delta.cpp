// numcodecs' delta filter: the first element, then the difference of each element to the previous one. Differences are
// computed in `dtype` and stored in `astype`; sums are computed in numpy's common type of both. Integers wrap, so they
// are restored for any differences; floats are restored as far as their rounding allows.
#include <memory>
#include <type_traits>
#include <utility>

#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

template <class T>
constexpr bool is_half = std::is_same_v<T, Float16>;
/// Whether numpy's common type of T and A is a 32-bit float.
template <class T, class A>
constexpr bool is_single =
    sizeof(A) <= 2 ? std::is_same_v<T, float> || is_half<T> : std::is_same_v<T, float> && std::is_same_v<A, float>;

/// The type in which numpy adds an A to a T.
template <class T, class A>
using Sum = std::conditional_t<
    std::is_integral_v<T> && std::is_integral_v<A>,
    std::conditional_t<(std::is_signed_v<T> != std::is_signed_v<A>) &&
                           (std::is_same_v<T, std::uint64_t> || std::is_same_v<A, std::uint64_t>),
                       double, T>,
    std::conditional_t<(is_half<T> && (is_half<A> || sizeof(A) == 1)) || (is_half<A> && sizeof(T) == 1), Float16,
                       std::conditional_t<is_single<T, A> || is_single<A, T>, float, double>>>;

template <class T, class A>
void encode_delta(std::span<const std::byte> from, std::byte* to) noexcept {
  T previous{};
  for (std::size_t i = 0; i < from.size() / sizeof(T); ++i) {
    const T value = load_number<T>(from.data(), i);
    store_number<A>(to, i, convert_number<A>(i == 0 ? value : number_difference(value, previous)));
    previous = value;
  }
}

template <class T, class A>
void decode_delta(std::span<const std::byte> from, std::byte* to) noexcept {
  using S = Sum<T, A>;
  S sum{};
  for (std::size_t i = 0; i < from.size() / sizeof(A); ++i) {
    const S step = convert_number<S>(load_number<A>(from.data(), i));
    sum = i == 0 ? step : number_sum(sum, step);
    store_number<T>(to, i, convert_number<T>(sum));
  }
}

class DeltaCodec final : public ArrayCodec {
 public:
  DeltaCodec(DType dtype, std::optional<DType> astype) : dtype_(std::move(dtype)), astype_(std::move(astype)) {}

  Result<ChunkType> encoded_type(const ChunkType& in) const override {
    if (!viewed_as(in.dtype, dtype_))
      return configuration_error(
          "dtype", "delta: elements of type " + in.dtype.name() + " are not numbers of type " + numpy_name(dtype_));
    return ChunkType{astype_ ? *astype_ : in.dtype, in.shape};
  }

  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    visit_calculable(dtype_, [&]<class T>(T) {
      visit_calculable(stored(), [&]<class A>(A) { encode_delta<T, A>(from, to.data()); });
    });
    return {};
  }

  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    visit_calculable(dtype_, [&]<class T>(T) {
      visit_calculable(stored(), [&]<class A>(A) { decode_delta<T, A>(from, to.data()); });
    });
    return {};
  }

 private:
  [[nodiscard]] const DType& stored() const noexcept { return astype_ ? *astype_ : dtype_; }

  DType dtype_;
  std::optional<DType> astype_;
};

Result<std::unique_ptr<ArrayCodec>> make_delta(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(dtype, calculable_member(configuration, "dtype"));
  SHERD_TRY(astype, astype_member(configuration));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayCodec>(std::make_unique<DeltaCodec>(std::move(dtype), std::move(astype)));
}

Result<Json> short_delta(std::string_view argument, const DType& dtype) {
  SHERD_TRY(no_argument(argument));
  if (!is_calculable(dtype)) return unsupported("delta: elements of type " + dtype.name() + " have no differences");
  return Json(Json::Object{{"dtype", numpy_name(dtype)}});
}

}  // namespace

extern constinit const CodecEntry delta_codec{
    .name = "numcodecs.delta", .aliases = {"delta"}, .array_codec = make_delta, .short_form = short_delta};

}  // namespace sherd
