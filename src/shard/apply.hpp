// The only place that stores an update of a shard. (check/repair.cpp mends shards whose index is torn, or drops slots.)
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "shard/writer.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// A stored shard, and the version that is changed.
struct StoredShard {
  Store& store;
  const std::string& key;
  ByteSource* old = nullptr;  ///< null: there is none, or nothing of it is kept
  Condition condition = {};   ///< on which it is replaced
};

/// What apply() has stored.
struct AppliedUpdate {
  bool exists = false;  ///< false: nothing remains, and nothing was stored; the caller erases the object
  Generation generation = {};
  std::uint64_t unchanged = 0;    ///< chunks of the old version that are kept
  std::uint64_t overwritten = 0;  ///< bytes of its chunks, where they were
  std::uint64_t size = 0;         ///< of the new version
};

/// Stores the next version of a shard: an appended one is an amendment of the object, every other one replaces it on
/// the condition. `put` puts the changed chunks into the writer. At most `window` batches of them are in memory.
Result<AppliedUpdate> apply(const StoredShard& shard, const IndexCoding& coding, ShardUpdate update, std::size_t window,
                            ShardWriter::Empty empty, const std::function<Result<void>(ShardWriter&)>& put);

}  // namespace sherd
