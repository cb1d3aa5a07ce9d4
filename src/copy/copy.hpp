// Copies a node and everything below it.
#pragma once

#include <vector>

#include "copy/planned_copy.hpp"

namespace sherd {

/// Copies the node at `source`, whose format recognizes it, and everything below it to `destination` (writable).
Result<CopyReport> copy_nodes(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options);

/// Makes planned nodes, as copy_nodes() does.
Result<CopyReport> make_nodes(std::vector<NodeCopy> nodes, const NodeLocation& destination, const CopyOptions& options);

}  // namespace sherd
