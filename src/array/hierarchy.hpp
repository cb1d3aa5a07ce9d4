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

/// Another path in the same store.
[[nodiscard]] NodeLocation at_path(const NodeLocation& location, std::string path);

/// The node at `location`, whose format is given; nullopt if it does not exist.
/// `documents` is the store or what prefetched_store() has made of it.
Result<std::optional<Node>> find_node(NodeLocation location, Store& documents);
Result<std::optional<Node>> find_node(NodeLocation location);
/// A handle from a stored document.
Result<Node> make_node(NodeLocation location, NodeDocument document);
[[nodiscard]] Group make_group(NodeLocation location, NodeDocument document);

/// Makes the store of `location` begin a hierarchy of its format where it does not yet; `conflict` where it begins
/// another.
Result<void> enter(NodeLocation& location);
/// Make a node at `location` (writable, its format given). Groups that are missing on the way from the store's root are
/// made too. `conflict` if a node exists there and `overwrite` is not set, if the location is inside an array, or if
/// other objects are where the chunks of a new array would be. Overwriting erases the node and its members first, and
/// is `conflict` if anything else is among them.
Result<Group> create_group_at(NodeLocation location, const Json& attributes, bool overwrite);
Result<Array> create_array_at(NodeLocation location, const CreateOptions& options);
/// The same for a group whose document is made already; other objects at its path are `conflict`, too.
Result<Group> create_group_of(NodeLocation location, NodeDocument node, bool overwrite);

/// The document of a new array at `location`, made and checked and not written.
Result<NodeDocument> new_document(const NodeLocation& location, const CreateOptions& options);

/// What may be erased for a new node.
struct ClearOptions {
  bool overwrite = false;  ///< a node, with all below it
  bool foreign = false;    ///< objects that belong to no node; the caller knows whose they are
};
/// Finds out, as create_array_at() does before it writes anything, whether a node can come to `location`.
Result<void> check_clearable(const NodeLocation& location, ClearOptions options);
/// The same, and creates missing groups above. Returns whether there is anything for clear_location() to erase.
Result<bool> prepare_location(const NodeLocation& location, ClearOptions options);
/// Waits until nothing at `location` is being written. It is called before anything there is erased, so that nothing
/// has changed if a writer takes too long. clear_location() waits for writers that begin in the meantime.
Result<void> wait_for_writers(const NodeLocation& location);
/// Erases everything at `location`, its documents first. The caller has stored a MovingNote.
Result<void> clear_location(const NodeLocation& location);

/// The name, at the store's root, below which the node of this path is made before it is moved to its path
/// (staged.hpp); no node is called so.
[[nodiscard]] std::string staging_name(const std::string& path);
/// Acquires the lock of that name: no other process creates or erases a node of this path while it is held.
Result<std::unique_ptr<StoreLock>> lock_node(const NodeLocation& location);
/// A note below that name: the node is being moved to its path or erased. It is there until everything below the name
/// is erased. As long as it is there, objects at that path that belong to no node are part of the node; otherwise they
/// are foreign objects. In a store with locks, the caller holds the lock of the name. In others the note takes its
/// place: it is stored on the condition that there is none, and says who stored it. What is left by a call that failed
/// belongs to no maker; that of a killed process excludes all others, until the node is erased.
class MovingNote {
 public:
  /// `conflict` if another maker's note is there, which only `take_over` replaces.
  static Result<std::unique_ptr<MovingNote>> store(const NodeLocation& location, const std::string& maker,
                                                   bool take_over = false);
  MovingNote(const MovingNote&) = delete;
  MovingNote& operator=(const MovingNote&) = delete;
  ~MovingNote();
  /// Erases it, and first everything else below the name, also what other makers are making: they get a `conflict`.
  Result<void> end();
  /// Erases only the note: nothing has been moved or erased.
  Result<void> withdraw();
  /// `conflict`, and the note is withdrawn, if a node is at the path by now.
  Result<void> refuse_node();

 private:
  explicit MovingNote(const NodeLocation& location) : location_(location) {}

  const NodeLocation location_;
  std::optional<Generation> stored_;  ///< as long as others are excluded by it
};
Result<bool> is_moving(const NodeLocation& location);
/// `conflict` if another maker's note is there.
Result<void> refuse_maker(const NodeLocation& location, std::string_view maker = {});
/// A name that no other maker has.
[[nodiscard]] std::string new_maker();
[[nodiscard]] bool is_staging(std::string_view name) noexcept;

/// What a format finds at a location: a document, readable or not, or only nodes below it.
enum class Presence : std::uint8_t { none, implicit, stored };
Result<Presence> presence(const NodeLocation& location);
/// The same; a fault in the document of an enclosing group is ignored.
Result<Presence> own_presence(const NodeLocation& location);
/// Calls visit with `location` in each known format, its own for the one that it has, until it returns true; returns
/// whether it did.
Result<bool> any_format(const NodeLocation& location,
                        const std::function<Result<bool>(const NodeLocation& there)>& visit);
/// `conflict` if anything below the node at `location` belongs neither to it nor to a member.
Result<void> refuse_foreign_objects(const NodeLocation& location);
/// `conflict` if anything but chunks, by the format's names for them, is stored where the contents of a node
/// at `location` would be. Only an array that was erased without its chunks leaves such objects.
Result<void> refuse_all_but_chunks(const NodeLocation& location);
/// What it says of the object that is none.
[[nodiscard]] Error foreign_object_error(const std::string& key);
/// Erases the node at `location` and all below it, the entries in consolidated metadata first, then its document. An
/// interrupted call can be repeated; creating a node there also completes it.
Result<void> erase_node(const NodeLocation& location);
/// Moves the node at `location` (writable, its format given), with everything below it, to the path `to` of its store,
/// and creates missing groups above. Readers find it at one of the two paths if the store moves it at once
/// (slow_move.hpp). `conflict` if anything is at `to`; invalid_argument if that is inside the node, or the node is the
/// root; `unsupported` if the format stores nodes in several locations.
Result<void> move_node(const NodeLocation& location, const std::string& to);
/// Carries on with a move_node() of the node at `from` that was cut short, if there is one, and returns its new path.
/// The node need not be found at `from`, which needs no format. `conflict` if that is not `target` and the store has no
/// locks: another program may be at it.
Result<std::optional<std::string>> finish_move(const NodeLocation& from, const std::string& target);

}  // namespace sherd
