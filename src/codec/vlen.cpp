// vlen-utf8, vlen-bytes and vlen-array (the bytes of arrays): the number of elements, then each element's length and
// bytes; all numbers have 32 bits, little-endian. Texts must be valid UTF-8 in both directions. On decoding, the
// encoded bytes are copied once and the elements point into the copy.
#include <limits>
#include <memory>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "codec/configuration.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

constexpr std::size_t kNumberBytes = 4;
constexpr std::uint64_t kMaxWord = std::numeric_limits<std::uint32_t>::max();

class VlenCodec final : public ArrayBytesCodec {
 public:
  VlenCodec(const DType& dtype, const char* name) : dtype_(dtype), name_(name) {}

  Result<void> check(const ChunkType& in) const override {
    if (in.dtype == dtype_) return {};
    return invalid_argument(message("encodes elements of type " + dtype_.name() + ", not " + in.dtype.name()));
  }
  std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }

  Result<void> encode(const ChunkType&, std::span<const std::byte> elements, Buffer& to) const override {
    const std::size_t count = elements.size() / sizeof(VarBytes);
    SHERD_TRY(total, measured(elements, count));
    SHERD_TRY(to.resize(total));
    std::byte* out = to.data();
    const auto put_word = [&](std::uint64_t word) {
      store_little(out, static_cast<std::uint32_t>(word));
      out += kNumberBytes;
    };
    put_word(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = load_number<VarBytes>(elements.data(), i);
      put_word(value.size);
      if (value.size > 0) std::memcpy(out, value.data, value.size);
      out += value.size;
    }
    return {};
  }

  Result<void> decode(const ChunkType&, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena* arena) const override {
    const std::size_t count = elements.size() / sizeof(VarBytes);
    SHERD_TRY(check_items(encoded, count));
    if (arena == nullptr) return invalid_argument(message("variable-length elements need an arena that keeps them"));
    auto block = std::make_shared<Buffer>();
    SHERD_TRY(block->resize(encoded.size()));
    std::memcpy(block->data(), encoded.data(), encoded.size());
    const std::byte* at = block->data() + kNumberBytes;
    for (std::size_t i = 0; i < count; ++i) {
      const VarBytes value{reinterpret_cast<const char*>(at + kNumberBytes), load_little<std::uint32_t>(at)};
      std::memcpy(elements.data() + i * sizeof value, &value, sizeof value);
      at += kNumberBytes + value.size;
    }
    arena->keep(std::move(block));
    return {};
  }

 private:
  [[nodiscard]] std::string message(std::string text) const { return name_ + (": " + std::move(text)); }
  [[nodiscard]] std::string item(std::size_t i) const { return "item " + std::to_string(i); }

  [[nodiscard]] bool valid(std::string_view value) const noexcept { return dtype_ != DType::string || is_utf8(value); }

  [[nodiscard]] Result<std::size_t> measured(std::span<const std::byte> elements, std::size_t count) const {
    if (count > kMaxWord) return unsupported(message("a chunk holds at most 2^32-1 elements; choose smaller chunks"));
    std::uint64_t total = kNumberBytes * (1 + static_cast<std::uint64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = load_number<VarBytes>(elements.data(), i);
      if (value.size > kMaxWord) return unsupported(message(item(i) + " is longer than 2^32-1 bytes"));
      if (!valid(value.view())) return invalid_argument(message(item(i) + " is not valid UTF-8"));
      total += value.size;
    }
    return static_cast<std::size_t>(total);
  }

  /// Checks all lengths in the bytes before memory is allocated for them.
  [[nodiscard]] Result<void> check_items(std::span<const std::byte> encoded, std::size_t count) const {
    if (encoded.size() < kNumberBytes) return corrupt(message("no element count"));
    const std::uint64_t stated = load_little<std::uint32_t>(encoded.data());
    if (stated != count)
      return corrupt(message("holds " + std::to_string(stated) + " elements, the chunk has " + std::to_string(count)));
    std::size_t at = kNumberBytes;
    for (std::size_t i = 0; i < count; ++i) {
      if (encoded.size() - at < kNumberBytes) return corrupt(message("truncated before " + item(i)));
      const std::uint32_t size = load_little<std::uint32_t>(encoded.data() + at);
      at += kNumberBytes;
      if (encoded.size() - at < size)
        return corrupt(message(item(i) + " states " + std::to_string(size) + " bytes, " +
                               std::to_string(encoded.size() - at) + " are left"));
      if (!valid({reinterpret_cast<const char*>(encoded.data() + at), size}))
        return corrupt(message(item(i) + " is not valid UTF-8"));
      at += size;
    }
    if (at != encoded.size())
      return corrupt(message(std::to_string(encoded.size() - at) + " bytes follow the last item"));
    return {};
  }

  DType dtype_;
  std::string name_;
};

Result<std::unique_ptr<ArrayBytesCodec>> make_vlen(const CodecSpec& spec, const DType& dtype, const char* name) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<VlenCodec>(dtype, name));
}
Result<std::unique_ptr<ArrayBytesCodec>> make_vlen_utf8(const CodecSpec& spec, const CodecContext&) {
  return make_vlen(spec, DType::string, "vlen-utf8");
}
Result<std::unique_ptr<ArrayBytesCodec>> make_vlen_bytes(const CodecSpec& spec, const CodecContext&) {
  return make_vlen(spec, DType::bytes, "vlen-bytes");
}

/// In numcodecs, `dtype` is the type of the inner arrays, whose bytes are the elements here; zarrs also has texts.
Result<std::unique_ptr<ArrayBytesCodec>> make_vlen_array(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  if (configuration.find("dtype") != nullptr) SHERD_TRY(configuration.text("dtype"));
  SHERD_TRY(configuration.done());
  const DType& dtype = context.in.dtype == DType::string ? DType::string : DType::bytes;
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<VlenCodec>(dtype, "vlen-array"));
}

}  // namespace

extern constinit const CodecEntry vlen_utf8_codec{
    .name = "vlen-utf8",
    .aliases = {"numcodecs.vlen-utf8", "https://codec.zarrs.dev/array_to_bytes/vlen_utf8"},
    .array_bytes_codec = make_vlen_utf8,
    .short_form = short_without_members};
// zarrs' vlen_v2 has the same bytes.
extern constinit const CodecEntry vlen_array_codec{
    .name = "vlen-array",
    .aliases = {"numcodecs.vlen-array", "zarrs.vlen_v2", "https://codec.zarrs.dev/array_to_bytes/vlen_array",
                "https://codec.zarrs.dev/array_to_bytes/vlen_v2"},
    .array_bytes_codec = make_vlen_array,
    .short_form = short_without_members};
extern constinit const CodecEntry vlen_bytes_codec{
    .name = "vlen-bytes",
    .aliases = {"numcodecs.vlen-bytes", "https://codec.zarrs.dev/array_to_bytes/vlen_bytes"},
    .array_bytes_codec = make_vlen_bytes,
    .short_form = short_without_members};

}  // namespace sherd
