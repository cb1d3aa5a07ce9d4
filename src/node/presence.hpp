// Whether a node exists.
#pragma once

#include <cstdint>
#include <functional>

#include "node/node_location.hpp"

namespace sherd {

/// What a format finds at a location: nothing, only nodes below it, or a document, readable or not.
enum class Presence : std::uint8_t { none, implicit, stored };
Result<Presence> presence(const NodeLocation& location);
/// presence() without the faults in documents of enclosing groups.
Result<Presence> own_presence(const NodeLocation& location);
/// Whether an error is about one of the node's own documents.
[[nodiscard]] bool is_own_fault(const NodeLocation& location, const Error& error);
/// The error for a path where there is no node, in the format of the location.
[[nodiscard]] Error no_node_at(const NodeLocation& location);
/// Calls visit with `location` in each known format (its own format for the one that it has) until it returns true;
/// returns whether it did.
Result<bool> any_format(const NodeLocation& location,
                        const std::function<Result<bool>(const NodeLocation& there)>& visit);

}  // namespace sherd
