// What exists where no array or group was found: an error that names it and suggests what to do.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/node_location.hpp"

namespace sherd {

/// The error for a location without a node: `not_found`, which says whether the directory exists and what was looked
/// for, or what hint_at_file() says of a file.
[[nodiscard]] Error nothing_found(const NodeLocation& location, const std::vector<const Format*>& formats);
/// The error if the directory or the archive of a store does not exist; nullopt if it does, or if that is unknown.
[[nodiscard]] std::optional<Error> missing_store(const std::shared_ptr<Store>& store);
/// `unsupported` if a place outside of the local file system is not a directory, but a file of netCDF, HDF5 or ZIP:
/// says how it is read. Costs one read of its first bytes. nullopt for anything else.
[[nodiscard]] std::optional<Error> hint_at_object(const Store& store);
/// `; tried`, and what that was, a line each: why a path and the other forms that its name has lead to nothing.
[[nodiscard]] std::string tried_path(const std::string& path);
/// If a path is a regular file or leads through one: `invalid_argument` for a document of a format, `unsupported` for
/// HDF5, netCDF, ZIP and files that can be imported; otherwise nullopt.
[[nodiscard]] std::optional<Error> hint_at_file(const std::string& path, FormatTable formats);
/// The first bytes of a file, by which its kind is recognized; zeros where it cannot be read.
[[nodiscard]] std::string first_bytes(const std::string& path);
/// Why an import source with an unknown suffix cannot be read: it does not exist, or is HDF5, netCDF or ZIP. nullopt
/// for a pattern, and in all other cases.
[[nodiscard]] std::optional<Error> hint_at_source(const std::string& source);

}  // namespace sherd
