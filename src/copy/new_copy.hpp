// Makes a copy next to its destination, and completes one that was interrupted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "node/creation.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// A copy that has not been moved to its destination yet.
struct NewCopy {
  ClearOptions clear;
  std::string note;                                       ///< identifies what is being copied
  std::vector<std::string> below = {};                    ///< the paths of its members
  std::function<Result<void>(const NodeLocation&)> make;  ///< makes all of it at that location
};
/// Makes a copy next to its destination and moves it there when it is complete. If it fails because of the destination,
/// it is kept if the options say so, and can be resumed.
Result<void> make_new_copy(const NodeLocation& destination, const NewCopy& copy, const CopyOptions& options);

/// Completes a copy whose document is already at the destination: makes missing objects there, and erases leftovers of
/// an earlier run. Returns false, having done nothing, if an earlier run had not moved its copy to the destination.
Result<bool> complete_copy(const NodeLocation& destination, const NewCopy& copy);

}  // namespace sherd
