// zarrs.vlen: the concatenated bytes of the elements, as a chunk of bytes with its own codecs, and their offsets with
// the end of the last one, as a chunk of integers with others. The encoded length of these integers is stored before or
// after both, 64 bits, little-endian. If all elements are empty, nothing is stored for their bytes, not even the
// encoding of nothing.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "codec/inner_chain.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

constexpr std::string_view kZarrsVlenName = "zarrs.vlen";

class ZarrsVlen final : public ArrayBytesCodec {
 public:
  struct Parts {
    CodecChain index, data;
    std::size_t word = 0;  ///< bytes of an offset
    bool at_end = false;
    std::uint64_t most = 0;  ///< maximum bytes of a chunk
  };
  explicit ZarrsVlen(Parts parts) : parts_(std::move(parts)) {}

  Result<void> check(const ChunkType& in) const override {
    if (in.dtype.is_variable()) return {};
    return invalid_argument("zarrs.vlen encodes elements of type string or bytes, not " + in.dtype.name());
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    const std::size_t count = elements.size() / sizeof(VarBytes);
    SHERD_TRY(size, measured(in, elements));
    Scratch offsets, bytes, index, data;
    SHERD_TRY(offsets->resize((count + 1) * parts_.word));
    SHERD_TRY(bytes->resize(size));
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = load_number<VarBytes>(elements.data(), i);
      put_offset(offsets->data(), i, at);
      if (value.size > 0) std::memcpy(bytes->data() + at, value.data, value.size);
      at += value.size;
    }
    put_offset(offsets->data(), count, at);
    SHERD_TRY(parts_.index.encode({count + 1}, offsets->span(), *index));
    SHERD_TRY(data->resize(0));
    if (size > 0) SHERD_TRY(parts_.data.encode({size}, bytes->span(), *data));
    SHERD_TRY(to.resize(kLengthBytes + index->size() + data->size()));
    std::byte* out = to.data();
    if (!parts_.at_end) {
      store_little(out, std::uint64_t{index->size()});
      out = std::ranges::copy(index->span(), out + kLengthBytes).out;
    }
    out = std::ranges::copy(data->span(), out).out;
    if (!parts_.at_end) return {};
    out = std::ranges::copy(index->span(), out).out;
    store_little(out, std::uint64_t{index->size()});
    return {};
  }

  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena* arena) const override {
    if (arena == nullptr) return invalid_argument("zarrs.vlen: variable-length elements need an arena that keeps them");
    const std::size_t count = elements.size() / sizeof(VarBytes);
    SHERD_TRY(stored, cut(encoded));
    Scratch offsets;
    SHERD_TRY(offsets->resize((count + 1) * parts_.word));
    SHERD_TRY(parts_.index.decode({count + 1}, stored.index, offsets->span(), nullptr).in([] {
      return "zarrs.vlen, index";
    }));
    SHERD_TRY(check_offsets(offsets->data(), count));
    const std::uint64_t size = offset(offsets->data(), count);
    if (size == 0 && !stored.data.empty())
      return corrupt("zarrs.vlen: all elements are empty, and " + std::to_string(stored.data.size()) +
                     " bytes are stored for them");
    auto bytes = std::make_shared<Buffer>();
    SHERD_TRY(bytes->resize(size));
    if (size > 0)
      SHERD_TRY(parts_.data.decode({size}, stored.data, bytes->span(), nullptr).in([] { return "zarrs.vlen, data"; }));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t from = offset(offsets->data(), i);
      const VarBytes value{reinterpret_cast<const char*>(bytes->data()) + from, offset(offsets->data(), i + 1) - from};
      if (!valid(in, value)) return corrupt("zarrs.vlen: item " + std::to_string(i) + " is not valid UTF-8");
      std::memcpy(elements.data() + i * sizeof value, &value, sizeof value);
    }
    arena->keep(std::move(bytes));
    return {};
  }

 private:
  struct Stored {
    std::span<const std::byte> index, data;
  };
  [[nodiscard]] Result<Stored> cut(std::span<const std::byte> encoded) const {
    if (encoded.size() < kLengthBytes)
      return corrupt("zarrs.vlen: a length has 8 bytes, the chunk has " + std::to_string(encoded.size()));
    const std::size_t rest = encoded.size() - kLengthBytes;
    const auto length = load_little<std::uint64_t>(encoded.data() + (parts_.at_end ? rest : 0));
    if (length > rest)
      return corrupt("zarrs.vlen: states an index of " + std::to_string(length) + " bytes, " + std::to_string(rest) +
                     " are stored");
    if (parts_.at_end) return Stored{encoded.subspan(rest - length, length), encoded.first(rest - length)};
    return Stored{encoded.subspan(kLengthBytes, length), encoded.subspan(kLengthBytes + length)};
  }

  [[nodiscard]] static bool valid(const ChunkType& in, const VarBytes& value) noexcept {
    return in.dtype != DType::string || is_utf8(value.view());
  }

  /// The bytes of all elements.
  [[nodiscard]] Result<std::uint64_t> measured(const ChunkType& in, std::span<const std::byte> elements) const {
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < elements.size() / sizeof(VarBytes); ++i) {
      const auto value = load_number<VarBytes>(elements.data(), i);
      if (!valid(in, value)) return invalid_argument("zarrs.vlen: item " + std::to_string(i) + " is not valid UTF-8");
      size += value.size;
    }
    if (parts_.word == sizeof(std::uint32_t) && size > std::numeric_limits<std::uint32_t>::max())
      return unsupported("zarrs.vlen: offsets of 32 bits do not reach " + std::to_string(size) +
                         " bytes; choose smaller chunks or the 'index_data_type' uint64");
    return size;
  }

  void put_offset(std::byte* offsets, std::size_t i, std::uint64_t value) const noexcept {
    if (parts_.word == sizeof value) {
      std::memcpy(offsets + i * sizeof value, &value, sizeof value);
    } else {
      const auto narrow = static_cast<std::uint32_t>(value);
      std::memcpy(offsets + i * sizeof narrow, &narrow, sizeof narrow);
    }
  }
  [[nodiscard]] std::uint64_t offset(const std::byte* offsets, std::size_t i) const noexcept {
    std::uint64_t value = 0;
    std::uint32_t narrow = 0;
    if (parts_.word == sizeof value) {
      std::memcpy(&value, offsets + i * sizeof value, sizeof value);
      return value;
    }
    std::memcpy(&narrow, offsets + i * sizeof narrow, sizeof narrow);
    return narrow;
  }
  [[nodiscard]] Result<void> check_offsets(const std::byte* offsets, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i)
      if (offset(offsets, i + 1) < offset(offsets, i))
        return corrupt("zarrs.vlen: item " + std::to_string(i) + " ends before it begins");
    if (offset(offsets, count) > parts_.most)
      return unsupported("zarrs.vlen: the elements have " + std::to_string(offset(offsets, count)) +
                         " bytes; raise the limit chunk_bytes to read them");
    return {};
  }

  Parts parts_;
};

Result<bool> choice(Configuration& configuration, std::string_view key, std::pair<const char*, const char*> words,
                    std::optional<std::string_view> absent = {}) {
  SHERD_TRY(word, configuration.text(key, absent));
  if (word == words.first || word == words.second) return word == words.second;
  return configuration_error(key, "zarrs.vlen: '" + std::string(key) + "' must be " + words.first + " or " +
                                      words.second + ", not '" + word + "'");
}

Result<std::unique_ptr<ArrayBytesCodec>> make_zarrs_vlen(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(wide, choice(configuration, "index_data_type", {"uint32", "uint64"}));
  // Without a location, the configuration is from zarrs before 0.17.
  SHERD_TRY(at_end, choice(configuration, "index_location", {"start", "end"}, "start"));
  const auto of_type = [&](const DType& dtype) {
    CodecContext inner = context;
    inner.in = {dtype, {1}};
    return inner;
  };
  SHERD_TRY(index,
            inner_chain(kZarrsVlenName, configuration, "index_codecs", of_type(wide ? DType::uint64 : DType::uint32)));
  SHERD_TRY(data, inner_chain(kZarrsVlenName, configuration, "data_codecs", of_type(DType::uint8)));
  SHERD_TRY(configuration.done());
  const Limits limits = context.limits != nullptr ? *context.limits : Limits();
  return std::unique_ptr<ArrayBytesCodec>(
      std::make_unique<ZarrsVlen>(ZarrsVlen::Parts{.index = std::move(index),
                                                   .data = std::move(data),
                                                   .word = wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t),
                                                   .at_end = at_end,
                                                   .most = limits.chunk_bytes}));
}

Json named(const char* name, Json configuration) {
  return Json::Object{{"name", name}, {"configuration", std::move(configuration)}};
}

Result<Json> short_zarrs_vlen(std::string_view argument, const DType&) {
  SHERD_TRY(no_argument(argument));
  return Json(Json::Object{{"data_codecs", Json::Array{Json::Object{{"name", "bytes"}}}},
                           {"index_codecs", Json::Array{named("bytes", Json::Object{{"endian", "little"}})}},
                           {"index_data_type", "uint64"},
                           {"index_location", "end"}});
}

}  // namespace

extern constinit const CodecEntry vlen_codec{.name = kZarrsVlenName,
                                             .aliases = {"https://codec.zarrs.dev/array_to_bytes/vlen"},
                                             .array_bytes_codec = make_zarrs_vlen,
                                             .short_form = short_zarrs_vlen};

}  // namespace sherd
