// A node that is made together with its contents: a copy, an import, an array that is created with its elements.
// Where the store renames, it is made next to its path and moved there when it is complete, so until then readers find
// what existed before, or nothing. Elsewhere its objects are stored at their keys, and its documents last.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/claim.hpp"
#include "node/creation.hpp"
#include "node/deferred_documents.hpp"
#include "node/node_location.hpp"

namespace sherd {

/// Identifies what is being made, so that another call can resume it; empty if none can.
struct NewNodeNote {
  std::string text = {};
  bool resume = false;
};

class NewNode {
 public:
  /// Begins a node at `destination` (writable, its format given). Waits while another is made there; in a store without
  /// locks that is a `conflict` which names the other's claim. `conflict` as for create_array_at(). With `note.resume`,
  /// continues what a process that has ended left with the same note; `conflict` if its note is different.
  static Result<NewNode> begin(NodeLocation destination, ClearOptions clear, const NewNodeNote& note = {});

  /// Where to create the node and everything below it: in a store of its own, documents with write_documents().
  [[nodiscard]] const NodeLocation& location() const noexcept { return location_; }
  /// The node has this format, and replaces a node of the destination's format, which is the root of its store.
  void replace_with(std::shared_ptr<const Format> format);
  /// An error in making the node, with keys as they will be at its path.
  [[nodiscard]] Error outward(const Error& error) const;
  /// Abandons the node: erases it, unless it is being moved to its path, where it may be the only copy.
  Result<void> abandon() const;
  /// Makes the node visible at its path, with the groups above it, replacing what exists there, and updates
  /// consolidated metadata around it. `below` are the paths of its members. After a failure before anything at the
  /// destination has changed, the node can be abandoned. A later failure leaves the new node in two locations, and the
  /// next copy to this destination with `resume` joins them.
  Result<void> commit(const std::vector<std::string>& below = {});

 private:
  NewNode() = default;
  Result<void> begin_beside(const NewNodeNote& note);
  Result<void> begin_in_place(const NewNodeNote& note);
  [[nodiscard]] Result<bool> exchange();
  [[nodiscard]] Result<bool> move_at_once() const;
  Result<void> put_in_place(bool occupied);
  Result<void> commit_beside();
  Result<void> commit_in_place();

  NodeLocation destination_;
  NodeLocation location_;
  std::shared_ptr<const Format> replacing_ = nullptr;  ///< the format of the node, if it is not that of the destination
  ClearOptions clear_;
  std::string prefix_;  ///< below which the node is until it is moved to its path; empty if it is made there
  std::optional<DeferredDocuments> documents_;  ///< of a node that is made at its path
  bool resumed_ = false;
  bool was_claimed_ = false;  ///< a killed process may have moved a part of a node to its path
  bool committing_ = false;   ///< what existed there is being erased, or has been
  std::unique_ptr<StoreLock> lock_;
  std::optional<Claim> claim_;
};

/// Lists a node that was made, and its members at the paths `below`, in the groups around it.
Result<void> list_node(const NodeLocation& node, const std::vector<std::string>& below);

/// What a process that failed or was killed has left of a node that it was making: nothing; a node with another note;
/// one with this note that is, at least in part, still next to its path; or one whose objects are all at its path.
enum class Unfinished : std::uint8_t { none, of_another, beside, in_place };
Result<Unfinished> find_unfinished(const NodeLocation& destination, std::string_view note);
/// Erases what is left next to the path, waiting for an active process to end.
Result<void> erase_left(const NodeLocation& destination);

}  // namespace sherd
