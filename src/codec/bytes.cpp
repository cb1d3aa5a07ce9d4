// bytes (Zarr v3 core; `endian` before 2023): the elements in C order, each word in the byte order given by the
// configuration. Words are the parts of complex numbers, the code points of text, the fields of structs. Types whose
// words are single bytes have no byte order, and `endian` is optional and ignored. In Zarr v2 the fields of a struct
// may have different orders: `endian` is then a list with an order or a list for each field. Numbers of fewer than
// eight bits have a byte each, whose other bits are ignored on reading.
#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/narrow.hpp"
#include "base/try.hpp"
#include "codec/byte_order.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

/// The bytes at one offset of every element that form words of one kind.
struct FieldWords {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::size_t word_size = 1;  ///< if bytes are to be swapped, otherwise 1
  std::optional<NarrowNumbers> narrow = {};
};

bool swaps(const Json& endian) { return endian.text() != (std::endian::native == std::endian::big ? "big" : "little"); }

void list_words(const DType& dtype, const Json& endian, std::size_t offset, std::vector<FieldWords>& to) {
  if (dtype.kind() != DType::Kind::structure) {
    to.push_back({offset, dtype.size(), swaps(endian) ? dtype.word_size() : 1, narrow_numbers(dtype.kind())});
    return;
  }
  const auto fields = dtype.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    list_words(fields[i].dtype, endian.is_array() ? endian.elements()[i] : endian, offset, to);
    offset += fields[i].dtype.size();
  }
}

bool has_byte_order(const DType& dtype) {
  if (dtype.kind() != DType::Kind::structure) return dtype.word_size() > 1;
  const auto fields = dtype.fields();
  return std::any_of(fields.begin(), fields.end(), [](const DTypeField& field) { return has_byte_order(field.dtype); });
}

/// Whether fields of structs need processing even if stored in native byte order.
bool has_narrow_fields(const DType& dtype) {
  const auto fields = dtype.fields();
  return std::any_of(fields.begin(), fields.end(), [](const DTypeField& field) {
    return narrow_numbers(field.dtype.kind()) || has_narrow_fields(field.dtype);
  });
}

bool has_optional(const DType& dtype) {
  if (dtype.kind() == DType::Kind::optional) return true;
  const auto fields = dtype.fields();
  return std::any_of(fields.begin(), fields.end(), [](const DTypeField& field) { return has_optional(field.dtype); });
}

class PlainBytes final : public ArrayBytesCodec {
 public:
  /// Only for elements of this type.
  PlainBytes(const DType& dtype, const Json& endian) : word_size_(word_size(dtype, endian)) {
    if (word_size_ == 0 && dtype.kind() == DType::Kind::structure) list_words(dtype, endian, 0, fields_);
  }

  Result<void> check(const ChunkType& in) const override {
    if (in.dtype.kind() == DType::Kind::optional)
      return invalid_argument("bytes: optional elements may be missing; use the codec zarrs.optional");
    if (has_optional(in.dtype))
      return unsupported("bytes: structs with fields of type zarrs.optional are not supported");
    if (in.dtype.is_variable())
      return invalid_argument("bytes: elements of type " + in.dtype.name() +
                              " have no fixed size; use vlen-utf8 or vlen-bytes");
    return {};
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType& in) const override {
    const auto count = element_count(in.shape);
    return count ? checked_mul(*count, in.dtype.size()) : std::nullopt;
  }
  [[nodiscard]] std::size_t raw_word_size(const DType&) const noexcept override { return word_size_; }
  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    SHERD_TRY(to.resize(elements.size()));
    convert(in.dtype, elements, to.span());
    return {};
  }
  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena*) const override {
    if (encoded.size() != elements.size())
      return corrupt("the chunk has " + std::to_string(encoded.size()) + " bytes, its elements " +
                     std::to_string(elements.size()));
    convert(in.dtype, encoded, elements);
    return {};
  }

 private:
  /// See raw_word_size().
  static std::size_t word_size(const DType& dtype, const Json& endian) noexcept {
    if (has_narrow_fields(dtype) || endian.is_array()) return 0;
    return swaps(endian) && has_byte_order(dtype) ? dtype.word_size() : 1;
  }
  /// The conversion is its own inverse.
  void convert(const DType& dtype, std::span<const std::byte> from, std::span<std::byte> to) const {
    if (from.empty()) return;
    if (word_size_ > 1) return swap_words(from, to, word_size_);
    if (const auto narrow = narrow_numbers(dtype.kind())) return normalize(*narrow, from, to);
    std::memcpy(to.data(), from.data(), from.size());
    for (std::size_t at = 0; !fields_.empty() && at < to.size(); at += dtype.size())
      convert_fields(to.subspan(at, dtype.size()));
  }
  /// Converts structs one by one, with each field while the struct is in the cache.
  void convert_fields(std::span<std::byte> element) const {
    for (const FieldWords& field : fields_) {
      const auto bytes = element.subspan(field.offset, field.bytes);
      if (field.narrow) normalize(*field.narrow, bytes, bytes);
      if (field.word_size > 1) swap_words(bytes, field.word_size);
    }
  }

  std::size_t word_size_;           ///< see raw_word_size()
  std::vector<FieldWords> fields_;  ///< of structs whose fields are stored differently than in memory
};

Result<std::unique_ptr<ArrayBytesCodec>> make_bytes(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const DType& dtype = context.in.dtype;
  // Structs that zarr-python wrote as `structured` have no `endian`; their bytes are little-endian.
  const bool required = has_byte_order(dtype) && dtype.kind() != DType::Kind::structure;
  if (const Json* orders = configuration.find("endian"); orders != nullptr && orders->is_array()) {
    SHERD_TRY(check_byte_orders(*orders, dtype).in_member("configuration.endian"));
    SHERD_TRY(configuration.done());
    return std::make_unique<PlainBytes>(dtype, *orders);
  }
  SHERD_TRY(endian, configuration.text("endian", required ? std::nullopt : std::optional<std::string_view>("little")));
  SHERD_TRY(configuration.done());
  if (endian != "little" && endian != "big")
    return configuration_error("endian", "bytes: 'endian' must be \"little\" or \"big\"");
  return std::make_unique<PlainBytes>(dtype, Json(endian));
}

Result<Json> short_bytes(std::string_view argument, const DType& dtype) {
  if (!argument.empty() && argument != "little" && argument != "big")
    return invalid_argument("write 'little' or 'big' after the colon, not '" + std::string(argument) + "'");
  if (!has_byte_order(dtype)) return Json();
  return Json(Json::Object{{"endian", argument.empty() ? std::string_view("little") : argument}});
}

}  // namespace

Result<void> check_byte_orders(const Json& orders, const DType& dtype) {
  if (orders.is_null() || orders == Json("little") || orders == Json("big")) return {};
  const auto fields = dtype.fields();
  if (dtype.kind() != DType::Kind::structure || !orders.is_array() || orders.size() != fields.size())
    return invalid_argument("must be \"little\", \"big\", or a list of one for each field of a struct");
  for (std::size_t i = 0; i < fields.size(); ++i)
    SHERD_TRY(check_byte_orders(orders.elements()[i], fields[i].dtype).in_member("[" + std::to_string(i) + "]"));
  return {};
}

extern constinit const CodecEntry bytes_codec{
    .name = "bytes", .aliases = {"endian"}, .array_bytes_codec = make_bytes, .short_form = short_bytes};

}  // namespace sherd
