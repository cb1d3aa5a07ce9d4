// numcodecs' msgpack2: an array of texts as one MessagePack list, nested by dimension, with numpy's type and the shape
// of the chunk as its last two values. nil and 0, which zarr-python uses for elements that were never written, are read
// as empty texts; other objects (numbers, lists, maps) are refused. On decoding, the encoded bytes are copied once and
// the elements point into the copy.
#include <cstring>
#include <memory>

#include "base/endian.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

Error malformed_msgpack2(const std::string& what) { return corrupt("msgpack2: " + what); }

/// The heads of one kind of value: if the size fits in the head, and before a size of 1, 2 or 4 bytes (0: none).
struct Heads {
  std::uint8_t fix, fix_most, size1, size2, size4;
};
constexpr Heads kText{0xa0, 31, 0xd9, 0xda, 0xdb};
constexpr Heads kBytes{0, 0, 0xc4, 0xc5, 0xc6};
constexpr Heads kList{0x90, 15, 0, 0xdc, 0xdd};
constexpr Heads kNumber{0x00, 127, 0xcc, 0xcd, 0xce};

class Writer {
 public:
  void head(const Heads& heads, std::uint64_t size) {
    if (size <= heads.fix_most) return put(heads.fix | size, 1);
    if (size <= 0xff && heads.size1 != 0) return put(heads.size1, 1), put(size, 1);
    if (size <= 0xffff) return put(heads.size2, 1), put(size, 2);
    put(heads.size4, 1);
    put(size, 4);
  }
  void text(std::string_view text) {
    head(kText, text.size());
    bytes_ += text;
  }
  /// A list to which `more` values will be added.
  void nested(std::span<const std::uint64_t> shape, std::span<const std::byte> elements, std::size_t& next,
              std::uint64_t more = 0) {
    head(kList, shape[0] + more);
    for (std::uint64_t i = 0; i < shape[0]; ++i) {
      if (shape.size() > 1)
        nested(shape.subspan(1), elements, next);
      else
        text(load_number<VarBytes>(elements.data(), next++).view());
    }
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void put(std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  /// The size in a head of this kind, or nullopt (reading nothing) if another kind of value follows.
  Result<std::optional<std::uint64_t>> head(const Heads& heads) {
    if (at_ == bytes_.size()) return malformed_msgpack2("ends too early");
    const auto first = std::to_integer<std::uint8_t>(bytes_[at_]);
    if (heads.fix_most != 0 && first >= heads.fix && first <= heads.fix + heads.fix_most) {
      ++at_;
      return std::optional<std::uint64_t>(first - heads.fix);
    }
    const int bytes = first == 0             ? 0
                      : first == heads.size1 ? 1
                      : first == heads.size2 ? 2
                      : first == heads.size4 ? 4
                                             : 0;
    if (bytes == 0) return std::optional<std::uint64_t>();
    if (bytes_.size() - at_ < static_cast<std::size_t>(bytes) + 1) return malformed_msgpack2("ends too early");
    std::uint64_t size = 0;
    for (int i = 1; i <= bytes; ++i)
      size = size << 8 | std::to_integer<std::uint64_t>(bytes_[at_ + static_cast<std::size_t>(i)]);
    at_ += static_cast<std::size_t>(bytes) + 1;
    return std::optional(size);
  }
  /// An element; empty if it is nil or 0.
  Result<std::string_view> element(std::size_t index) {
    constexpr std::byte kNil{0xc0}, kZero{0x00};
    if (at_ < bytes_.size() && (bytes_[at_] == kNil || bytes_[at_] == kZero)) {
      ++at_;
      return std::string_view();
    }
    return text(index);
  }
  Result<std::string_view> text(std::size_t index) {
    SHERD_TRY(text, head(kText));
    if (!text) {
      SHERD_TRY(bytes, head(kBytes));
      text = bytes;
    }
    if (!text) return unsupported("msgpack2: element " + std::to_string(index) + " is not a string");
    if (*text > bytes_.size() - at_) return malformed_msgpack2("ends too early");
    const std::string_view view(reinterpret_cast<const char*>(bytes_.data()) + at_, *text);
    if (!is_utf8(view)) return malformed_msgpack2("element " + std::to_string(index) + " is not valid UTF-8");
    at_ += *text;
    return view;
  }
  Result<void> list(std::uint64_t size) {
    SHERD_TRY(stated, head(kList));
    if (stated == size) return {};
    return malformed_msgpack2("a list of " + std::to_string(size) + " values was expected");
  }
  Result<void> nested(std::span<const std::uint64_t> shape, std::byte* elements, std::size_t& next,
                      std::uint64_t more = 0) {
    SHERD_TRY(list(shape[0] + more));
    for (std::uint64_t i = 0; i < shape[0]; ++i) {
      if (shape.size() > 1) {
        SHERD_TRY(nested(shape.subspan(1), elements, next));
        continue;
      }
      SHERD_TRY(value, element(next));
      store_number(elements, next++, VarBytes{value.data(), value.size()});
    }
    return {};
  }
  [[nodiscard]] bool at_end() const noexcept { return at_ == bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

class Msgpack2Codec final : public ArrayBytesCodec {
 public:
  Result<void> check(const ChunkType& in) const override {
    if (in.dtype != DType::string)
      return invalid_argument("msgpack2: encodes elements of type string, not " + in.dtype.name());
    if (in.shape.empty())
      return unsupported("msgpack2: arrays without dimensions are not supported; numcodecs cannot encode them either");
    return {};
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    Writer writer;
    std::size_t next = 0;
    for (const std::uint64_t extent : in.shape)
      if (extent > 0xfffffff0) return unsupported("msgpack2: a list has at most 2^32-1 values; choose smaller chunks");
    writer.nested(in.shape, elements, next, 2);
    writer.text("|O");
    writer.head(kList, in.shape.size());
    for (const std::uint64_t extent : in.shape) writer.head(kNumber, extent);
    SHERD_TRY(to.resize(writer.bytes().size()));
    std::memcpy(to.data(), writer.bytes().data(), writer.bytes().size());
    return {};
  }

  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena* arena) const override {
    if (arena == nullptr) return invalid_argument("msgpack2: variable-length elements need an arena that keeps them");
    auto block = std::make_shared<Buffer>();
    SHERD_TRY(block->resize(encoded.size()));
    if (!encoded.empty()) std::memcpy(block->data(), encoded.data(), encoded.size());
    Reader reader(block->span());
    std::size_t next = 0;
    SHERD_TRY(reader.nested(in.shape, elements.data(), next, 2));
    SHERD_TRY(reader.text(next));  // numpy's type
    SHERD_TRY(reader.list(in.shape.size()));
    for (const std::uint64_t extent : in.shape) {
      SHERD_TRY(stated, reader.head(kNumber));
      if (stated != extent) return malformed_msgpack2("the shape is not that of the chunk, " + to_string(in.shape));
    }
    if (!reader.at_end()) return malformed_msgpack2("bytes follow the list");
    arena->keep(std::move(block));
    return {};
  }
};

Result<std::unique_ptr<ArrayBytesCodec>> make_msgpack2(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  for (const std::string_view key : {"raw", "use_single_float", "use_bin_type"})
    SHERD_TRY(configuration.boolean(key, false));
  SHERD_TRY(configuration.done());
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<Msgpack2Codec>());
}

}  // namespace

extern constinit const CodecEntry msgpack2_codec{.name = "numcodecs.msgpack2",
                                                 .aliases = {"msgpack2"},
                                                 .array_bytes_codec = make_msgpack2,
                                                 .short_form = short_without_members,
                                                 .stores_rows = true};

}  // namespace sherd
