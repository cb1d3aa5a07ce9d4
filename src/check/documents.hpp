// The part of check() that handles the several documents of one node.
#pragma once

#include <functional>

#include "check/findings.hpp"
#include "node/format.hpp"
#include "node/node_location.hpp"

namespace sherd {

/// Reports irregularities in the documents of a node that can be read nevertheless.
void check_documents(const NodeLocation& location, const NodeDocument& node,
                     const std::function<void(Findings&)>& merge);

}  // namespace sherd
