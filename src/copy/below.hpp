// Copies objects that are not chunks of an array.
#pragma once

#include <memory>
#include <string>

#include "copy/object.hpp"
#include "node/node_location.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// The location of objects that are not chunks of an array.
struct ObjectsLocation {
  std::shared_ptr<Store> store;
  std::string path;
};
/// Copies every object below a path unchanged; with `resume`, only those that are missing at the destination.
Result<void> copy_below(const ObjectsLocation& from, const ObjectsLocation& to, bool resume, CopyCounts& counts,
                        const Config& config);
/// Copies an object, if it still exists, unchanged; with `resume`, only if it is missing at the destination.
struct ObjectToCopy {
  Store& from;
  std::string key;
  Store& to;
  std::string new_key;
};
Result<void> copy_unchanged(const ObjectToCopy& object, bool resume, CopyCounts& counts);
/// The destination of a collection, and whether one exists there.
struct CollectionCopy {
  NodeLocation location;
  bool is_there = false;
};
/// Copies a collection of Neuroglancer's objects to a location that has the format of volumes.
Result<CopyReport> copy_collection(const ObjectsLocation& from, const CollectionCopy& to, const CopyOptions& options);

}  // namespace sherd
