// Arrays and groups by path: handles of stored nodes, and new nodes. Shared by the public open and create calls and
// Group.
#pragma once

#include <functional>
#include <optional>

#include "node/node_location.hpp"
#include "sherd/array.hpp"
#include "sherd/group.hpp"

namespace sherd {

/// An array handle from its metadata: builds grid and codec chains, and returns their errors.
Result<Array> make_array(NodeLocation location, NodeDocument document);
[[nodiscard]] Group make_group(NodeLocation location, NodeDocument document);
/// A handle from a stored document.
Result<Node> make_node(NodeLocation location, NodeDocument document);

/// The node at `location`, whose format is set; nullopt if it does not exist. `documents` is the store or the result of
/// prefetched_store() for it.
Result<std::optional<Node>> find_node(NodeLocation location, Store& documents);
Result<std::optional<Node>> find_node(NodeLocation location);

/// Create a node; see create_node().
Result<Group> create_group_at(NodeLocation location, const Json& attributes, bool overwrite);
Result<Array> create_array_at(NodeLocation location, const CreateOptions& options);
/// For a group whose document exists already; other objects at its path are a `conflict`, too.
Result<Group> create_group_of(NodeLocation location, NodeDocument node, bool overwrite);
/// The part of create_array_at() that follows once the metadata are made, lowered and checked (check_documents()).
Result<Array> create_array_of(NodeLocation location, NodeDocument node, bool overwrite);
/// Creates an array and calls `contents` to write into it; if that fails, nothing changes. A failure while moving it to
/// its path is reported with the location of the rest.
Result<void> create_with(const NodeLocation& destination, const NodeDocument& node, bool overwrite,
                         const std::function<Result<void>(const Array&)>& contents);

/// The document of a new array at `location`, created and checked but not written.
Result<NodeDocument> new_document(const NodeLocation& location, const CreateOptions& options);

/// The members of a group as its store lists them, or as consolidated metadata do; see Group::members().
[[nodiscard]] Result<std::vector<std::pair<std::string, NodeType>>> listed_members(const Group& group);

/// Where the group of a handle is stored.
[[nodiscard]] const NodeLocation& location_of(const Group& group) noexcept;
/// The attributes that the handle saw last, in which bare_number() recognizes numbers that are stored without quotes.
/// In attributes() of the handle, which is JSON, these are ordinary strings.
[[nodiscard]] Json stored_attributes(const Array& array);
[[nodiscard]] Json stored_attributes(const Group& group);

}  // namespace sherd
