// The part of check() that knows of several documents of one node.
#pragma once

#include <functional>

#include "tools/check.hpp"

namespace sherd {

/// Reports what is odd about one of the documents of a node that can be read all the same.
void check_documents(const NodeLocation& location, const NodeDocument& node,
                     const std::function<void(Findings&)>& merge);

}  // namespace sherd
