// The only place that decides how a stored shard is changed. Compaction and repairs have nothing to choose.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "shard/update.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// A reason of updates that choose() does not decide about; see Recorder::updated().
inline constexpr std::string_view kCompacted = "compacted";

/// By the format or the operation, whatever the settings.
struct PrescribedUpdate {
  UpdateKind kind;
  std::string_view why = {};  ///< empty: the caller counts the change
};

/// A change of a stored shard.
struct ShardChange {
  std::span<const std::uint64_t> slots = {};  ///< that are put or removed
  std::uint64_t put_bytes = 0;                ///< of the chunks that are put, at most
  std::uint64_t replaced_lists = 0;           ///< bytes of index parts that an appended version would not use
  std::optional<PrescribedUpdate> prescribed = {};
};

/// How a shard is changed: by Config::update, by what amending costs in its store, and by what the shard and the change
/// allow. A change that could be appended, but would be too large or leave too many dead bytes, rewrites the shard. The
/// recorder counts what is chosen and why.
UpdateKind choose(const Config& config, const StoreTraits& traits, const OldShard& old, const ShardChange& change);

/// Counts a change for which choose() has returned `in_place`, once the new size of the shard tells how it went: chunks
/// that do not fit in place, and an index at the end, are appended.
void record_in_place(const Config& config, const OldShard& old, std::uint64_t new_size);

/// The next version of `old` of the chosen kind; see PlanFunction.
Result<ShardUpdate> plan_update(UpdateKind kind, const OldShard& old, std::span<const std::uint64_t> changed,
                                const IndexCoding& coding);

}  // namespace sherd
