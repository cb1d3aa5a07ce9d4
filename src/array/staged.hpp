// A node that is created next to its path and moved there when it is complete. Until then readers find what existed
// before, or nothing; leftovers of a failure or a kill do not disturb other processes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/hierarchy.hpp"
#include "array/state.hpp"

namespace sherd {

/// A maker's note about the node that it is making, with which another call can resume it; empty if none can.
struct StagedNote {
  std::string text = {};
  bool resume = false;
};

class StagedNode {
 public:
  /// Begins a node at `destination` (writable, its format given). Waits while another is made there; in a store without
  /// locks, commit() is a `conflict` instead. `conflict` as for create_array_at(). With `note.resume`, continues what a
  /// maker that has ended left with the same note; `conflict` if its note is different.
  static Result<StagedNode> begin(NodeLocation destination, ClearOptions clear, const StagedNote& note = {});

  /// Where to create the node and everything below it: in a store of its own, documents with write_documents().
  [[nodiscard]] const NodeLocation& location() const noexcept { return location_; }
  /// The node has this format, and replaces a node of the destination's format, which is the root of its store.
  void replace_with(std::shared_ptr<const Format> format);
  /// An error in making the node, with keys as they will be at its path; `conflict` if another maker was first.
  [[nodiscard]] Error outward(const Error& error) const;
  /// Abandons the node: erases it, unless it is being moved to its path, where it may be the only copy.
  Result<void> abandon() const;
  /// Moves the node to its path, with the groups above it, replacing what exists there, and updates consolidated
  /// metadata around it. `below` are the paths of its members. After a failure before anything at the destination has
  /// changed, the node can be abandoned. A later failure leaves the new node in two locations, and the next copy to
  /// this destination with `resume` joins them. `conflict` if another maker was first.
  Result<void> commit(const std::vector<std::string>& below = {});

 private:
  StagedNode() = default;
  [[nodiscard]] std::string note_key() const;
  [[nodiscard]] Result<bool> exchange() const;
  Result<void> put_in_place(bool occupied) const;
  [[nodiscard]] Result<void> refuse_erased() const;

  NodeLocation destination_;
  NodeLocation location_;
  std::shared_ptr<const Format> replacing_ = nullptr;  ///< the format of the node, if it is not that of the destination
  std::string maker_;
  std::string prefix_;  ///< below which the node is until it is moved to its path
  ClearOptions clear_;
  bool shares_prefix_ = false;  ///< the maker that is resumed may still be active
  bool partly_moved_ = false;   ///< a killed maker may have moved a part of a node to its path
  bool committing_ = false;     ///< what existed there is being erased, or has been
  std::unique_ptr<StoreLock> lock_;
  std::unique_ptr<MovingNote> moving_;
};

/// Lists a node that was made, and its members at the paths `below`, in the groups around it.
Result<void> list_node(const NodeLocation& node, const std::vector<std::string>& below);

/// Takes the lock of the node if a maker is active at `location`, waiting for it, or has left something there.
Result<void> lock_if_staged(const NodeLocation& location, std::unique_ptr<StoreLock>& lock);
/// Erases leftovers of a killed maker. The caller must hold the lock of the node; otherwise the maker may be active.
Result<void> erase_staged(const NodeLocation& location);

/// Leftovers next to a node's path of a maker that failed or was killed.
class StagedLeftover {
 public:
  /// Looks for leftovers with this note.
  static Result<StagedLeftover> find(const NodeLocation& destination, std::string_view note);

  /// Whether there are leftovers with this note; with another one.
  [[nodiscard]] bool is_same() const noexcept { return is_same_; }
  [[nodiscard]] bool is_other() const noexcept { return is_other_; }
  /// The name of the maker that left it.
  [[nodiscard]] const std::string& maker() const noexcept { return maker_; }
  /// Whether everything has been moved to the node's path.
  [[nodiscard]] bool is_in_place() const noexcept { return in_place_; }
  /// Erases the leftovers, waiting for an active maker to end.
  [[nodiscard]] Result<void> erase(const NodeLocation& destination) const;

 private:
  std::string maker_;
  bool is_same_ = false, is_other_ = false, in_place_ = false;
};

/// Creates an array and calls `contents` to write into it; if that fails, nothing changes. A failure while moving it to
/// its path is reported with the location of the rest.
Result<void> create_with(const NodeLocation& destination, const NodeDocument& node, bool overwrite,
                         const std::function<Result<void>(const Array&)>& contents);

}  // namespace sherd
