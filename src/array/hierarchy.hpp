// Nodes by path: found, made and erased in any format. What the public open and create calls and Group share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "array/state.hpp"
#include "sherd/group.hpp"

namespace sherd {

/// The path without leading, trailing and doubled `/`; `.` and `..` segments are invalid_argument.
[[nodiscard]] Result<std::string> normal_path(std::string_view path);
/// The path of `name` below `path`; either may be empty.
[[nodiscard]] std::string join_path(const std::string& path, std::string_view name);
/// The path from a group to what lies below it; nullopt where `path` does not.
[[nodiscard]] std::optional<std::string_view> path_from(std::string_view group, std::string_view path) noexcept;

/// Another place in the same store.
[[nodiscard]] NodePlace at_path(const NodePlace& place, std::string path);

/// The node that stands at `place`, whose format is given; nullopt where that format has none there.
Result<std::optional<Node>> find_node(NodePlace place);
/// A handle from a stored document.
Result<Node> make_node(NodePlace place, NodeDocument document);
[[nodiscard]] Group make_group(NodePlace place, NodeDocument document);

/// Makes the store of `place` begin a hierarchy of its format where it does not yet; `conflict` where it begins
/// another.
Result<void> enter(NodePlace& place);
/// Make a node at `place` (writable, its format given). Groups that are missing on the way from the store's root are
/// made too. `conflict` where a node stands there already and `overwrite` is not set, where the place lies inside an
/// array, or where other objects stand in a new array's place. Overwriting erases the node and its members first, and
/// is `conflict` where anything else stands among them.
Result<Group> create_group_at(NodePlace place, const Json& attributes, bool overwrite);
Result<Array> create_array_at(NodePlace place, const CreateOptions& options);
/// The same for a group whose document is made already; other objects in its place are `conflict`, too.
Result<Group> create_group_of(NodePlace place, NodeDocument node, bool overwrite);

/// The document of a new array at `place`, made and checked and not written.
Result<NodeDocument> new_document(const NodePlace& place, const CreateOptions& options);

/// What may go to make room for a node.
struct RoomOptions {
  bool overwrite = false;  ///< a node, with all below it
  bool strays = false;     ///< objects that belong to no node; the caller knows whose they are
};
/// Finds out, as create_array_at() does before it writes anything, whether a node can come to `place`.
Result<void> check_room(const NodePlace& place, RoomOptions options);
/// The same, and makes the groups on the way there; whether anything stands there that clear_room() is to erase.
Result<bool> prepare_room(const NodePlace& place, RoomOptions options);
/// Waits until nothing at `place` is being written. Before anything there is erased, so that what stands there stays
/// as it is if a writer takes too long. A writer that begins meanwhile is clear_room()'s to wait for.
Result<void> wait_for_writers(const NodePlace& place);
/// Erases what stands at `place`, its documents first. Before it stands the note of note_moving().
Result<void> clear_room(const NodePlace& place);

/// The name, at the store's root, below which the node of this path comes to be before it is put into its place
/// (staged.hpp); no node is called so.
[[nodiscard]] std::string staging_name(const std::string& path);
/// Takes the lock of that name: nobody else makes or erases a node of this path while it is held.
Result<std::unique_ptr<StoreLock>> lock_node(const NodePlace& place);
/// Notes below that name that the node is put into its place or erased, until everything below the name is erased:
/// while it stands, objects at that place which belong to no node are a part of it, and otherwise somebody's files.
/// Whoever writes it holds the lock of the name.
Result<void> note_moving(const NodePlace& place);
Result<bool> is_moving(const NodePlace& place);
[[nodiscard]] bool is_staging(std::string_view name) noexcept;

/// What a format knows of a place: a document, readable or not, or only that nodes stand below it.
enum class Presence : std::uint8_t { none, implicit, stored };
Result<Presence> presence(const NodePlace& place);
/// The same, where a fault in the document of a group around tells nothing of this place.
Result<Presence> own_presence(const NodePlace& place);
/// Calls visit with `place` in each known format, its own for the one that it has, until it gives true; whether it did.
Result<bool> any_format(const NodePlace& place, const std::function<Result<bool>(const NodePlace& there)>& visit);
/// `conflict` where something stands below the node at `place` that is neither its own nor a member's.
Result<void> refuse_foreign_objects(const NodePlace& place);
/// `conflict` if anything but chunks, by the names that the format gives them, is stored where the contents of a node
/// at `place` would be. Only an array that was erased without its chunks leaves such objects.
Result<void> refuse_all_but_chunks(const NodePlace& place);
/// What it says of the object that is none.
[[nodiscard]] Error foreign_object_error(const std::string& key);
/// Erases the node at `place` and all below it, the entries in consolidated metadata first, then its document. What is
/// cut short can be done again, and is done by whoever makes something there.
Result<void> erase_node(const NodePlace& place);

}  // namespace sherd
