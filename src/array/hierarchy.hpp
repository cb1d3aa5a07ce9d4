// Finds, creates and erases nodes by path. Shared by the public open and create calls and Group.
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
/// The relative path from a group to a node below it; nullopt if `path` is not below the group.
[[nodiscard]] std::optional<std::string_view> path_from(std::string_view group, std::string_view path) noexcept;

/// Another path in the same store.
[[nodiscard]] NodeLocation at_path(const NodeLocation& location, std::string path);

/// The node at `location`, whose format is set; nullopt if it does not exist. `documents` is the store or the result of
/// prefetched_store() for it.
Result<std::optional<Node>> find_node(NodeLocation location, Store& documents);
Result<std::optional<Node>> find_node(NodeLocation location);
/// The error for a path where there is no node, in the format of the location.
[[nodiscard]] Error no_node_at(const NodeLocation& location);
/// A handle from a stored document.
Result<Node> make_node(NodeLocation location, NodeDocument document);
[[nodiscard]] Group make_group(NodeLocation location, NodeDocument document);

/// Makes a hierarchy of the format begin in the store of `location`, unless one does already; `conflict` if another
/// hierarchy begins there.
Result<void> enter(NodeLocation& location);
/// Create a node at `location` (writable, its format given), and missing groups on the way from the store's root.
/// `conflict` if a node exists there and `overwrite` is not set, if the location is inside an array, or if other
/// objects exist where the chunks of a new array would be. Overwriting first erases the node and its members, and is a
/// `conflict` if there is anything else among them.
Result<Group> create_group_at(NodeLocation location, const Json& attributes, bool overwrite);
Result<Array> create_array_at(NodeLocation location, const CreateOptions& options);
/// The same for a group whose document exists already; other objects at its path are a `conflict`, too.
Result<Group> create_group_of(NodeLocation location, NodeDocument node, bool overwrite);

/// The document of a new array at `location`, created and checked but not written.
Result<NodeDocument> new_document(const NodeLocation& location, const CreateOptions& options);

/// What may be erased to make way for a new node.
struct ClearOptions {
  bool overwrite = false;  ///< a node, with everything below it
  bool foreign = false;    ///< foreign objects; the caller knows to whom they belong
};
/// Tests whether a node can be created at `location`, as create_array_at() does before it writes anything.
Result<void> check_clearable(const NodeLocation& location, ClearOptions options);
/// The same, and creates missing groups above. Returns whether there is anything for clear_location() to erase.
Result<bool> prepare_location(const NodeLocation& location, ClearOptions options);
/// Waits until nothing at `location` is being written. Call this before erasing anything there, so that nothing has
/// changed if a writer takes too long. clear_location() waits for writers that begin in the meantime.
Result<void> wait_for_writers(const NodeLocation& location);
/// Erases everything at `location`, its documents first. The caller has stored a MovingNote.
Result<void> clear_location(const NodeLocation& location);

/// The name, at the store's root, below which the node of this path is created before it is moved to its path
/// (staged.hpp). No node has this name.
[[nodiscard]] std::string staging_name(const std::string& path);
/// Acquires the lock of that name: while it is held, no other process creates or erases a node at this path.
Result<std::unique_ptr<StoreLock>> lock_node(const NodeLocation& location);
/// A note below that name: the node is being moved to its path, or erased. It exists until everything below the name is
/// erased. While it exists, objects at the path that belong to no node are part of the node; otherwise they are foreign
/// objects. In a store with locks, the caller holds the lock of the name. In others the note replaces the lock: it is
/// stored on condition that there is none, and names its maker. The note of a call that failed belongs to no maker; the
/// note of a killed process excludes everyone else until the node is erased.
class MovingNote {
 public:
  /// `conflict` if another maker's note exists; only `take_over` replaces it.
  static Result<std::unique_ptr<MovingNote>> store(const NodeLocation& location, const std::string& maker,
                                                   bool take_over = false);
  MovingNote(const MovingNote&) = delete;
  MovingNote& operator=(const MovingNote&) = delete;
  ~MovingNote();
  /// Erases the note, after everything else below the name, including nodes of other makers, who get a `conflict`.
  Result<void> end();
  /// Erases only the note, unless another maker has taken it over: nothing has been moved or erased.
  Result<void> withdraw();
  /// `conflict`, and the note is withdrawn, if a node exists at the path by now.
  Result<void> refuse_node();

 private:
  explicit MovingNote(const NodeLocation& location) : location_(location) {}

  const NodeLocation location_;
  std::optional<Generation> stored_;  ///< set while it excludes others
};
Result<bool> is_moving(const NodeLocation& location);
/// `conflict` if another maker's note exists.
Result<void> refuse_maker(const NodeLocation& location, std::string_view maker = {});
/// A name that no other maker has.
[[nodiscard]] std::string new_maker();
[[nodiscard]] bool is_staging(std::string_view name) noexcept;

/// What a format finds at a location: nothing, only nodes below it, or a document, readable or not.
enum class Presence : std::uint8_t { none, implicit, stored };
Result<Presence> presence(const NodeLocation& location);
/// The same; a fault in the document of an enclosing group is ignored.
Result<Presence> own_presence(const NodeLocation& location);
/// `conflict` if there is no group around a node that was just created. A group that is erased or moved loses its
/// documents before those of its members are listed, and a creator looks here after it has stored its own. So either
/// the creator finds no group, or the node is erased or moved with it.
Result<void> refuse_orphan(const NodeLocation& location);
/// Creates the groups above a node that was just moved to its path, if there is no group around it any more; `conflict`
/// if that is not possible.
Result<void> restore_parents(const NodeLocation& location);
/// Calls visit with `location` in each known format (its own format for the one that it has) until it returns true;
/// returns whether it did.
Result<bool> any_format(const NodeLocation& location,
                        const std::function<Result<bool>(const NodeLocation& there)>& visit);
/// `conflict` if anything below the node at `location` belongs neither to it nor to a member.
Result<void> refuse_foreign_objects(const NodeLocation& location);
/// Objects below the node at `location` that belong neither to it, nor to a member, nor to a collection.
struct ForeignObjects {
  std::uint64_t count = 0;
  std::string first = {};  ///< the key of one
};
Result<ForeignObjects> foreign_objects(const NodeLocation& location);
/// `conflict` if anything other than chunks, judging by the format's names, is stored where the contents of a node at
/// `location` would be. Only an array that was erased without its chunks leaves such objects.
Result<void> refuse_all_but_chunks(const NodeLocation& location);
/// The error for a foreign object.
[[nodiscard]] Error foreign_object_error(const std::string& key);
/// Erases the node at `location` and everything below it: first the entries in consolidated metadata, then its
/// document. An interrupted call can be repeated; creating a node there also completes it.
Result<void> erase_node(const NodeLocation& location);
/// Moves the node at `location` (writable, its format given), with everything below it, to the path `to` of its store,
/// and creates missing groups above. Readers find it at one of the two paths. `not_found` if it does not exist;
/// `conflict` if anything exists at `to`; invalid_argument if `to` is inside the node, or the node is the root;
/// `unsupported` if the store cannot move it in one step, or if the format stores nodes in several locations.
Result<void> move_node(const NodeLocation& location, const std::string& to);

}  // namespace sherd
