// zarrs.optional (proposed to zarr-extensions as `optional`): which elements of a chunk are present, as a chunk of
// booleans with its own codecs, and the values of only those, as a one-dimensional chunk with others. Both are preceded
// by their encoded lengths, 64 bits each, little-endian. If no value is present, nothing is stored for the values, not
// even the encoding of nothing.
#include <algorithm>
#include <cstring>
#include <memory>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/inner_chain.hpp"

namespace sherd {
namespace {

constexpr std::string_view kOptionalName = "zarrs.optional";
constexpr std::size_t kOptionalHeaderBytes = 2 * kLengthBytes;

/// The type of the values that may be missing.
const DType& value_type(const DType& dtype) { return dtype.fields().front().dtype; }

/// Elements as in memory: the value, and a byte that is 1 if it is present. A missing element is all zeros.
class Elements {
 public:
  Elements(std::size_t size, std::size_t count) : size_(size), count_(count) {}
  [[nodiscard]] std::size_t value_size() const noexcept { return size_ - 1; }

  /// Returns how many are present.
  std::size_t split(std::span<const std::byte> elements, std::byte* present, std::byte* values) const noexcept {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::byte* const element = elements.data() + i * size_;
      const bool here = element[value_size()] != std::byte{0};
      present[i] = std::byte{here};
      if (!here) continue;
      std::memcpy(values + found * value_size(), element, value_size());
      ++found;
    }
    return found;
  }
  void join(const std::byte* present, const std::byte* values, std::span<std::byte> elements) const noexcept {
    std::memset(elements.data(), 0, elements.size());
    for (std::size_t i = 0; i < count_; ++i) {
      if (present[i] == std::byte{0}) continue;
      std::byte* const element = elements.data() + i * size_;
      std::memcpy(element, values, value_size());
      element[value_size()] = std::byte{1};
      values += value_size();
    }
  }

 private:
  std::size_t size_, count_;
};

class OptionalCodec final : public ArrayBytesCodec {
 public:
  OptionalCodec(CodecChain present, CodecChain values) : present_(std::move(present)), values_(std::move(values)) {}

  Result<void> check(const ChunkType& in) const override {
    if (in.dtype.kind() == DType::Kind::optional) return {};
    return invalid_argument("zarrs.optional encodes elements of an optional type, not " + in.dtype.name());
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> max_encoded_size(const ChunkType& in) const override {
    const auto count = element_count(in.shape);
    if (!count) return std::nullopt;
    const auto both = checked_add(present_.max_encoded_size(in.shape), values_.max_encoded_size({*count}));
    return both ? checked_add(*both, kOptionalHeaderBytes) : std::nullopt;
  }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    const std::size_t count = elements.size() / in.dtype.size();
    const Elements split(in.dtype.size(), count);
    Scratch present, values, encoded_present, encoded_values;
    SHERD_TRY(present->resize(count));
    SHERD_TRY(values->resize(count * split.value_size()));
    const std::size_t found = split.split(elements, present->data(), values->data());
    SHERD_TRY(present_.encode(in.shape, present->span(), *encoded_present));
    SHERD_TRY(encoded_values->resize(0));
    if (found > 0)
      SHERD_TRY(values_.encode({found}, values->span().first(found * split.value_size()), *encoded_values));
    SHERD_TRY(to.resize(kOptionalHeaderBytes + encoded_present->size() + encoded_values->size()));
    std::byte* out = to.data();
    store_little(out, std::uint64_t{encoded_present->size()});
    store_little(out + kLengthBytes, std::uint64_t{encoded_values->size()});
    out = std::ranges::copy(encoded_present->span(), out + kOptionalHeaderBytes).out;
    std::ranges::copy(encoded_values->span(), out);
    return {};
  }

  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena*) const override {
    SHERD_TRY(lengths, check_lengths(encoded));
    const std::size_t count = elements.size() / in.dtype.size();
    const Elements joined(in.dtype.size(), count);
    Scratch present, values;
    SHERD_TRY(present->resize(count));
    SHERD_TRY(
        present_.decode(in.shape, encoded.subspan(kOptionalHeaderBytes, lengths.present), present->span(), nullptr)
            .in([] { return "zarrs.optional, which elements are present"; }));
    const auto found = static_cast<std::size_t>(
        std::ranges::count_if(present->span(), [](std::byte each) { return each != std::byte{0}; }));
    SHERD_TRY(values->resize(found * joined.value_size()));
    const auto stored = encoded.subspan(kOptionalHeaderBytes + lengths.present);
    if (found > 0) {
      SHERD_TRY(values_.decode({found}, stored, values->span(), nullptr).in([] { return "zarrs.optional, values"; }));
    } else if (!stored.empty()) {
      return corrupt("zarrs.optional: no element is present, and " + std::to_string(stored.size()) +
                     " bytes of values are stored");
    }
    joined.join(present->data(), values->data(), elements);
    return {};
  }

 private:
  struct Lengths {
    std::size_t present, values;
  };
  static Result<Lengths> check_lengths(std::span<const std::byte> encoded) {
    if (encoded.size() < kOptionalHeaderBytes)
      return corrupt("zarrs.optional: the lengths have 16 bytes, the chunk has " + std::to_string(encoded.size()));
    const auto present = load_little<std::uint64_t>(encoded.data());
    const auto values = load_little<std::uint64_t>(encoded.data() + kLengthBytes);
    const std::uint64_t available = encoded.size() - kOptionalHeaderBytes;
    if (present <= available && values == available - present) return Lengths{present, values};
    return corrupt("zarrs.optional: states " + std::to_string(present) + " and " + std::to_string(values) + " bytes, " +
                   std::to_string(available) + " are stored");
  }

  CodecChain present_, values_;
};

Result<std::unique_ptr<ArrayBytesCodec>> make_zarrs_optional(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const DType& dtype = context.in.dtype;
  if (dtype.kind() != DType::Kind::optional)
    return invalid_argument("zarrs.optional encodes elements of an optional type, not " + dtype.name());
  const auto of_type = [&](ChunkType type) {
    CodecContext inner = context;
    inner.in = std::move(type);
    return inner;
  };
  SHERD_TRY(present,
            inner_chain(kOptionalName, configuration, "mask_codecs", of_type({DType::bool_, context.in.shape})));
  const auto count = element_count(context.in.shape);
  if (!count) return unsupported("a chunk of shape " + to_string(context.in.shape) + " does not fit 64 bits");
  SHERD_TRY(values, inner_chain(kOptionalName, configuration, "data_codecs", of_type({value_type(dtype), {*count}})));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<OptionalCodec>(std::move(present), std::move(values)));
}

Json default_configuration(const DType& dtype) {
  const DType& value = value_type(dtype);
  const bool nested = value.kind() == DType::Kind::optional;
  Json codec =
      Json::Object{{"name", nested ? "zarrs.optional" : "bytes"},
                   {"configuration", nested ? default_configuration(value) : Json::Object{{"endian", "little"}}}};
  return Json::Object{
      {"mask_codecs", Json::Array{Json::Object{{"name", "packbits"}, {"configuration", Json::Object{}}}}},
      {"data_codecs", Json::Array{std::move(codec)}}};
}

Result<Json> short_zarrs_optional(std::string_view argument, const DType& dtype) {
  SHERD_TRY(no_argument(argument));
  if (dtype.kind() != DType::Kind::optional) return Json(Json::Object{});
  return default_configuration(dtype);
}

}  // namespace

extern constinit const CodecEntry optional_codec{
    .name = kOptionalName,
    .aliases = {"optional", "https://codec.zarrs.dev/array_to_bytes/optional"},
    .array_bytes_codec = make_zarrs_optional,
    .short_form = short_zarrs_optional};

}  // namespace sherd
