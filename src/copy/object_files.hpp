// Imports and exports files of skeletons and meshes of a collection.
#pragma once

#include "neuroglancer/collection.hpp"
#include "sherd/object_files.hpp"

namespace sherd {

/// See import_object(). `location` is writable.
Result<ObjectFileReport> import_object_at(const std::string& file, neuroglancer::Collection::State::Location location,
                                          const ObjectFileOptions& options);
Result<ObjectFileReport> export_object_from(neuroglancer::Collection::State::Location location, const std::string& file,
                                            const ObjectFileOptions& options);

}  // namespace sherd
