// Erases nodes. Their documents go first, because an array without some of its objects would read as fill values. A
// claim (node/claim.hpp) exists from before the first object is erased until after the last, so that a kill does not
// leave objects that no reader knows about.
#include "node/erase.hpp"

#include <algorithm>

#include "base/call.hpp"
#include "base/try.hpp"
#include "node/claim.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "node/document_keys.hpp"
#include "node/foreign_objects.hpp"
#include "store/capabilities.hpp"
#include "store/listing.hpp"

namespace sherd {
namespace {

/// Erases the documents of the node, and of any node of another format at its path, which would lose its contents.
Result<void> erase_documents(const NodeLocation& location) {
  const NodeKeys own = location.format->keys(location.path);
  for (const std::string& key : own.documents) SHERD_TRY(location.store->erase(key));
  for (const Format* other : location.tables.formats) {
    if (other->name() == location.format->name()) continue;
    for (const std::string& key : other->keys(location.path).documents) {
      if (std::ranges::none_of(own.contents, [&](const std::string& prefix) { return key.starts_with(prefix); }))
        continue;
      const auto erased = location.store->erase(key);
      if (!erased.has_value() && !is_stored_fault(erased.error()))
        return erased.error();  // a directory is not a document
    }
  }
  return {};
}

/// Erases the documents of all nodes below `prefix`. Where objects are in directories, erase_prefix() erases those of a
/// directory before those of the directories in it, and so documents before what they describe.
Result<void> erase_member_documents(const NodeLocation& location, const std::string& prefix) {
  if (renaming(*location.store, prefix) != nullptr) return {};
  const DocumentKeys documents(location);
  std::vector<std::string> keys;
  SHERD_TRY(location.store->visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    std::string key = prefix + std::string(entry.name);
    if (documents.has(key)) keys.push_back(std::move(key));
    return true;
  }));
  return location.store->erase_all(keys);
}

}  // namespace

Result<void> erase_contents(const NodeLocation& location) {
  const NodeKeys keys = location.format->keys(location.path);
  for (const std::string& prefix : keys.contents) {
    SHERD_TRY(erase_member_documents(location, prefix));
    SHERD_TRY(below, erase_objects(*location.store, prefix, [&](const auto& key) { return keys.is_document(key); }));
    for (const std::string& name : below)
      if (!is_staging(name)) SHERD_TRY(location.store->erase_prefix(prefix + name + "/"));
  }
  return {};
}

Result<void> wait_for_writers(const NodeLocation& location) {
  return as_call(location.config, [&]() -> Result<void> {
    for (const std::string& prefix : location.format->contents(location.path))
      SHERD_TRY(location.store->wait_for_writers(prefix));
    return {};
  });
}

// A writer that confirmed its array's document before that was erased may still store a chunk; later ones do not. So
// after the documents are gone, including those below, this waits for active writers, and what they have stored is
// erased too (docs/decisions/0014).
Result<void> clear_location(const NodeLocation& location) {
  SHERD_TRY(listed, location.tables.changed(location, MemberChange::leaving, nullptr));
  SHERD_TRY(unlist(location));
  SHERD_TRY(erase_documents(location));
  SHERD_TRY(erase_contents(location));
  if (location.store->traits().locks) {
    SHERD_TRY(wait_for_writers(location));
    SHERD_TRY(erase_contents(location));
  }
  if (listed)
    SHERD_TRY(location.tables.changed(location, MemberChange::made, nullptr));  // its creator may have listed it late
  return {};
}

namespace {

using Locks = std::vector<std::unique_ptr<StoreLock>>;

/// Waits for the processes that are making nodes in the store whose root is erased, and keeps their locks. What they
/// have made so far is below the root.
Result<Locks> lock_staging(const NodeLocation& location) {
  Locks locks;
  if (!location.path.empty() || !location.store->traits().locks) return locks;
  SHERD_TRY(root, location.store->list_dir(""));
  for (const std::string& name : root.prefixes) {
    if (!is_staging(name) || name == staging_name(location.path)) continue;
    SHERD_TRY(lock, as_call(location.config, [&] { return location.store->lock(name); }));
    locks.push_back(std::move(lock));
  }
  return locks;
}

}  // namespace

Result<void> erase_node(const NodeLocation& location) {
  SHERD_TRY(require_writable(location));
  if (!location.store->traits().can_list) return cannot_list(*location.store);
  if (!location.format->arrays_have_documents()) {
    SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
    if (node && node->type == NodeType::array)
      return unsupported("an array of this format is described in the document of its group; erase the group")
          .in_key(location.format->document_key(location.path, NodeType::array));
  }
  SHERD_TRY(lock, lock_node(location));
  SHERD_TRY(staging, lock_staging(location));
  SHERD_TRY(refuse_foreign_objects(location));
  SHERD_TRY(wait_for_writers(location));
  SHERD_TRY(claim, Claim::take(location, "", Claim::Existing::is_taken_over));
  if (auto alone = refuse_overlapping(location); !alone) {
    claim.undo();
    return alone;
  }
  SHERD_TRY(clear_location(location));
  for (const std::string& prefix : location.format->contents(location.path))
    SHERD_TRY(location.store->erase_prefix(prefix));
  SHERD_TRY(claim.end());
  return renew_consolidated(location);
}

}  // namespace sherd
