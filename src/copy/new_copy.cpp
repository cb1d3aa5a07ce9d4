#include "copy/new_copy.hpp"

#include "base/try.hpp"
#include "node/new_node.hpp"

namespace sherd {
namespace {

// Whether a retry can continue after this failure; any other failure would occur again.
bool can_be_resumed(const Error& error) {
  return error.code() == ErrorCode::io || error.code() == ErrorCode::unavailable;
}

}  // namespace

Result<void> make_new_copy(const NodeLocation& destination, const NewCopy& copy, const CopyOptions& options) {
  SHERD_TRY(node, NewNode::begin(destination, copy.clear, {copy.note, options.resume}));
  auto made = copy.make(node.location());
  if (!made) made = node.outward(made.error());
  if (made) made = node.commit(copy.below);
  if (!made && !can_be_resumed(made.error())) (void)node.abandon();  // the first failure is the one to report
  return made;
}

// Documents are written last, so the copy was finished, unless this is an older document that a copy was to
// overwrite. Without leftovers of this copy, only the caller knows: with `overwrite`, it is an older one.
Result<bool> complete_copy(const NodeLocation& destination, const NewCopy& copy) {
  SHERD_TRY(left, find_unfinished(destination, copy.note));
  if (left == Unfinished::beside || (left != Unfinished::in_place && copy.clear.overwrite)) return false;
  NodeLocation location = destination;
  SHERD_TRY(enter(location));
  SHERD_TRY(copy.make(location));
  SHERD_TRY(list_node(location, copy.below));
  if (left != Unfinished::of_another) SHERD_TRY(erase_left(destination));
  return true;
}

}  // namespace sherd
