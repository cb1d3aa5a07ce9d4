// How one stored chunk becomes elements: the codecs around, and, where the array->bytes codec is sharding_indexed,
// the inner chunks, each with a layout of its own. Nested sharding is recursion.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/scalar.hpp"
#include "codec/chain.hpp"
#include "shard/index.hpp"
#include "shard/morton.hpp"
#include "shard/uint64.hpp"

namespace sherd {

struct ChunkLayout;

/// The index of a shard whose chunks have ids. The shard is a box of the grid of all chunks, which ends where the
/// array does, and so do its chunks.
struct IdIndex {
  Uint64Format format;
  CompressedMorton morton;  ///< of the grid of all chunks
};

/// A second index in the same shard: its chunks by id, for readers who do not know the first one. The shard is a box of
/// the volume's chunks, or reaches beyond the volume.
struct SecondIndex {
  IdIndex index;
  Shape shape;                          ///< of the volume
  Shape chunk_shape;                    ///< likewise
  std::vector<std::size_t> dimensions;  ///< which dimension of the shard is the volume's; those of length 1 may lack
  std::uint64_t element_bytes = 0;      ///< where chunks are stored as they are, otherwise 0
  std::uint64_t trailer = 0;            ///< bytes at the end of a chunk that only the first index counts to it

  /// A slot of the first index, and what the second says of the same chunk.
  struct Slot {
    std::uint64_t slot = 0;
    std::uint64_t id = 0;
    std::uint64_t bytes = 0;  ///< where chunks are stored as they are: the part that lies inside the volume
  };
  /// The slots that lie in the volume, by minishard and then by id; `unsupported` beyond limits.index_bytes.
  [[nodiscard]] Result<std::vector<Slot>> slots(const Shape& grid, std::uint64_t first_id, const Limits& limits) const;
  /// The chunk's bytes as the second index has them; `corrupt` where the first has fewer than that takes.
  [[nodiscard]] Result<Extent> extent(const Slot& slot, Extent of_first) const;
  /// What the second index should say where this is the first; nullopt where that has no chunk.
  [[nodiscard]] Result<std::optional<Extent>> expected(const Slot& slot, const ShardIndex& first) const;
  /// For messages.
  [[nodiscard]] static std::string disagreement(const Slot& slot, const std::optional<Extent>& first,
                                                const std::optional<Extent>& second);
};

/// Shards whose chunks are found by id; see shard/uint64.hpp.
struct IdSharding {
  Uint64Sharding sharding;
  Shape chunk_shape;
  Shape grid;           ///< chunks a dimension of the array
  bool hashed = false;  ///< shards are not boxes of chunks: each chunk is an object, whose key is its id
  std::vector<std::size_t> order = {};  ///< the array's dimension of each of the grid's; empty: they are the same
  friend bool operator==(const IdSharding&, const IdSharding&) = default;
};

/// The inside of a shard. Shapes are in the stored order of the chain around it.
struct ShardLayout {
  Shape inner_shape;
  std::variant<IndexFormat, IdIndex> index;
  std::optional<SecondIndex> second = {};  ///< in addition to an IndexFormat at the end of the shard
  std::unique_ptr<ChunkLayout> inner;

  /// The kind of index whose slots are numbered in C order; nullptr if chunks have ids.
  [[nodiscard]] const IndexFormat* slots() const noexcept { return std::get_if<IndexFormat>(&index); }
  [[nodiscard]] const IdIndex* ids() const noexcept { return std::get_if<IdIndex>(&index); }
  /// Inner chunks a dimension for a shard of this stored shape.
  [[nodiscard]] Shape grid(const Shape& stored) const;
  /// The shape of one inner chunk of such a shard.
  [[nodiscard]] Shape inner_shape_at(const Shape& cell, const Shape& stored) const;
  /// If chunks have ids: the ids of all inner chunks of a shard, in C order; `unsupported` beyond
  /// limits.index_bytes.
  [[nodiscard]] Result<std::vector<std::uint64_t>> all_ids(const Shape& grid, std::uint64_t first_id,
                                                           const Limits& limits) const;
  /// How the index of such a shard is written. References must outlive the coding.
  [[nodiscard]] Result<std::unique_ptr<IndexCoding>> coding(const Shape& grid, std::uint64_t first_id,
                                                            const Limits& limits) const;
  /// The maximum size of an inner chunk's encoding. A shard inside it may also have dead bytes; one with
  /// more of them than all its chunks could have live ones is read, but neither moved nor changed.
  [[nodiscard]] std::uint64_t max_encoded_size() const;
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

  /// No encoding of a chunk of this shape is larger; for layouts without a shard.
  [[nodiscard]] std::uint64_t max_encoded_size(const Shape& shape) const;
  /// Refuses, before they are read, more bytes than any encoding of a chunk of this shape takes. For layouts without
  /// a shard: one that is around a shard may hold any number of dead bytes.
  [[nodiscard]] Result<void> check_encoded_size(const Shape& shape, std::uint64_t bytes) const;
  /// Refuses sizes that an object of this layout cannot have, or that are not to be read at once.
  [[nodiscard]] Result<void> check_object_size(const Shape& shape, std::uint64_t bytes, const Limits& limits) const;

  /// Builds codecs and checks all shapes. `in.shape` is a chunk's shape in array order.
  static Result<ChunkLayout> build(std::span<const CodecSpec> specs, CodecTable table, const ChunkType& in,
                                   const Scalar& fill, const Limits& limits);
  /// The same for an array whose chunks have ids: `specs` are those of a chunk, `in.shape` is a shard's. Inside the
  /// shard dimensions are in the order of the ids.
  static Result<ChunkLayout> build(const IdSharding& ids, std::span<const CodecSpec> specs, CodecTable table,
                                   const ChunkType& in, const Scalar& fill, const Limits& limits);
  /// Whether another chunk shape of the same grid (rectilinear edges) can be laid out so.
  [[nodiscard]] Result<void> check_shape(const Shape& shape, const Limits& limits) const;
};

}  // namespace sherd
