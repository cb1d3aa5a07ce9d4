// Moves that take time: object after object, in stores that cannot move a node at once.
#pragma once

#include <optional>
#include <string>

#include "array/hierarchy.hpp"
#include "array/state.hpp"

namespace sherd {

/// Moves everything below `from_prefix` to the same keys below `to_prefix`, which are the prefixes of the nodes at
/// `from` and at the path `to`. The caller holds the locks of both. Writers at work are waited for, and what they were
/// told is stored is moved, too. A failure leaves the node at `from`, or says that it is cut short.
Result<void> move_slowly(const NodeLocation& from, const std::string& to, const std::string& from_prefix,
                         const std::string& to_prefix);

/// Where such a move of the node at `from` leads to, if one is under way or was cut short.
Result<std::optional<std::string>> slow_move_to(const NodeLocation& from);
/// Carries on with the move of a process that has ended; as move_slowly(). The node need not be found at `from`.
Result<void> carry_on_slow_move(const NodeLocation& from);

/// `conflict` if `location` is the old or the new path of such a move: neither may then be used for another node.
Result<void> refuse_slow_move(const NodeLocation& location);

}  // namespace sherd
