// The part of check() that handles the several documents of one node.
#pragma once

#include <functional>

#include "node/format.hpp"
#include "node/node_location.hpp"
#include "tools/findings.hpp"

namespace sherd {

/// Reports irregularities in the documents of a node that can be read nevertheless.
void check_documents(const NodeLocation& location, const NodeDocument& node,
                     const std::function<void(Findings&)>& merge);

}  // namespace sherd
