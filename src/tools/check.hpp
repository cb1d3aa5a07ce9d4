// The parts of check(): the walk over a hierarchy, the inspection of one stored chunk or shard, and what they find.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "array/core.hpp"
#include "base/pool.hpp"
#include "neuroglancer/collection.hpp"
#include "neuroglancer/storage.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// Checks the node at `location`, whose format knows it, and all below it.
Result<CheckReport> check_nodes(const NodeLocation& location, const CheckOptions& options);
/// Reports a document that could not be read as a fault. An error only where the check cannot go on.
Result<void> add_unreadable(const Error& error, const std::string& key, CheckReport& report);
/// Checks the collection of objects at a location, and the segment properties to which it refers. Whether there is one,
/// sound or not.
Result<bool> check_collection(const neuroglancer::Collection::State::Location& location, bool data,
                              CheckReport& report);
/// Checks the shards at a location that no document describes; with `data` each value is read, and decoded as far as
/// the sharding allows.
Result<void> check_values(const neuroglancer::Collection::State::Location& location, const Json& sharding, bool data,
                          CheckReport& report);
/// The same for what a member of the info document in `from` leads to, by a relative path.
struct Reference {
  std::string member, path;
};
Result<void> check_reference(const neuroglancer::Collection::State::Location& from, const Reference& reference,
                             bool data, CheckReport& report);

/// The fault of a document that could not be read or lowered.
[[nodiscard]] std::string_view document_code(const Error& error);

/// Where in an object a fault is.
struct FaultLocation {
  std::optional<std::uint64_t> slot = {};
  std::optional<std::uint64_t> offset = {};
  std::string within = {};  ///< "slot 3: " for what is inside slot 3 of an outer shard
};

/// What is found out about one key. A damaged index can make a fault of every slot, so only the first thousand are
/// reported one by one. Thread-safe.
class Findings {
 public:
  explicit Findings(std::string key) : key_(std::move(key)) {}

  void error(std::string_view code, const FaultLocation& at, const std::string& message);
  void warning(std::string_view code, const FaultLocation& at, const std::string& message);
  /// An error that came from looking at stored bytes is a fault; one that says that the check itself cannot go on
  /// (out of memory, interrupted, the object has changed meanwhile) is returned.
  Result<void> failed(Error error, std::string_view code, const FaultLocation& at);

  /// Notes which version of the object the findings are about.
  Result<void> seen(ByteSource& source);
  /// `conflict` if there are faults, and by now the store has another version than the one seen.
  Result<void> check_version(Store& store) const;

  [[nodiscard]] const std::string& key() const noexcept { return key_; }

  /// Counters; not guarded.
  CheckReport counts;
  /// The faults by offset, with a last one that says how many were left out. Ends the findings.
  std::vector<Fault> take_faults();

 private:
  void add(Fault::Severity severity, std::string_view code, const FaultLocation& at, const std::string& message);

  std::string key_;
  std::mutex mutex_;
  std::vector<Fault> faults_;
  std::uint64_t left_out_ = 0;
  std::optional<Generation> version_;
};

/// What `look` finds out about the object of this key in one version of it. An object that a writer changes meanwhile
/// is looked at again, with findings that begin empty; `conflict` if it never holds still.
/// Called in a parallel loop, with which it is interrupted.
using Look = std::function<Result<void>(Findings& to)>;
Result<std::unique_ptr<Findings>> look_at(Store& store, const std::string& key, const Look& look);

/// Ends the findings.
void add_findings(CheckReport& report, Findings& findings);

/// A slot's bytes, relative to their source.
struct FoundChunk {
  Extent extent;
  std::uint64_t slot;
};

struct IdShard;

/// Looks at the stored chunks of one array.
class ObjectCheck {
 public:
  /// References must outlive it.
  ObjectCheck(const Array::State& state, bool data, const Config& config, Budget& budget)
      : state_(state), data_(data), config_(config), budget_(budget) {}

  /// `cell` is unused if chunks are values of a store of ids: the object is a shard then. An error only where the
  /// check cannot go on.
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

/// Whether the shards of an array that is laid out for two formats are the same objects under both names, and its two
/// indices say the same of each chunk. Calls merge(findings) for every shard, one after the other.
Result<void> check_dual_format(const Array::State& state, const Config& config,
                               const std::function<void(Findings&)>& merge);

/// Whether elements are structs whose bytes have an order, and are stored without naming it.
[[nodiscard]] bool lacks_byte_order(std::span<const CodecSpec> codecs, CodecTable table, const DType& dtype);
/// What codecs remarked when they were made, also those inside of shards.
void warn_of_codecs(const ChunkLayout& layout, Findings& findings);

}  // namespace sherd
