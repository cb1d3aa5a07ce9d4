// Neuroglancer's uint64_sharded_v1: chunks have ids, and the id determines the shard and minishard of a chunk. A shard
// begins with a fixed array of (start, end) pairs, one per minishard: the extent of that minishard's own list of ids
// and extents. Offsets are relative to the end of that array.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/chain.hpp"
#include "shard/index.hpp"
#include "shard/morton.hpp"
#include "sherd/json.hpp"
#include "sherd/options.hpp"

namespace sherd {

/// The parameters in the member `sharding` of an info document.
struct Uint64Sharding {
  enum class Hash : std::uint8_t { identity, murmurhash3_x86_128 };

  unsigned preshift_bits = 0;   ///< 0 … 64
  unsigned minishard_bits = 0;  ///< 0 … 32
  unsigned shard_bits = 0;      ///< 0 … 64 - minishard_bits
  Hash hash = Hash::identity;
  bool gzip_index = false;  ///< minishard_index_encoding
  bool gzip_data = false;   ///< data_encoding

  /// The shard and minishard of an id.
  struct Location {
    std::uint64_t shard = 0;
    std::uint64_t minishard = 0;
    friend auto operator<=>(const Location&, const Location&) = default;
  };
  [[nodiscard]] Location locate(std::uint64_t id) const noexcept;
  /// The shard's number in lowercase hexadecimal digits, without the suffix `.shard`.
  [[nodiscard]] std::string name(std::uint64_t shard) const;
  /// The size of the array at the beginning of a shard.
  [[nodiscard]] std::uint64_t head_bytes() const noexcept { return std::uint64_t{16} << minishard_bits; }

  /// Reads the JSON object; `invalid_argument` or `unsupported` names the member.
  static Result<Uint64Sharding> parse(const Json& json);
  /// Reads parameters from a caller, in which an unknown member is a misspelling and invalid_argument.
  static Result<Uint64Sharding> parse_given(const Json& json);
  [[nodiscard]] Json json() const;
  friend bool operator==(const Uint64Sharding&, const Uint64Sharding&) = default;
};

/// MurmurHash3_x86_128 with seed 0 of the id's eight little-endian bytes: the lower 64 bits.
[[nodiscard]] std::uint64_t murmurhash3(std::uint64_t id) noexcept;

/// The codec that compresses chunks, values and lists; no document records its level. Reading needs no level.
[[nodiscard]] CodecSpec gzip_spec(std::optional<int> level = {});
/// The gzip level for chunks with these codecs.
[[nodiscard]] int gzip_level(const Config& config, std::span<const CodecSpec> codecs);

/// The sharding, with the encodings of its minishard indexes and its data as codecs.
struct Uint64Format {
  Uint64Sharding sharding;
  CodecChain index_codecs;
  CodecChain data_codecs;

  static Result<Uint64Format> build(const Uint64Sharding& sharding, CodecTable table, const Limits& limits,
                                    std::optional<int> gzip_level = {});
};

/// The index of a shard whose chunks have ids. The shard is a box of the grid of all chunks; it and its chunks end
/// where the array does.
struct IdIndex {
  Uint64Format format;
  CompressedMorton morton;  ///< of the grid of all chunks
};

/// The chunks of one minishard: ids in ascending order, each once.
class MinishardIndex {
 public:
  /// From the decoded list. Ids may be in any order; of a repeated id the first entry is used. `head_bytes` and
  /// `object_size` are those of the shard.
  static Result<MinishardIndex> decode(std::span<const std::byte> decoded, std::uint64_t head_bytes,
                                       std::uint64_t object_size);

  struct Chunk {
    std::uint64_t id;
    std::uint64_t offset;  ///< from the beginning of the shard
    std::uint64_t length;
  };
  [[nodiscard]] std::span<const Chunk> chunks() const noexcept { return chunks_; }
  /// Ids with further entries, which were ignored.
  [[nodiscard]] std::span<const std::uint64_t> repeated() const noexcept { return repeated_; }
  /// The listed entry; nullptr if this id is not listed.
  [[nodiscard]] const Chunk* find(std::uint64_t id) const noexcept;
  /// The bytes of a chunk, nullopt if this id is not listed; `corrupt` if they extend beyond the shard.
  [[nodiscard]] Result<std::optional<Extent>> extent(std::uint64_t id) const;
  [[nodiscard]] Result<Extent> extent(const Chunk& chunk) const;
  /// `corrupt`, for the list of this minishard, if a chunk belongs elsewhere, extends beyond the shard, or overlaps the
  /// index: then nothing may be written, because a value would be lost.
  [[nodiscard]] Result<void> check(const Uint64Sharding::Location& minishard, const Uint64Sharding& sharding) const;
  /// The location of the encoded list in the shard; set by its reader.
  [[nodiscard]] Extent stored() const noexcept { return stored_; }
  void set_stored(Extent stored) noexcept { stored_ = stored; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return sizeof *this + chunks_.size() * sizeof(Chunk) + repeated_.size() * sizeof(std::uint64_t);
  }

 private:
  std::vector<Chunk> chunks_;
  std::vector<std::uint64_t> repeated_;
  std::uint64_t object_size_ = 0;
  Extent stored_;
};

/// The index of a shard of ids: the array at its beginning and, after the chunks, the lists of its minishards. Slot i
/// of the ShardIndex is the chunk ids[i].
class Uint64IndexCoding final : public IndexCoding {
 public:
  /// Which entries of the array at the beginning of the shard are encoded: all; those from the first to the last
  /// minishard of the ids, for a part of a new shard; or only each of these minishards, for an amendment.
  enum class Entries : std::uint8_t { all, range, each };
  struct Options {
    /// For each slot, the bytes at the beginning of its extent that the list does not include; empty: none.
    std::span<const std::uint64_t> preceding = {};
    Entries entries = Entries::all;
  };
  /// `ids` belong to one shard and are sorted by minishard and then by id, each once. References must outlive this.
  Uint64IndexCoding(const Uint64Format& format, std::span<const std::uint64_t> ids, const Limits& limits)
      : Uint64IndexCoding(format, ids, limits, {}) {}
  Uint64IndexCoding(const Uint64Format& format, std::span<const std::uint64_t> ids, const Limits& limits,
                    Options options)
      : format_(format), ids_(ids), limits_(limits), options_(options) {}
  [[nodiscard]] std::uint64_t slots() const noexcept override { return ids_.size(); }
  [[nodiscard]] Result<std::uint64_t> head_bytes() const override;
  [[nodiscard]] Result<std::vector<Part>> encode(const ShardIndex& index, std::uint64_t end) const override;

 private:
  /// The list of one minishard, whose ids are slots [first, last); empty if none of them is stored.
  [[nodiscard]] Result<void> encode_minishard(const ShardIndex& index, std::size_t first, std::size_t last,
                                              Buffer& to) const;

  const Uint64Format& format_;
  std::span<const std::uint64_t> ids_;
  const Limits& limits_;
  const Options options_;
};

}  // namespace sherd
