// numcodecs' astype filter: elements of `decode_dtype` stored as `encode_dtype`, with numpy's conversions, which lose
// what the other type cannot hold: integers wrap, fractions are cut off, everything but zero is true.
#include <memory>
#include <utility>

#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

/// A byte that is zero or non-zero.
struct Boolean {
  std::uint8_t byte = 0;
};

template <class Visitor>
void visit_numeric(const DType& dtype, Visitor&& visitor) {
  if (dtype == DType::bool_) return visitor(Boolean{});
  visit_real(dtype, std::forward<Visitor>(visitor));
}

template <class T>
auto as_number(T value) noexcept {
  if constexpr (std::is_same_v<T, Boolean>)
    return static_cast<std::uint8_t>(value.byte != 0);
  else
    return value;
}

template <class To, class From>
To converted(From from) noexcept {
  if constexpr (std::is_same_v<To, Boolean>)
    return {static_cast<std::uint8_t>(convert_number<double>(as_number(from)) != 0)};
  else
    return convert_number<To>(as_number(from));
}

void convert(const DType& source, std::span<const std::byte> from, const DType& target, std::byte* to) noexcept {
  visit_numeric(source, [&]<class From>(From) {
    visit_numeric(target, [&]<class To>(To) {
      for (std::size_t i = 0; i < from.size() / sizeof(From); ++i)
        store_number(to, i, converted<To>(load_number<From>(from.data(), i)));
    });
  });
}

class AsTypeCodec final : public ArrayCodec {
 public:
  AsTypeCodec(DType decoded, DType encoded) : decoded_(std::move(decoded)), encoded_(std::move(encoded)) {}

  Result<ChunkType> encoded_type(const ChunkType& in) const override {
    if (!viewed_as(in.dtype, decoded_))
      return configuration_error("decode_dtype", "astype: elements of type " + in.dtype.name() +
                                                     " are not numbers of type " + numpy_name(decoded_));
    return ChunkType{encoded_, in.shape};
  }
  Result<void> encode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    convert(decoded_, from, encoded_, to.data());
    return {};
  }
  Result<void> decode(const ChunkType&, std::span<const std::byte> from, std::span<std::byte> to) const override {
    convert(encoded_, from, decoded_, to.data());
    return {};
  }

 private:
  DType decoded_;
  DType encoded_;
};

Result<std::unique_ptr<ArrayCodec>> make_astype(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(encoded, numeric_member(configuration, "encode_dtype"));
  SHERD_TRY(decoded, numeric_member(configuration, "decode_dtype", context.in.dtype));
  SHERD_TRY(configuration.done());
  if (!is_numeric(decoded))
    return invalid_argument("astype: elements of type " + decoded.name() + " are not numbers that numpy converts");
  return std::unique_ptr<ArrayCodec>(std::make_unique<AsTypeCodec>(std::move(decoded), std::move(encoded)));
}

Json required_of_astype(const DType& dtype) {
  return is_numeric(dtype) ? Json(Json::Object{{"decode_dtype", numpy_name(dtype)}}) : Json();
}

}  // namespace

extern constinit const CodecEntry astype_codec{
    .name = "numcodecs.astype", .aliases = {"astype"}, .array_codec = make_astype, .required = required_of_astype};

}  // namespace sherd
