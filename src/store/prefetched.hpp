// Objects that a caller is about to open one after the other, read together beforehand.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sherd/store.hpp"

namespace sherd {

/// `store`, which the caller keeps alive, as it is now: if its requests have latency, the first bytes of the objects at
/// `keys` are in memory, and which of them are missing is known. They cost one batch; opening each of them costs
/// nothing more, nor does reading what fits the first bytes. Not for callers that change these objects. A store without
/// latency is returned as it is.
Result<std::shared_ptr<Store>> prefetched_store(Store& store, std::span<const std::string> keys);

}  // namespace sherd
