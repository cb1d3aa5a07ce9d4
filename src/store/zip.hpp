// A zip archive as a store: its members are the objects.
#pragma once

#include <memory>
#include <string>

#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// The members of the archive `key` in another store, in the version that exists now, whatever becomes of it.
/// Read-only. Opening makes one or two requests. `not_found` if the archive does not exist; `corrupt` or `unsupported`,
/// naming the member, if it contradicts itself. Uses Limits::metadata_bytes (for the directory) and Limits::chunk_bytes
/// (for compressed members) of config.limits.
Result<std::shared_ptr<Store>> zip_store(std::shared_ptr<Store> outer, std::string key, const Config& config);

}  // namespace sherd
