// A checked sequence of codecs: array->array*, one array->bytes, bytes->bytes*.
// Leading transposes are not carried out: they become a permutation that the caller folds into its strides.
// Where the array->bytes codec is sharding_indexed, the chain knows the codecs around it and hands its
// configuration on; src/shard takes it from there.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "codec/codec.hpp"

namespace sherd {

/// Parses a metadata list of codecs: objects {name, configuration?, must_understand?} or bare strings.
Result<std::vector<CodecSpec>> parse_codec_list(const Json& list);
/// As metadata: objects; no `configuration` where it is null.
Json codec_list_json(std::span<const CodecSpec> specs);

class CodecChain {
 public:
  /// Checks order and kinds, makes the codecs. `in` is the type of a chunk; for grids whose chunks differ, that of
  /// the first chunk: codecs depend on its rank and dtype only.
  static Result<CodecChain> build(std::span<const CodecSpec> specs, CodecTable table,
                                  const ChunkType& in, const Limits& limits);

  /// The folded permutation: stored dimension i is array dimension permutation()[i]. Identity where none.
  [[nodiscard]] const std::vector<std::size_t>& permutation() const noexcept { return permutation_; }
  /// A chunk shape in stored order.
  [[nodiscard]] Shape stored_shape(const Shape& shape) const;
  /// The sharding codec's configuration, where that is the array->bytes codec.
  [[nodiscard]] const std::optional<CodecSpec>& sharding() const noexcept { return sharding_; }
  /// The type on which the array->bytes codec works, for a chunk of this *stored* shape.
  [[nodiscard]] Result<ChunkType> inner_type(const Shape& stored) const;
  /// True where something remains to be done around the array->bytes codec besides the permutation.
  [[nodiscard]] bool has_array_codecs() const noexcept { return !array_codecs_.empty(); }
  [[nodiscard]] bool has_bytes_codecs() const noexcept { return !bytes_codecs_.empty(); }
  /// Not 0 where the encoded bytes are the elements in stored order and no other codec stands in the chain;
  /// then the size of the words to swap (1: none). Such chunks can be read in parts.
  [[nodiscard]] std::size_t raw_word_size() const noexcept;
  /// Set where all chunks of this stored shape encode to one size.
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const Shape& stored) const;

  /// encoded bytes -> elements in stored order, dense, of exactly the chunk's size. For chains without sharding.
  Result<void> decode(const Shape& stored, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena* arena) const;
  /// As decode, in blocks of whole elements, for chunks that are large compared with `block`; false where this chain
  /// cannot. `sink(offset, bytes)` gets elements from byte `offset` of the chunk on.
  using Sink = std::function<bool(std::uint64_t, std::span<const std::byte>)>;
  Result<bool> decode_blocks(const Shape& stored, std::span<const std::byte> encoded, std::span<std::byte> block,
                             const Sink& sink) const;
  /// Elements in stored order -> encoded bytes, replacing `to`. For chains without sharding.
  Result<void> encode(const Shape& stored, std::span<const std::byte> elements, Buffer& to) const;

  /// Only the bytes->bytes codecs, for chains around a shard. `max_decoded` bounds what untrusted bytes may become.
  Result<void> decode_bytes(std::span<const std::byte> encoded, std::uint64_t max_decoded, Buffer& to) const;
  Result<void> encode_bytes(std::span<const std::byte> decoded, Buffer& to) const;
  /// Only the array->array codecs that were not folded: between elements in stored order and what the array->bytes
  /// codec takes (inner_type).
  Result<void> decode_arrays(const Shape& stored, std::span<const std::byte> from, std::span<std::byte> to) const;
  Result<void> encode_arrays(const Shape& stored, std::span<const std::byte> from, Buffer& to) const;

 private:
  DType dtype_;
  std::vector<std::size_t> permutation_;
  std::vector<std::shared_ptr<const ArrayCodec>> array_codecs_;
  std::shared_ptr<const ArrayBytesCodec> array_bytes_codec_;
  std::optional<CodecSpec> sharding_;
  std::vector<std::shared_ptr<const BytesCodec>> bytes_codecs_;
  std::vector<std::string> bytes_names_;
  Limits limits_;
};

}  // namespace sherd
