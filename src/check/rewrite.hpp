// Rewrites one stored shard of an array without its dead bytes, in the version that was read and under its lock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "array/array_state.hpp"
#include "shard/writer.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// An object of an array, and the version of it that is about to be changed.
struct HeldObject {
  const Array::State& state;
  const Shape& cell;
  const std::string& key;
  std::unique_ptr<StoreLock> lock = nullptr;
  std::shared_ptr<ByteSource> source = nullptr;  ///< null: it does not exist
  std::uint64_t size = 0;
  Condition condition = {};  ///< that the object is this version

  [[nodiscard]] Store& store() const noexcept { return *state.location.store; }
};
/// Locks the object and opens its present version.
Result<HeldObject> hold_object(const Array::State& state, const Shape& cell, const std::string& key);

struct DenseRewrite {
  std::span<const std::uint64_t> changed = {};  ///< slots that are put or, if `put` does not put them, emptied
  std::function<Result<void>(ShardWriter&)> put = {};
  /// Nothing is written if the new version would not be smaller.
  bool only_if_smaller = false;
  std::string_view why = "repaired";  ///< for Recorder::updated()
};
/// Returns the size of the new version, 0 if none of its chunks remain; nullopt if nothing was written. For shards with
/// slots, also those of dual-format arrays, which get both indexes and names. Fails like read_old_shard(); `conflict`
/// if the object is no longer the version that is held.
Result<std::optional<std::uint64_t>> rewrite_densely(const HeldObject& held, const DenseRewrite& rewrite);

/// Erases the version that is held. `unsupported` if the store cannot compare versions when it erases.
Result<void> erase_held(const HeldObject& held);

}  // namespace sherd
