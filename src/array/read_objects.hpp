// Reads many objects of a store whose requests have latency: open, locate, coalesce, read, decode. What an object needs
// next (its beginning or end, then, level by level, the indexes that locate chunks, then runs of chunks) is requested
// as soon as it is known. Replies are decoded while other requests are under way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cache.hpp"
#include "shard/reader.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// What a call needs from one object. Its functions are called by one thread at a time, except for take().
class ObjectRead {
 public:
  virtual ~ObjectRead() = default;

  /// The object's key, and the range to read together with opening it.
  [[nodiscard]] virtual ReadRequest first() const = 0;
  /// Whether plan() reads an index that a cache may keep. If so, the version of an earlier call is assumed to be the
  /// present one, and each reply must confirm it.
  [[nodiscard]] virtual bool has_index() const noexcept = 0;
  /// Whether the caller reads more of the version that was assumed, after finish(): that confirms it.
  [[nodiscard]] virtual bool is_confirmed_later() const noexcept { return false; }
  /// An alternative key of the object, used if the first one does not exist; empty if there is none. If the alternative
  /// exists, the object is read by again().
  [[nodiscard]] virtual std::string other_key() const { return {}; }

  /// The runs to read of an object (null if it does not exist). A source may lack bytes that the plan depends on; it
  /// has then noted them, and the plan is made again from the beginning once they have arrived. So a plan continues
  /// with everything that does not depend on missing bytes.
  virtual Result<std::vector<Run>> plan(ByteSource* source) = 0;
  /// Decodes a run. Several threads may call it, each with another run.
  virtual Result<void> take(ByteSource& source, const Run& run, std::span<const std::byte> bytes) = 0;
  /// Everything has been taken, from the version that is the present one. Results of a plan that need no run, such as
  /// that a chunk is missing, are certain only now.
  virtual Result<void> finish() = 0;
  /// plan() or take() returned `corrupt` or `conflict`, so the object may have been changed meanwhile: reads it again,
  /// by itself, until the cause is clear.
  virtual Result<void> again() = 0;
};

struct ObjectsRead {
  Store& store;
  const Config& config;
  Cache& cache;           ///< keeps the version of each object that was read last
  std::uint64_t gap = 0;  ///< missing ranges closer than this are read together
};

/// Reads `count` objects; make(i) is called in order. The first read that fails ends the call.
Result<void> read_objects(const ObjectsRead& call, std::uint64_t count,
                          const std::function<std::unique_ptr<ObjectRead>(std::uint64_t)>& make);

}  // namespace sherd
