// The parts of check(): the walk over a hierarchy, and the checks of what is not a chunk or a shard of one array.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "array/array_state.hpp"
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
/// A relative path in a member of an info document.
struct Reference {
  std::string member, path;
};
/// Checks what the reference of the info document in `from` leads to, as check_collection() does.
Result<void> check_reference(const neuroglancer::Collection::State::Location& from, const Reference& reference,
                             bool data, CheckReport& report);

/// Checks that the shards of a dual-format array are the same objects under both names, and that their two indexes
/// agree about each chunk. If there are options of a repair, a shard gets its missing name. Calls merge(findings) for
/// every shard, one after the other.
Result<void> check_dual_format(const Array::State& state, const Config& config,
                               const std::optional<RepairOptions>& repair, const std::function<void(Findings&)>& merge);

/// Whether elements are structs with a byte order that is not given where they are stored.
[[nodiscard]] bool lacks_byte_order(std::span<const CodecSpec> codecs, CodecTable table, const DType& dtype);
/// Reports the remarks of codecs when they were made, including those inside shards.
void warn_of_codecs(const ChunkLayout& layout, Findings& findings);

}  // namespace sherd
