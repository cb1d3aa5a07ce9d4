// Objects that a caller is about to read, or to open one after the other, read in advance.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sherd/store.hpp"

namespace sherd {

/// A snapshot of `store`, which the caller keeps alive. If its requests have latency, the first bytes of the objects at
/// `keys` are read in one batch, and it is known which of them are missing. Opening them then costs nothing more, nor
/// does reading within the first bytes. Not for callers that change these objects. A store without latency is returned
/// unchanged.
Result<std::shared_ptr<Store>> prefetched_store(Store& store, std::span<const std::string> keys);

/// The keys to be read of a store; `path` leads from its root to that of the innermost store.
using KeysAbove = std::function<std::vector<std::string>(const std::string& path)>;
/// prefetched_store() for a store and those around it (Store::parent()), all at the same time: the objects of the store
/// through itself, which may be a wrapper. The snapshots of the others are the parents of the one that is returned.
Result<std::shared_ptr<Store>> prefetched_stores(const std::shared_ptr<Store>& store, const KeysAbove& keys);
/// The store under a snapshot; any other store unchanged.
[[nodiscard]] std::shared_ptr<Store> live_store(const std::shared_ptr<Store>& store);

/// The present version of an object, or nullptr if it does not exist, opened by a request for the part of it that will
/// be needed, which the source then has in memory. Only opened if the requests of the store have no latency.
Result<std::shared_ptr<ByteSource>> open_with(Store& store, ReadRequest request);

}  // namespace sherd
