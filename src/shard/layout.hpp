// How one stored chunk becomes elements: the codecs around, and, where the array->bytes codec is sharding_indexed,
// the inner chunks, each with a layout of its own. Nested sharding is recursion.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/scalar.hpp"
#include "codec/chain.hpp"
#include "shard/index.hpp"

namespace sherd {

struct ChunkLayout;

/// The inside of a shard. Shapes are in the stored order of the chain around it.
struct ShardLayout {
  Shape inner_shape;
  IndexFormat index;
  std::unique_ptr<ChunkLayout> inner;

  /// Inner chunks a dimension for a shard of this stored shape.
  [[nodiscard]] Shape grid(const Shape& stored) const;
  /// More bytes than these no inner chunk's encoding takes; shards inside it may hold any number of dead bytes.
  [[nodiscard]] std::uint64_t most_encoded() const;
};

struct ChunkLayout {
  DType dtype;
  Scalar fill;  ///< what a missing chunk holds
  CodecChain chain;
  std::optional<ShardLayout> shard;  ///< absent: the chain's own array->bytes codec makes the elements

  /// True where codecs around the shard make it readable only as a whole.
  [[nodiscard]] bool opaque_shard() const noexcept {
    return shard && (chain.has_bytes_codecs() || chain.has_array_codecs());
  }
  /// The layout of the chunks that are compressed: the innermost.
  [[nodiscard]] const ChunkLayout& leaf() const noexcept { return shard ? shard->inner->leaf() : *this; }
  /// The shape of the innermost chunks, in array order, for chunks of this shape.
  [[nodiscard]] Shape leaf_shape(const Shape& shape) const;

  /// No encoding of a chunk of this shape takes more bytes; for layouts without a shard.
  [[nodiscard]] std::uint64_t most_encoded(const Shape& shape) const;
  /// Refuses, before they are read, more bytes than any encoding of a chunk of this shape takes. For layouts without
  /// a shard: one that is around a shard may hold any number of dead bytes.
  [[nodiscard]] Result<void> check_encoded_size(const Shape& shape, std::uint64_t bytes) const;

  /// Builds codecs and checks all shapes. `in.shape` is a chunk's shape in array order.
  static Result<ChunkLayout> build(std::span<const CodecSpec> specs, CodecTable table, const ChunkType& in,
                                   const Scalar& fill, const Limits& limits);
  /// Whether another chunk shape of the same grid (rectilinear edges) can be laid out so.
  [[nodiscard]] Result<void> check_shape(const Shape& shape, const Limits& limits) const;
};

}  // namespace sherd
