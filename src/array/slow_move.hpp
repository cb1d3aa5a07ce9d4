// Moves that take time: object by object, in stores that cannot move a node at once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "array/hierarchy.hpp"
#include "array/state.hpp"

namespace sherd {

/// Moves everything below the path of the node at `from` to the same keys below the path `to`. The caller holds the
/// locks of both. Waits for active writers, and also moves what they store. If it fails, the node is still at `from`,
/// or the error says that the move is incomplete.
Result<void> move_slowly(const NodeLocation& from, const std::string& to);

/// The new path of such a move of the node at `from`, if one is under way or was interrupted.
Result<std::optional<std::string>> slow_move_to(const NodeLocation& from);
/// `conflict` in a store without locks unless `to` is the `noted` path, because another program may still be moving the
/// node there.
Result<void> refuse_other_target(const NodeLocation& from, const std::string& noted, const std::string& to);
/// Continues the move, like move_slowly(); false if it has ended by now. The node need not be found at `from`.
Result<bool> carry_on_slow_move(const NodeLocation& from, const std::string& to);

/// `conflict` if `location` is the old or the new path of such a move.
Result<void> refuse_slow_move(const NodeLocation& location);
/// The same if one of these paths is at or below `location`: what is erased or moved there would be part of that node.
Result<void> refuse_slow_moves_below(const NodeLocation& location);

/// `conflict` if there is a note that a group around `location` is being moved, erased or replaced.
Result<void> refuse_changes_above(const NodeLocation& location);

/// For the message that there is no node: says that a move of it, or of a group around it, was interrupted; or empty.
[[nodiscard]] std::string hint_at_slow_move(const NodeLocation& location);
/// The error for a path where there is no node, in the format of the location.
[[nodiscard]] Error no_node_at(const NodeLocation& location);
/// Describes the move noted below `prefix`, which ends in the staging name of its old path.
Result<std::optional<std::string>> unfinished_move(Store& store, const std::string& prefix, const Limits& limits);

}  // namespace sherd
