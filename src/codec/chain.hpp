// A checked sequence of codecs: array->array*, one array->bytes, bytes->bytes*.
// Leading transposes are not executed: they become a permutation that the caller folds into its strides.
// If the array->bytes codec is sharding_indexed, the chain only runs the codecs around it and passes on its
// configuration, which src/shard interprets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/float_format.hpp"
#include "codec/codec.hpp"

namespace sherd {

/// Parses a metadata list of codecs: objects {name, configuration?, must_understand?} or bare strings. Errors of this
/// function and of CodecChain::build name the member below the list ("[0].configuration.level").
Result<std::vector<CodecSpec>> parse_codec_list(const Json& list);
/// The error for a codec that is not in the table. `unsupported` for a codec that other programs support; otherwise the
/// code `unknown`, with the nearest name.
Error no_such_codec(std::string_view name, CodecTable table, ErrorCode unknown);
/// As in metadata: objects, without `configuration` if it is null.
Json codec_list_json(std::span<const CodecSpec> specs);
/// For codecs of new metadata: adds missing members with the values of the short form, also inside shards. `dtype` is
/// the array's. Codecs without a short form (for this type) are unchanged.
void complete_codecs(std::span<CodecSpec> specs, CodecTable table, const DType& dtype);
/// unsupported if chunks cannot be encoded, because one of these codecs, or of the codecs inside them, only decodes.
/// The error names the member below the list.
[[nodiscard]] Result<void> check_encoders(std::span<const CodecSpec> specs, CodecTable table);

/// The maximum by which other writers' encodings of a step may be larger than ours.
inline constexpr std::uint64_t kSlackBytes = std::uint64_t{64} << 10;

class CodecChain {
 public:
  /// Checks order and kinds, and creates the codecs. `in` is the type of a chunk; if chunks differ, that of the first
  /// one, since codecs depend only on its rank and dtype.
  static Result<CodecChain> build(std::span<const CodecSpec> specs, CodecTable table, const ChunkType& in,
                                  const Limits& limits);

  /// The folded permutation: stored dimension i is array dimension permutation()[i]. The identity if there is none.
  [[nodiscard]] const std::vector<std::size_t>& permutation() const noexcept { return permutation_; }
  /// A chunk shape in stored order.
  [[nodiscard]] Shape stored_shape(const Shape& shape) const;
  /// The sharding codec's configuration, if it is the array->bytes codec.
  [[nodiscard]] const std::optional<CodecSpec>& sharding() const noexcept { return sharding_; }
  /// The type that the array->bytes codec gets, for a chunk of this *stored* shape.
  [[nodiscard]] Result<ChunkType> inner_type(const Shape& stored) const;
  /// Names and configurations of this chain that were accepted although no specification has them, for `check`.
  [[nodiscard]] std::span<const std::string> remarks() const noexcept { return remarks_; }
  /// Whether array codecs remain to be executed in addition to the permutation.
  [[nodiscard]] bool has_array_codecs() const noexcept { return !array_codecs_.empty(); }
  [[nodiscard]] bool has_bytes_codecs() const noexcept { return !bytes_codecs_.empty(); }
  /// Whether changed bytes are `corrupt`.
  [[nodiscard]] bool has_checksum() const noexcept;
  /// Not 0 if the encoded bytes are the elements in stored order and the chain has no other codec; then it is the size
  /// of the words to swap (1: none). Such chunks can be read in parts.
  [[nodiscard]] std::size_t raw_word_size() const noexcept;
  /// If raw_word_size() is not 0: whether these stored bytes are elements as in memory, and how to convert them, to a
  /// buffer of equal size or in place. The same converts elements to stored bytes.
  [[nodiscard]] bool is_native(std::span<const std::byte> stored) const noexcept;
  void to_native(std::span<const std::byte> stored, std::span<std::byte> to) const noexcept;
  void to_native(std::span<std::byte> stored) const noexcept;
  /// Set if all chunks of this stored shape encode to the same size.
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const Shape& stored) const;
  /// The maximum size of any writer's encoding of a chunk of this stored shape; for chains without sharding.
  [[nodiscard]] std::uint64_t max_encoded_size(const Shape& stored) const;
  /// Approximate memory of decode() in addition to the encoded bytes and the elements: all intermediate steps.
  [[nodiscard]] std::uint64_t decoding_bytes(const Shape& stored, std::uint64_t encoded) const;

  /// Decodes to elements in stored order, dense, of exactly the chunk's size. For chains without sharding.
  Result<void> decode(const Shape& stored, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena* arena) const;
  /// Like decode, in blocks of whole elements, for chunks that are large compared with `block`; false if this chain
  /// cannot. `sink(offset, bytes)` gets elements beginning at byte `offset` of the chunk. If the sink ends it early,
  /// the rest is not decoded (decodes_prefixes()) or only verified.
  using Sink = std::function<bool(std::uint64_t, std::span<const std::byte>)>;
  Result<bool> decode_blocks(const Shape& stored, std::span<const std::byte> encoded, std::span<std::byte> block,
                             const Sink& sink) const;
  /// Like decode, but only the elements in the `wanted` bytes of the chunk and those that must be decoded with them,
  /// into `to`. Returns the byte of the chunk at which `to` begins; nullopt if the chunk must be decoded as a whole.
  Result<std::optional<std::uint64_t>> decode_part(const Shape& stored, std::span<const std::byte> encoded,
                                                   std::pair<std::uint64_t, std::uint64_t> wanted, Buffer& to) const;
  [[nodiscard]] bool decodes_parts() const noexcept;
  /// Whether decoding only the beginning of a chunk with decode_blocks is worthwhile.
  [[nodiscard]] bool decodes_prefixes() const noexcept;
  /// Encodes elements in stored order, replacing `to`. For chains without sharding.
  Result<void> encode(const Shape& stored, std::span<const std::byte> elements, Buffer& to) const;

  /// Runs only the bytes->bytes codecs, for chains around a shard. `max_decoded` bounds the result for untrusted bytes.
  Result<void> decode_bytes(std::span<const std::byte> encoded, std::uint64_t max_decoded, Buffer& to) const;
  Result<void> encode_bytes(std::span<const std::byte> decoded, Buffer& to) const;
  /// Runs only the array->array codecs that were not folded: between elements in stored order and the input of the
  /// array->bytes codec (inner_type).
  Result<void> decode_arrays(const Shape& stored, std::span<const std::byte> from, std::span<std::byte> to) const;
  Result<void> encode_arrays(const Shape& stored, std::span<const std::byte> from, Buffer& to) const;
  /// Encodes the fill element with the same codecs: the element of missing chunks, for chunks of this stored shape.
  [[nodiscard]] Result<std::vector<std::byte>> encode_fill(const Shape& stored, std::span<const std::byte> fill) const;

 private:
  /// The bound on the decoded output of a bytes->bytes codec.
  struct Bound {
    enum class Kind : std::uint8_t {
      exact,    ///< exactly `size`
      at_most,  ///< no writer's encoding is larger
      limit,    ///< the user's limit
    } kind = Kind::exact;
    std::uint64_t size = 0;
  };
  /// The destination of the innermost bytes->bytes codec; scratch memory if neither is set.
  struct Target {
    std::span<std::byte> elements = {};
    Buffer* buffer = nullptr;
  };

  struct Spare;

  Result<void> add(const CodecSpec& spec, ChunkType& type);
  Result<void> add_array_codec(const CodecSpec& spec, const CodecEntry& entry, ChunkType& type);
  Result<void> add_array_bytes_codec(const CodecSpec& spec, const CodecEntry* entry, const ChunkType& type);
  Result<void> add_bytes_codec(const CodecSpec& spec, const CodecEntry& entry, const ChunkType& type);
  [[nodiscard]] bool has_array_bytes_codec() const noexcept { return array_bytes_codec_ != nullptr || sharding_; }

  /// The bound on the input of the array->bytes codec.
  [[nodiscard]] Bound innermost_bound(const ChunkType& type) const;
  [[nodiscard]] Bound bound_of(std::size_t codec, Bound innermost) const;
  Result<std::size_t> undo_frames(std::span<const std::byte>& encoded) const;
  Result<std::span<const std::byte>> undo(std::span<const std::byte> encoded, Bound innermost, Target target,
                                          Spare& spare) const;
  Result<std::span<const std::byte>> undo_one(std::size_t codec, std::span<const std::byte> from, Bound bound,
                                              Target target) const;
  Result<std::span<const std::byte>> decode_growing(const BytesCodec& codec, std::span<const std::byte> from,
                                                    Bound bound, Buffer& to) const;
  Result<void> decode_words(std::span<const std::byte> encoded, std::span<std::byte> elements) const;
  Result<std::vector<ChunkType>> types(const Shape& stored) const;

  CodecTable table_;
  DType dtype_;
  std::vector<std::size_t> permutation_;
  std::vector<std::shared_ptr<const ArrayCodec>> array_codecs_;
  std::shared_ptr<const ArrayBytesCodec> array_bytes_codec_;
  std::size_t word_size_ = 0;            ///< of the array->bytes codec (raw_word_size) if no array codec is left
  std::optional<NarrowNumbers> narrow_;  ///< the words, if some of their bits are insignificant
  std::optional<CodecSpec> sharding_;
  std::vector<std::shared_ptr<const BytesCodec>> bytes_codecs_;
  std::vector<std::string> bytes_names_;
  std::vector<std::string> remarks_;
  Limits limits_;
};

}  // namespace sherd
