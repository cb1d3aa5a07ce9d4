// The parts of check(): the walk over a hierarchy, the inspection of one stored chunk or shard, and the findings.
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

/// Checks the node at `location`, whose format recognizes it, and everything below it.
Result<CheckReport> check_nodes(const NodeLocation& location, const CheckOptions& options);
/// Reports a document that could not be read as a fault. Returns an error only if the check cannot continue.
Result<void> add_unreadable(const Error& error, const std::string& key, CheckReport& report);
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

/// The fault of a document that could not be read or lowered.
[[nodiscard]] std::string_view document_code(const Error& error);

/// The position of a fault in an object.
struct FaultLocation {
  std::optional<std::uint64_t> slot = {};
  std::optional<std::uint64_t> offset = {};
  std::string within = {};  ///< "slot 3: " for something inside slot 3 of an outer shard
};

/// The findings about one key. A damaged index can make every slot faulty, so only the first thousand faults are
/// reported individually. Thread-safe.
class Findings {
 public:
  explicit Findings(std::string key) : key_(std::move(key)) {}

  void error(std::string_view code, const FaultLocation& at, const std::string& message);
  void warning(std::string_view code, const FaultLocation& at, const std::string& message);
  /// Adds an error from inspecting stored bytes as a fault; returns an error that means that the check itself cannot
  /// continue (out of memory, interrupted, the object has changed meanwhile).
  Result<void> failed(Error error, std::string_view code, const FaultLocation& at);

  /// Records which version of the object the findings are about.
  Result<void> seen(ByteSource& source);
  /// `conflict` if there are faults and the store now has another version than the one seen.
  Result<void> check_version(Store& store) const;

  [[nodiscard]] const std::string& key() const noexcept { return key_; }

  /// Counters; not guarded.
  CheckReport counts;
  /// The faults by offset, the last one saying how many were left out. Ends the findings.
  std::vector<Fault> take_faults();

 private:
  void add(Fault::Severity severity, std::string_view code, const FaultLocation& at, const std::string& message);

  std::string key_;
  std::mutex mutex_;
  std::vector<Fault> faults_;
  std::uint64_t left_out_ = 0;
  std::optional<Generation> version_;
};

/// The function that inspects the object with this key in one version of it. If a writer changes the object meanwhile,
/// it is inspected again, with empty findings; `conflict` if it never stops changing. Called in a parallel loop, with
/// which it is interrupted.
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
