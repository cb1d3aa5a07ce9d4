// How one stored chunk is decoded: the codecs around it and, if the array->bytes codec is sharding_indexed, the inner
// chunks, each with a layout of its own. Nested sharding is recursion.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/scalar.hpp"
#include "codec/chain.hpp"
#include "shard/index.hpp"
#include "shard/second_index.hpp"
#include "shard/uint64.hpp"

namespace sherd {

struct ChunkLayout;

/// Shards whose chunks are found by id; see shard/uint64.hpp.
struct IdSharding {
  Uint64Sharding sharding;
  Shape chunk_shape;
  Shape grid;           ///< chunks of the array per dimension
  bool hashed = false;  ///< shards are not boxes of chunks: each chunk is a separate object whose key is its id
  std::vector<std::size_t> order = {};  ///< the array's dimension for each of the grid's; empty: they are the same
  friend bool operator==(const IdSharding&, const IdSharding&) = default;
};

/// The inside of a shard. Shapes are in the stored order of the chain around it.
struct ShardLayout {
  Shape inner_shape;
  std::variant<IndexFormat, IdIndex> index;
  std::optional<SecondIndex> second = {};  ///< in addition to an IndexFormat at the end of the shard
  std::unique_ptr<ChunkLayout> inner;

  /// The kind of index with slots numbered in C order; nullptr if chunks have ids.
  [[nodiscard]] const IndexFormat* slots() const noexcept { return std::get_if<IndexFormat>(&index); }
  [[nodiscard]] const IdIndex* ids() const noexcept { return std::get_if<IdIndex>(&index); }
  /// The number of inner chunks per dimension of a shard with this stored shape.
  [[nodiscard]] Shape grid(const Shape& stored) const;
  /// The shape of one inner chunk of such a shard.
  [[nodiscard]] Shape inner_shape_at(const Shape& cell, const Shape& stored) const;
  /// If chunks have ids: the ids of all inner chunks of a shard, in C order; `unsupported` above
  /// limits.index_bytes.
  [[nodiscard]] Result<std::vector<std::uint64_t>> all_ids(const Shape& grid, std::uint64_t first_id,
                                                           const Limits& limits) const;
  /// How the index of such a shard is written. References must outlive the coding.
  [[nodiscard]] Result<std::unique_ptr<IndexCoding>> coding(const Shape& grid, std::uint64_t first_id,
                                                            const Limits& limits) const;
  /// If chunks have ids: how those parts of it are written that change with these slots.
  [[nodiscard]] Result<std::unique_ptr<IndexCoding>> part_coding(const Shape& grid, std::uint64_t first_id,
                                                                 std::span<const std::uint64_t> changed,
                                                                 const Limits& limits) const;
  /// The maximum size of an inner chunk's encoding. A shard inside it may also have dead bytes; one that has more of
  /// them than all its chunks could have live ones is read, but neither moved nor changed.
  [[nodiscard]] std::uint64_t max_encoded_size() const;
};

struct ChunkLayout {
  DType dtype;
  Scalar fill;  ///< the value of missing chunks
  CodecChain chain;
  std::unique_ptr<ShardLayout> shard;  ///< if null, the chain's own array->bytes codec makes the elements

  /// Whether codecs around the shard make it readable only as a whole.
  [[nodiscard]] bool opaque_shard() const noexcept {
    return shard && (chain.has_bytes_codecs() || chain.has_array_codecs());
  }
  /// The layout of the innermost chunks, which are the ones that are compressed.
  [[nodiscard]] const ChunkLayout& leaf() const noexcept { return shard ? shard->inner->leaf() : *this; }
  /// The shape of the innermost chunks, in array order, for chunks of this shape.
  [[nodiscard]] Shape leaf_shape(const Shape& shape) const;

  /// The maximum size of any encoding of a chunk with this shape; for layouts without a shard.
  [[nodiscard]] std::uint64_t max_encoded_size(const Shape& shape) const;
  /// Refuses, before they are read, more bytes than any encoding of a chunk of this shape has. For layouts without a
  /// shard, because a shard may contain any number of dead bytes.
  [[nodiscard]] Result<void> check_encoded_size(const Shape& shape, std::uint64_t bytes) const;
  /// Refuses sizes that an object of this layout cannot have, or that are too large to be read at once.
  [[nodiscard]] Result<void> check_object_size(const Shape& shape, std::uint64_t bytes, const Limits& limits) const;

  /// Builds codecs and checks all shapes. `in.shape` is a chunk's shape in array order.
  static Result<ChunkLayout> build(std::span<const CodecSpec> specs, CodecTable table, const ChunkType& in,
                                   const Scalar& fill, const Limits& limits);
  /// Builds the layout of an array whose chunks have ids: `specs` are those of a chunk, `in.shape` is a shard's. Inside
  /// the shard, dimensions are in the order of the ids.
  static Result<ChunkLayout> build(const IdSharding& ids, std::span<const CodecSpec> specs, CodecTable table,
                                   const ChunkType& in, const Scalar& fill, const Limits& limits);
  /// Whether another chunk shape of the same grid (rectilinear edges) is compatible with this layout.
  [[nodiscard]] Result<void> check_shape(const Shape& shape, const Limits& limits) const;
};

}  // namespace sherd
