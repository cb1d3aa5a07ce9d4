// bytes (Zarr v3 core; `endian` before 2023): the elements in C order, each word in the byte order that the
// configuration names. Words are the components of complex numbers, the code points of text, the fields of structs.
// Types whose words are single bytes have no byte order: there `endian` may be missing and is ignored.
#include <algorithm>
#include <cstring>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

/// Bytes at one place of every element that make up words of one size.
struct Words {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::size_t word_size = 1;
};

void list_words(const DType& dtype, std::size_t offset, std::vector<Words>& to) {
  if (dtype.kind() != DType::Kind::structure) {
    to.push_back({offset, dtype.size(), dtype.word_size()});
    return;
  }
  for (const DTypeField& field : dtype.fields()) {
    list_words(field.dtype, offset, to);
    offset += field.dtype.size();
  }
}

std::vector<Words> words_of(const DType& dtype) {
  std::vector<Words> words;
  list_words(dtype, 0, words);
  return words;
}

bool has_byte_order(const DType& dtype) {
  if (dtype.kind() != DType::Kind::structure) return dtype.word_size() > 1;
  const auto fields = dtype.fields();
  return std::any_of(fields.begin(), fields.end(), [](const DTypeField& field) { return has_byte_order(field.dtype); });
}

/// Structs are swapped block by block, each field while the block is in the cache.
void swap_fields(std::span<std::byte> elements, const DType& dtype) {
  const auto words = words_of(dtype);
  for (std::size_t at = 0; at < elements.size(); at += dtype.size())
    for (const Words& field : words)
      if (field.word_size > 1) swap_words(elements.subspan(at + field.offset, field.bytes), field.word_size);
}

class Bytes final : public ArrayBytesCodec {
 public:
  explicit Bytes(std::endian order) noexcept : swaps_(order != std::endian::native) {}

  Result<void> check(const ChunkType& in) const override {
    if (in.dtype.is_variable())
      return invalid_argument("bytes: elements of type " + in.dtype.name() +
                              " have no fixed size; use vlen-utf8 or vlen-bytes");
    return {};
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType& in) const override {
    const auto count = element_count(in.shape);
    return count ? checked_mul(*count, in.dtype.size()) : std::nullopt;
  }
  [[nodiscard]] std::size_t raw_word_size(const DType& dtype) const noexcept override {
    if (!swaps_ || !has_byte_order(dtype)) return 1;
    return dtype.word_size();
  }
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
  /// There and back are the same.
  void convert(const DType& dtype, std::span<const std::byte> from, std::span<std::byte> to) const {
    if (from.empty()) return;
    const std::size_t word = raw_word_size(dtype);
    if (word > 1) return swap_words(from, to, word);
    std::memcpy(to.data(), from.data(), from.size());
    if (word == 0) swap_fields(to, dtype);
  }

  bool swaps_;
};

Result<std::unique_ptr<ArrayBytesCodec>> make(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const DType& dtype = context.in.dtype;
  // Structs that zarr-python wrote as `structured` have no `endian`; their bytes are little-endian.
  const bool required = has_byte_order(dtype) && dtype.kind() != DType::Kind::structure;
  SHERD_TRY(endian, configuration.text("endian", required ? std::nullopt : std::optional<std::string_view>("little")));
  SHERD_TRY(configuration.done());
  if (endian != "little" && endian != "big")
    return configuration_error("endian", "bytes: 'endian' must be \"little\" or \"big\"");
  return std::make_unique<Bytes>(endian == "big" ? std::endian::big : std::endian::little);
}

Result<Json> short_form(std::string_view argument, const DType& dtype) {
  if (!argument.empty() && argument != "little" && argument != "big")
    return invalid_argument("after the colon must stand 'little' or 'big', not '" + std::string(argument) + "'");
  if (!has_byte_order(dtype)) return Json();
  return Json(Json::Object{{"endian", argument.empty() ? std::string_view("little") : argument}});
}

constexpr std::string_view kAliases[] = {"endian"};

}  // namespace

extern constinit const CodecEntry bytes_codec{
    .name = "bytes", .aliases = kAliases, .array_bytes_codec = make, .short_form = short_form};

}  // namespace sherd
