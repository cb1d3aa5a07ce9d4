// What a codec is: one reversible step, of one of the three kinds of Zarr v3.
// A codec knows bytes and element types, never stores or grids. Codecs are immutable and thread-safe; contexts that
// are costly to make are kept per thread inside the codec's own file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// What one chunk is at some step of a chain: dense C order.
struct ChunkType {
  DType dtype;
  Shape shape;
};

/// array -> array
class ArrayCodec {
 public:
  virtual ~ArrayCodec() = default;
  /// For transpose: out dimension i is in dimension permutation()[i]. Empty for all others. The chain folds
  /// leading transposes into strides and calls encode/decode only where it cannot.
  [[nodiscard]] virtual std::span<const std::size_t> permutation() const noexcept { return {}; }
  /// The type after encoding; invalid_argument or unsupported if this codec does not accept `in`.
  [[nodiscard]] virtual Result<ChunkType> encoded_type(const ChunkType& in) const = 0;
  /// `from` and `to` are dense and do not overlap; their sizes follow from the types.
  virtual Result<void> encode(const ChunkType& in, std::span<const std::byte> from, std::span<std::byte> to) const = 0;
  virtual Result<void> decode(const ChunkType& in, std::span<const std::byte> from, std::span<std::byte> to) const = 0;
  /// The element that missing chunks hold after this codec, from the one before it; invalid_argument where there is
  /// none, or where the codec's specification requires that it comes back and it does not.
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
  /// Set where every chunk of this type encodes to the same number of bytes.
  [[nodiscard]] virtual std::optional<std::uint64_t> encoded_size(const ChunkType& in) const = 0;
  /// No writer's encoding of such a chunk is larger; nullopt if unknown.
  [[nodiscard]] virtual std::optional<std::uint64_t> max_encoded_size(const ChunkType& in) const {
    return encoded_size(in);
  }
  /// Where the encoded bytes are the elements themselves, each word of word_size() bytes perhaps turned around:
  /// 0 where they are not, 1 where they are as they are in memory, otherwise the size of the words to be swapped.
  /// Structs whose fields would have to be swapped one by one count as 0.
  [[nodiscard]] virtual std::size_t raw_word_size(const DType& dtype) const noexcept { return (void)dtype, 0; }
  /// Replaces `to` by the encoded bytes.
  virtual Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const = 0;
  /// Fills all elements; encoded bytes too short or too long are `corrupt`. Variable-length elements point into
  /// memory that is given to `arena`.
  virtual Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                              VarBytesArena* arena) const = 0;
};

/// The bytes from `begin` to `end` of a content.
struct BytePart {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size = 0;  ///< of the content
};

/// bytes -> bytes
class BytesCodec {
 public:
  virtual ~BytesCodec() = default;
  /// Set where the encoded size follows from the decoded one (checksums, shuffle).
  [[nodiscard]] virtual std::optional<std::uint64_t> encoded_size(std::uint64_t decoded) const {
    return (void)decoded, std::nullopt;
  }
  /// No encoding of `decoded` bytes by this codec's encode() is larger.
  [[nodiscard]] virtual std::uint64_t max_encoded_size(std::uint64_t decoded) const = 0;
  /// The largest ratio of decoded to encoded bytes that the format allows, for bounds on untrusted input; 0: unbounded.
  [[nodiscard]] virtual std::uint64_t max_ratio() const noexcept { return 0; }
  /// `to` has at least max_encoded_size(from.size()) bytes; returns the number of bytes written.
  virtual Result<std::size_t> encode(std::span<const std::byte> from, std::span<std::byte> to) const = 0;
  /// Decodes into at most to.size() bytes and returns their count. nullopt: the content is longer than `to`
  /// (which then holds anything). Malformed bytes, a wrong checksum, trailing garbage: `corrupt`.
  virtual Result<std::optional<std::size_t>> decode(std::span<const std::byte> from, std::span<std::byte> to) const = 0;
  /// Set by codecs that leave the decoded bytes as they are and surround them (checksums): the bytes they put
  /// before and after. A chain then reads and writes in place; encode() and decode() must agree with that.
  struct Frame {
    std::size_t before = 0, after = 0;
  };
  [[nodiscard]] virtual std::optional<Frame> frame() const noexcept { return std::nullopt; }
  /// For codecs with a frame: `corrupt` where the bytes are fewer than the frame or the checksum differs.
  virtual Result<void> check_frame(std::span<const std::byte> framed) const { return (void)framed, Result<void>{}; }
  /// For codecs with a frame: fills in the bytes before and after.
  virtual void fill_frame(std::span<std::byte> framed) const noexcept { (void)framed; }
  /// Whether decode_part may decode less than everything.
  [[nodiscard]] virtual bool decodes_parts() const noexcept { return false; }
  /// Decodes what holds these bytes of the content into `to`, and returns the byte of the content at which `to` begins.
  /// nullopt: the whole has to be decoded, or costs as much. What is not decoded is not verified.
  virtual Result<std::optional<std::uint64_t>> decode_part(std::span<const std::byte> from, const BytePart& part,
                                                           Buffer& to) const {
    return (void)from, (void)part, (void)to, std::nullopt;
  }
  /// Whether decode_blocks costs as much a byte as decode, and may end early without leaving a checksum unverified that
  /// follows the content: then decoding the beginning of a chunk pays.
  [[nodiscard]] virtual bool decodes_prefixes() const noexcept { return false; }
  /// Streams the decoded bytes through `sink` without holding all of them; false where this codec cannot. Every
  /// block but the last one is `block`, filled. `sink` returns false to end early. Bytes that decode to another number
  /// than `size` are `corrupt`, also where the sink ends early if the codec decodes prefixes.
  using Sink = std::function<bool(std::span<const std::byte>)>;
  virtual Result<bool> decode_blocks(std::span<const std::byte> from, std::span<std::byte> block, std::uint64_t size,
                                     const Sink& sink) const {
    return (void)from, (void)block, (void)size, (void)sink, false;
  }
};

/// A codec as metadata names it.
struct CodecSpec {
  std::string name;
  Json configuration;  ///< an object; null if absent
  friend bool operator==(const CodecSpec&, const CodecSpec&) = default;
};

struct CodecEntry;
/// The table of src/api/registry.cpp, handed down. Each codec's file defines one `extern const CodecEntry`.
using CodecTable = std::span<const CodecEntry* const>;

/// What a codec's maker may look at.
struct CodecContext {
  ChunkType in;  ///< what the codec is given on encoding (for bytes->bytes: of the array before the array->bytes codec)
  const Limits* limits = nullptr;
  /// Where a maker says what it read though no specification has it so; nullptr if not wanted.
  std::vector<std::string>* remarks = nullptr;
  CodecTable table = {};  ///< for codecs that have chains inside
};

/// One row of the codec table. Exactly one maker is set; `aliases` are read, `name` is written.
/// A maker refuses unknown members of the configuration with unsupported, and wrong values with invalid_argument,
/// naming them by Error::in_member("configuration.level").
struct CodecEntry {
  std::string_view name;
  std::span<const std::string_view> aliases;
  Result<std::unique_ptr<ArrayCodec>> (*array_codec)(const CodecSpec&, const CodecContext&) = nullptr;
  Result<std::unique_ptr<ArrayBytesCodec>> (*array_bytes_codec)(const CodecSpec&, const CodecContext&) = nullptr;
  Result<std::unique_ptr<BytesCodec>> (*bytes_codec)(const CodecSpec&, const CodecContext&) = nullptr;
  /// The configuration to write for a short form such as "zstd:3" or "gzip" (argument: text after the colon, or
  /// empty), with everything that some reader requires; an empty object where one requires that there is an object.
  Result<Json> (*short_form)(std::string_view argument, const DType& dtype) = nullptr;
  /// For codecs whose short form needs an argument, or that have none: the members of `short_form` that do not depend
  /// on it, for elements of this type.
  Json (*required)(const DType& dtype) = nullptr;
  /// For the lists of numcodecs, as in Zarr v2: whether it is the compressor if it is the last one, and not a filter.
  bool is_compressor = false;
  /// For array_bytes_codec: whether it stores the rows of nested lists, in whatever order elements are in memory.
  bool stores_rows = false;
};

/// The entry that reads this name (its name or one of its aliases), or nullptr.
[[nodiscard]] const CodecEntry* find_codec(CodecTable table, std::string_view name) noexcept;

}  // namespace sherd
