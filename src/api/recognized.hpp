// What exists where no array or group was found: an error that names it and says what to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "array/state.hpp"

namespace sherd {

/// The error for a location without a node: `not_found`, which says whether the directory exists and what was looked
/// for; `unsupported` where a file is recognized.
[[nodiscard]] Error nothing_found(const NodeLocation& location, const std::vector<const Format*>& formats);
/// `unsupported` where a path is a regular file, or leads through one, whose format is recognized, such as HDF5.
[[nodiscard]] std::optional<Error> recognized_file(const std::string& path);
/// Why a source of an import whose suffix is unknown is none: it does not exist, or it is recognized as a file of a
/// format that is not imported. nullopt for a pattern, and for everything else.
[[nodiscard]] std::optional<Error> no_file_to_import(const std::string& source);

}  // namespace sherd
