// The parts of check(): the walk over a hierarchy, and the inspection of one stored chunk or shard.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "array/array_state.hpp"
#include "base/pool.hpp"
#include "check/findings.hpp"
#include "neuroglancer/collection.hpp"
#include "neuroglancer/storage.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// Checks the node at `location`, whose format recognizes it, and everything below it.
Result<CheckReport> check_nodes(const NodeLocation& location, const CheckOptions& options);
/// Checks the collection of objects at a location, and the segment properties to which it refers. Returns whether there
/// is one, sound or not.
Result<bool> check_collection(const neuroglancer::Collection::State::Location& location, bool data,
                              CheckReport& report);
/// Checks the shards at a location that no document describes. With `data` each value is read, and decoded as far as
/// the sharding allows.
Result<void> check_values(const neuroglancer::Collection::State::Location& location, const Json& sharding, bool data,
                          CheckReport& report);
/// The same for the target of a relative path in a member of the info document in `from`.
struct Reference {
  std::string member, path;
};
Result<void> check_reference(const neuroglancer::Collection::State::Location& from, const Reference& reference,
                             bool data, CheckReport& report);

/// A slot's bytes, relative to their source.
struct FoundChunk {
  Extent extent;
  std::uint64_t slot;
};

struct IdShard;

/// Inspects the stored chunks of one array.
class ObjectCheck {
 public:
  /// References must outlive it.
  ObjectCheck(const Array::State& state, bool data, const Config& config, Budget& budget)
      : state_(state), data_(data), config_(config), budget_(budget) {}

  /// `cell` is unused if chunks are values of a store of ids: the object is then a shard. Returns an error only if the
  /// check cannot continue.
  Result<void> check(const Shape& cell, const std::string& key, Findings& to) const;

 private:
  struct Spot;
  using Found = FoundChunk;
  [[nodiscard]] IdShard id_shard(const neuroglancer::ShardedStore::State& values, const std::string& key) const;
  Result<void> chunks_by_id(const IdShard& shard, const ChunkLayout& layout, const Shape& shape, Findings& to) const;
  Result<void> box_aligned(const Shape& cell, const std::string& key, Findings& to) const;
  Result<void> hashed(const neuroglancer::IdObjects& ids, const std::string& key, Findings& to) const;
  Result<void> chunk(const Spot& spot, Findings& to) const;
  Result<void> opaque(const Spot& spot, Findings& to) const;
  Result<void> shard(const Spot& spot, Findings& to) const;
  Result<void> slots(const Spot& spot, std::vector<Found>& found, Findings& to) const;
  Result<void> leaves(const Spot& spot, std::vector<Found>& found, Findings& to) const;
  Result<void> run(const Spot& spot, std::span<const Found> found, Findings& to) const;
  Result<void> decode(const ChunkLayout& layout, const Shape& shape, std::span<const std::byte> encoded) const;

  const Array::State& state_;
  bool data_;
  const Config& config_;
  Budget& budget_;
};

/// Checks that the shards of a dual-format array are the same objects under both names, and that their two indexes
/// agree about each chunk. Calls merge(findings) for every shard, one after the other.
Result<void> check_dual_format(const Array::State& state, const Config& config,
                               const std::function<void(Findings&)>& merge);

/// Whether elements are structs with a byte order that is not given where they are stored.
[[nodiscard]] bool lacks_byte_order(std::span<const CodecSpec> codecs, CodecTable table, const DType& dtype);
/// Reports the remarks of codecs when they were made, including those inside shards.
void warn_of_codecs(const ChunkLayout& layout, Findings& findings);

}  // namespace sherd
