// What exists where no array or group was found: an error that names it and suggests what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/node_location.hpp"

namespace sherd {

/// The error for a location without a node: `not_found`, which says whether the directory exists and what was looked
/// for, or `unsupported` if a file is recognized.
[[nodiscard]] Error nothing_found(const NodeLocation& location, const std::vector<const Format*>& formats);
/// `unsupported` if a path is a regular file of a recognized format such as HDF5, or leads through one.
[[nodiscard]] std::optional<Error> recognized_file(const std::string& path);
/// Why an import source with an unknown suffix cannot be read: it does not exist, or it is a recognized file of a
/// format that is not imported. nullopt for a pattern, and in all other cases.
[[nodiscard]] std::optional<Error> no_file_to_import(const std::string& source);

}  // namespace sherd
