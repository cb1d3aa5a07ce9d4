// A zip archive as a store: its members are the objects.
#pragma once

#include <memory>
#include <string>

#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// The members of the archive `key` in another store. Opening makes one or two requests. `corrupt` or `unsupported`,
/// naming the member, if the archive contradicts itself; `not_found` if it does not exist, except in the local file
/// system, where it is created. Uses Limits::metadata_bytes (for the directory) and Limits::chunk_bytes (for compressed
/// members) of config.limits.
///
/// An archive in another place than the local file system is read-only, and is shown in the version that exists now,
/// whatever becomes of it. One in the local file system can be changed. Its next version is written beside it, and
/// replaces it in Store::finish(); without that it does not change. Members are stored uncompressed. The first change
/// makes this store the archive's only writer, until finish(): a second one, also in this process, gets a lasting
/// `conflict`. If another process has changed the archive since it was opened, the store then shows that version. Keys
/// of new members must be UTF-8. Uses config.durable, config.lock and config.follow_symlinks.
/// A change keeps the archive's comment, except one of OME-NGFF, which describes the order of the members.
Result<std::shared_ptr<Store>> zip_store(std::shared_ptr<Store> outer, std::string key, const Config& config);

}  // namespace sherd
