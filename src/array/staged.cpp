// The node is made below `.sherd-new-HASH/` at the store's root, HASH being that of its path, under a lock of that
// name which ends with the process that holds it. So what stands below it when the lock has been taken was left by
// somebody who is gone.
#include "array/staged.hpp"

#include <utility>

#include "array/consolidated.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"

namespace sherd {
Result<StagedNode> StagedNode::begin(NodePlace destination, bool overwrite, bool resume) {
  StagedNode staged;
  const std::string name = staging_name(destination.path);
  staged.prefix_ = name + "/";
  staged.overwrite_ = overwrite;
  Store& store = *destination.store;
  SHERD_TRY(require_writable(destination));
  SHERD_TRY(lock, store.lock(name));
  staged.lock_ = std::move(lock);
  SHERD_TRY(left, store.list_dir(staged.prefix_));
  staged.interrupted_before_ = !left.objects.empty() || !left.prefixes.empty();
  SHERD_TRY(check_room(destination, {overwrite, staged.interrupted_before_}));
  if (staged.interrupted_before_ && !resume) SHERD_TRY(store.erase_prefix(staged.prefix_));
  staged.place_ = destination;
  staged.place_.store = prefixed_store(destination.store, staged.prefix_);
  staged.place_.format = destination.format->entered();
  staged.destination_ = std::move(destination);
  return staged;
}

Result<void> StagedNode::abandon() const { return destination_.store->erase_prefix(prefix_); }

Result<void> StagedNode::commit(const std::vector<std::string>& below) {
  SHERD_TRY(enter(destination_));
  SHERD_TRY(make_room(destination_, {overwrite_, interrupted_before_}));
  SHERD_TRY(destination_.store->move_prefix(prefix_, ""));
  return renew_consolidated(destination_, below);
}

}  // namespace sherd
