// A node that is made beside the place where it will stand, and put there when it is whole: until then readers find
// what stood there before, or nothing, and what a failure or a kill leaves is in nobody's way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array/hierarchy.hpp"
#include "array/state.hpp"

namespace sherd {

class StagedNode {
 public:
  /// Begins a node at `destination` (writable, its format given); waits while another is made there. `conflict` as
  /// create_array_at(). What a killed maker left stays where `resume` is set, and goes otherwise.
  static Result<StagedNode> begin(NodePlace destination, RoomOptions room, bool resume = false);

  /// Where to make the node and all below it: documents by write_documents(), in a store of its own.
  [[nodiscard]] const NodePlace& place() const noexcept { return place_; }
  /// Where, in the destination's store, its maker may note what it is making: it stands until the node is in its place.
  [[nodiscard]] std::string note_key() const;
  /// Gives up: erases what was made, unless it is being put into its place, where it may be all that is left.
  Result<void> abandon() const;
  /// Puts the node into its place, with the groups on the way there, instead of what stands there; then consolidated
  /// metadata around it follow. `below` are the paths of its members. What fails before anything of the destination
  /// has changed can be abandoned; what fails on the way leaves the new node in two parts, of which the next one to be
  /// begun there, with `resume`, makes one.
  Result<void> commit(const std::vector<std::string>& below = {});

 private:
  StagedNode() = default;
  Result<void> put_in_place(bool occupied) const;

  NodePlace destination_;
  NodePlace place_;
  std::string prefix_;  ///< of all that is there until the node is in its place
  RoomOptions room_;
  bool partly_moved_ = false;  ///< a killed maker may have put a part of a node into its place
  bool committing_ = false;    ///< what stood there is going, or gone
  std::unique_ptr<StoreLock> lock_;
};

/// What a maker that failed or was killed has left beside a node's place.
class StagedLeftover {
 public:
  static Result<StagedLeftover> find(const NodePlace& destination);

  /// What it noted, if it noted anything.
  [[nodiscard]] const std::optional<std::string>& note() const noexcept { return note_; }
  /// Whether the node is in its place: all of it had been moved there, or none was noted.
  [[nodiscard]] bool is_in_place() const noexcept { return in_place_; }
  /// Erases it, after any maker that is at work there.
  [[nodiscard]] Result<void> erase(const NodePlace& destination) const;

 private:
  std::string prefix_;
  std::optional<std::string> note_;
  bool in_place_ = true;
};

/// Makes an array and whatever `contents` puts into it, whose failure leaves everything as it was. A failure on the way
/// into its place is told with where the rest of it stands.
Result<void> create_with(const NodePlace& destination, const NodeDocument& node, bool overwrite,
                         const std::function<Result<void>(const Array&)>& contents);

}  // namespace sherd
