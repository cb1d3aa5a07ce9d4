// The part of check() that handles the several documents of one node.
#pragma once

#include <functional>
#include <string>

#include "check/findings.hpp"
#include "node/format.hpp"
#include "node/node_location.hpp"

namespace sherd {

/// Reports irregularities in the documents of a node that can be read nevertheless.
void check_documents(const NodeLocation& location, const NodeDocument& node,
                     const std::function<void(Findings&)>& merge);
/// The format to which a key belongs, if it is another one than the node's: a directory may contain a node of each, and
/// opening it finds the first. Otherwise empty.
[[nodiscard]] std::string other_format_of(const NodeLocation& root, const std::string& key);

}  // namespace sherd
