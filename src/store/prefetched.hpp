// Objects that a caller is about to open one after the other, read together in advance.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "sherd/store.hpp"

namespace sherd {

/// A snapshot of `store`, which the caller keeps alive. If its requests have latency, the first bytes of the objects at
/// `keys` are read in one batch, and it is known which of them are missing. Opening them then costs nothing more, nor
/// does reading within the first bytes. Not for callers that change these objects. A store without latency is returned
/// unchanged.
Result<std::shared_ptr<Store>> prefetched_store(Store& store, std::span<const std::string> keys);

}  // namespace sherd
