// A codec is one reversible step, of one of the three kinds of Zarr v3.
// A codec knows bytes and element types, but not stores or grids. Codecs are immutable and thread-safe; contexts that
// are costly to create are kept per thread inside the codec's own file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.hpp"
#include "sherd/array.hpp"
#include "sherd/box.hpp"
#include "sherd/dtype.hpp"
#include "sherd/json.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// The type of a chunk at some step of a chain: dense C order.
struct ChunkType {
  DType dtype;
  Shape shape;
};

/// array -> array
class ArrayCodec {
 public:
  virtual ~ArrayCodec() = default;
  /// For transpose: dimension i of the output is dimension permutation()[i] of the input. Empty for all others. The
  /// chain folds leading transposes into strides and calls encode/decode only if it cannot.
  [[nodiscard]] virtual std::span<const std::size_t> permutation() const noexcept { return {}; }
  /// The type after encoding; invalid_argument or unsupported if this codec does not accept `in`.
  [[nodiscard]] virtual Result<ChunkType> encoded_type(const ChunkType& in) const = 0;
  /// `from` and `to` are dense and do not overlap; their sizes follow from the types.
  virtual Result<void> encode(const ChunkType& in, std::span<const std::byte> from, std::span<std::byte> to) const = 0;
  virtual Result<void> decode(const ChunkType& in, std::span<const std::byte> from, std::span<std::byte> to) const = 0;
  /// Converts the element of missing chunks; invalid_argument if it cannot be converted, or if the codec's
  /// specification requires that it survives a round trip and it does not.
  virtual Result<void> encode_fill(const ChunkType& in, std::span<const std::byte> from,
                                   std::span<std::byte> to) const {
    return encode({in.dtype, Shape(in.shape.size(), 1)}, from, to);
  }
};

/// array -> bytes
class ArrayBytesCodec {
 public:
  virtual ~ArrayBytesCodec() = default;
  virtual Result<void> check(const ChunkType& in) const = 0;
  /// Set if every chunk of this type encodes to the same number of bytes.
  [[nodiscard]] virtual std::optional<std::uint64_t> encoded_size(const ChunkType& in) const = 0;
  /// The maximum size of any writer's encoding of such a chunk; nullopt if unknown.
  [[nodiscard]] virtual std::optional<std::uint64_t> max_encoded_size(const ChunkType& in) const {
    return encoded_size(in);
  }
  /// Describes encoded bytes that are the elements themselves, possibly with swapped words: 0 if they are not, 1 if
  /// they are as in memory, otherwise the size of the words to swap. 0 for structs whose fields would have to be
  /// swapped one by one.
  [[nodiscard]] virtual std::size_t raw_word_size(const DType& dtype) const noexcept { return (void)dtype, 0; }
  /// Replaces `to` with the encoded bytes.
  virtual Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const = 0;
  /// Fills all elements; too few or too many encoded bytes are `corrupt`. Variable-length elements point to memory that
  /// is passed to `arena`.
  virtual Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                              VarBytesArena* arena) const = 0;
};

/// The bytes from `begin` to `end` of a content.
struct BytePart {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size = 0;  ///< of the content
};

/// If a library encodes a chunk in one call, a chunk of more bytes is encoded in parts, between which interrupts are
/// noticed.
inline constexpr std::size_t kLongChunk = std::size_t{16} << 20;

/// bytes -> bytes
class BytesCodec {
 public:
  virtual ~BytesCodec() = default;
  /// Set if the encoded size follows from the decoded size (checksums, shuffle).
  [[nodiscard]] virtual std::optional<std::uint64_t> encoded_size(std::uint64_t decoded) const {
    return (void)decoded, std::nullopt;
  }
  /// The maximum size of this encode()'s output for `decoded` bytes.
  [[nodiscard]] virtual std::uint64_t max_encoded_size(std::uint64_t decoded) const = 0;
  /// The maximum ratio of decoded to encoded bytes in this format, to bound untrusted input; 0: unbounded.
  [[nodiscard]] virtual std::uint64_t max_ratio() const noexcept { return 0; }
  /// `to` has at least max_encoded_size(from.size()) bytes; returns the number of bytes written.
  virtual Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const = 0;
  /// Decodes into at most to.size() bytes and returns their number. nullopt: the content is longer than `to`, whose
  /// bytes are then undefined. Malformed bytes, a wrong checksum or trailing garbage are `corrupt`.
  virtual Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const = 0;
  /// Set by codecs that leave the decoded bytes unchanged and surround them (checksums): the number of bytes before and
  /// after. A chain then reads and writes in place; encode() and decode() must be consistent with this.
  struct Frame {
    std::size_t before = 0, after = 0;
  };
  [[nodiscard]] virtual std::optional<Frame> frame() const noexcept { return std::nullopt; }
  /// For codecs with a frame: `corrupt` if there are fewer bytes than the frame or the checksum differs.
  virtual Result<void> check_frame(std::span<const std::byte> framed) const { return (void)framed, Result<void>{}; }
  /// For codecs with a frame: fills in the bytes before and after.
  virtual void fill_frame(std::span<std::byte> framed) const noexcept { (void)framed; }
  /// Whether decode_part may decode less than everything.
  [[nodiscard]] virtual bool decodes_parts() const noexcept { return false; }
  /// Decodes a range that contains these bytes of the content into `to`, and returns the byte of the content at which
  /// `to` begins. nullopt: everything must be decoded, or costs as much. Bytes that are not decoded are not verified.
  virtual Result<std::optional<std::uint64_t>> decode_part(std::span<const std::byte> from, const BytePart& part,
                                                           Buffer& to) const {
    return (void)from, (void)part, (void)to, std::nullopt;
  }
  /// Whether decode_blocks costs as much per byte as decode, and ending it early leaves no checksum after the content
  /// unverified: then decoding only the beginning of a chunk is worthwhile.
  [[nodiscard]] virtual bool decodes_prefixes() const noexcept { return false; }
  /// Streams the decoded bytes through `sink` without holding all of them; false if this codec cannot. Every block but
  /// the last fills `block`. `sink` returns false to end early. A decoded size other than `size` is `corrupt`, even if
  /// the sink ends early when the codec decodes prefixes.
  using Sink = std::function<bool(std::span<const std::byte>)>;
  virtual Result<bool> decode_blocks(std::span<const std::byte> from, std::span<std::byte> block, std::uint64_t size,
                                     const Sink& sink) const {
    return (void)from, (void)block, (void)size, (void)sink, false;
  }
};

/// A codec as named in metadata.
struct CodecSpec {
  std::string name;
  Json configuration;  ///< an object; null if absent
  friend bool operator==(const CodecSpec&, const CodecSpec&) = default;
};

struct CodecEntry;
/// The table of src/api/registry.cpp, passed down. Each codec's file defines one `extern const CodecEntry`.
using CodecTable = std::span<const CodecEntry* const>;

/// The information available to a codec's maker.
struct CodecContext {
  ChunkType in;  ///< the codec's input on encoding (for bytes->bytes: the array before the array->bytes codec)
  const Limits* limits = nullptr;
  /// Makers report here what they accepted although no specification has it; nullptr if not needed.
  std::vector<std::string>* remarks = nullptr;
  CodecTable table = {};  ///< for codecs that contain chains
};

/// Up to four names; more do not compile, because entries are constinit.
class CodecAliases {
 public:
  constexpr CodecAliases(std::initializer_list<std::string_view> names) { std::ranges::copy(names, names_); }
  [[nodiscard]] const std::string_view* begin() const noexcept { return names_; }
  [[nodiscard]] const std::string_view* end() const noexcept { return std::find(names_, std::end(names_), ""); }

 private:
  std::string_view names_[4];
};

/// One row of the codec table. Exactly one maker is set; `name` is written, `aliases` are only read. A maker refuses
/// unknown members of the configuration with unsupported, and wrong values with invalid_argument, naming them by
/// Error::in_member("configuration.level").
struct CodecEntry {
  std::string_view name;
  CodecAliases aliases;
  Result<std::unique_ptr<ArrayCodec>> (*array_codec)(const CodecSpec&, const CodecContext&) = nullptr;
  Result<std::unique_ptr<ArrayBytesCodec>> (*array_bytes_codec)(const CodecSpec&, const CodecContext&) = nullptr;
  Result<std::unique_ptr<BytesCodec>> (*bytes_codec)(const CodecSpec&, const CodecContext&) = nullptr;
  /// The configuration to write for a short form such as "zstd:3" or "gzip" (argument: text after the colon, or empty),
  /// with everything that any reader requires, even if that is only an empty object.
  Result<Json> (*short_form)(std::string_view argument, const DType& dtype) = nullptr;
  /// For codecs without a short form, or whose short form needs an argument: the members of `short_form` that do not
  /// depend on it, for elements of this type.
  Json (*required)(const DType& dtype) = nullptr;
  /// In the lists of numcodecs, as in Zarr v2: whether the codec, when last, is the compressor and not a filter.
  bool is_compressor = false;
  /// Whether its chunks are decoded but never encoded: check_encoders() refuses it.
  bool reads_only = false;
  /// For array_bytes_codec: whether it stores the rows of nested lists, regardless of the memory order of elements.
  bool stores_rows = false;
};

/// The entry with this name or alias, or nullptr.
[[nodiscard]] const CodecEntry* find_codec(CodecTable table, std::string_view name) noexcept;
/// The error of encoding with a codec that only decodes.
[[nodiscard]] Error only_decodes(std::string_view name);

}  // namespace sherd
