// A node that is made next to its path, and put there when it is whole: until then readers find
// what existed before, or nothing; what a failure or a kill leaves disturbs no other process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/hierarchy.hpp"
#include "array/state.hpp"

namespace sherd {

/// What a maker notes about the node that it is making, so that another call can resume it; empty if none can.
struct StagedNote {
  std::string text = {};
  bool resume = false;
};

class StagedNode {
 public:
  /// Begins a node at `destination` (writable, its format given); waits while another is made there, in a store without
  /// locks until commit(), which is a `conflict` then. `conflict` as create_array_at(). If `note.resume` is set, it
  /// goes on with what a maker that has ended left with the same note; `conflict` if that has another.
  static Result<StagedNode> begin(NodeLocation destination, ClearOptions clear, const StagedNote& note = {});

  /// Where to make the node and all below it: documents by write_documents(), in a store of its own.
  [[nodiscard]] const NodeLocation& location() const noexcept { return location_; }
  /// The node is of this format, and replaces one of the destination's; that is the root of its store.
  void replace_with(std::shared_ptr<const Format> format);
  /// An error in making the node, by the keys that it will have at its path; `conflict` if another maker was first.
  [[nodiscard]] Error outward(const Error& error) const;
  /// Abandons the node: erases what was made, unless it is being moved to its path, where it may be the only copy.
  Result<void> abandon() const;
  /// Moves the node to its path, with the groups above it, replacing what exists there; then consolidated
  /// metadata around it follow. `below` are the paths of its members. What fails before anything of the destination
  /// has changed can be abandoned; a later failure leaves the new node in two locations, and the
  /// next copy to this destination with `resume` joins them. `conflict` if another maker was first.
  Result<void> commit(const std::vector<std::string>& below = {});

 private:
  StagedNode() = default;
  [[nodiscard]] std::string note_key() const;
  Result<void> put_in_place(bool occupied) const;
  [[nodiscard]] Result<void> refuse_erased() const;

  NodeLocation destination_;
  NodeLocation location_;
  std::shared_ptr<const Format> replacing_ = nullptr;  ///< the format of the node, if it is not that of the destination
  std::string maker_;
  std::string prefix_;  ///< below which the node is until it is moved to its path
  ClearOptions clear_;
  bool shares_prefix_ = false;  ///< the maker that is resumed may be at work after all
  bool partly_moved_ = false;   ///< a killed maker may have moved a part of a node to its path
  bool committing_ = false;     ///< what existed there is being erased, or is erased
  std::unique_ptr<StoreLock> lock_;
  std::unique_ptr<MovingNote> moving_;
};

/// Takes the lock of the node if a maker is at work at `location`, which is waited for, or has left something there.
Result<void> lock_if_staged(const NodeLocation& location, std::unique_ptr<StoreLock>& lock);
/// Erases what a killed maker has left. The caller holds the lock of the node: without it, the maker may be at work.
Result<void> erase_staged(const NodeLocation& location);

/// What a maker that failed or was killed has left next to a node's path.
class StagedLeftover {
 public:
  /// Looks for what was left with this note.
  static Result<StagedLeftover> find(const NodeLocation& destination, std::string_view note);

  /// Whether there is something with this note; with another one.
  [[nodiscard]] bool is_same() const noexcept { return is_same_; }
  [[nodiscard]] bool is_other() const noexcept { return is_other_; }
  /// The name of the maker that left it.
  [[nodiscard]] const std::string& maker() const noexcept { return maker_; }
  /// Whether all of it has been moved to the node's path.
  [[nodiscard]] bool is_in_place() const noexcept { return in_place_; }
  /// Erases it, after any maker that is at work there.
  [[nodiscard]] Result<void> erase(const NodeLocation& destination) const;

 private:
  std::string maker_;
  bool is_same_ = false, is_other_ = false, in_place_ = false;
};

/// Makes an array and what `contents` writes into it, whose failure leaves everything as it was. A failure on the way
/// into its path is reported with the location of the rest.
Result<void> create_with(const NodeLocation& destination, const NodeDocument& node, bool overwrite,
                         const std::function<Result<void>(const Array&)>& contents);

}  // namespace sherd
