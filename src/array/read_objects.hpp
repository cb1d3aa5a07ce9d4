// Reading many objects of a store whose requests have latency: open, locate, coalesce, read, decode. What one object
// would wait for is requested for all of them together: first their beginnings or ends, then, a level at a time, the
// indices that say where chunks are, then runs of chunks. Replies are planned and decoded by the pool while other
// requests are under way.
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

/// What a call wants of one object. Its functions are called by one thread at a time, except for take().
class ObjectRead {
 public:
  virtual ~ObjectRead() = default;

  /// The object's key, and what is read of it together with opening it.
  [[nodiscard]] virtual ReadRequest first() const = 0;
  /// Whether plan() reads an index that a cache may keep. If so, the version of an earlier call is taken for the
  /// present one, and each reply must confirm it.
  [[nodiscard]] virtual bool has_index() const noexcept = 0;
  /// Another key, under which the object may be if its own is absent; empty if there is none. If it exists, the object
  /// is read by again().
  [[nodiscard]] virtual std::string other_key() const { return {}; }

  /// The runs to read of an object (null if it does not exist). A source may not have all bytes that the plan depends
  /// on: then it has noted them, and once they are there the plan is made again from the beginning. So a plan goes on
  /// with what does not depend on missing bytes.
  virtual Result<std::vector<Run>> plan(ByteSource* source) = 0;
  /// Decodes a run. Several threads may call it, each with another run.
  virtual Result<void> take(ByteSource& source, const Run& run, std::span<const std::byte> bytes) = 0;
  /// Everything has been taken, of the version that is the present one. What a plan found out without a run, such as
  /// that a chunk is missing, is certain only now.
  virtual Result<void> finish() = 0;
  /// The outcome of plan() or take() was `corrupt` or `conflict`, so the object may have been changed meanwhile: reads
  /// it again, by itself, until it is clear which.
  virtual Result<void> again() = 0;
};

struct ObjectsRead {
  Store& store;
  const Config& config;
  Cache& cache;           ///< keeps which version of an object was read last
  std::uint64_t gap = 0;  ///< missing ranges closer than this are read together
};

/// Reads `count` objects; make(i) is called in order. A read that fails ends the call.
Result<void> read_objects(const ObjectsRead& call, std::uint64_t count,
                          const std::function<std::unique_ptr<ObjectRead>(std::uint64_t)>& make);

}  // namespace sherd
