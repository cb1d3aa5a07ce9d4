// Erases nodes. Their documents go first, because an array without some of its objects would read as fill values. A
// note of the operation (MovingNote) exists at the store's root from before the first object is erased until after the
// last, so that a kill does not leave objects that no reader knows about.
#include <algorithm>

#include "array/consolidated.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "store/listing.hpp"

namespace sherd {
namespace {

Result<void> erase_contents(const NodeLocation& location) {
  const NodeKeys keys = location.format->keys(location.path);
  for (const std::string& prefix : keys.contents) {
    SHERD_TRY(below, erase_objects(*location.store, prefix, [&](const auto& key) { return keys.is_document(key); }));
    for (const std::string& name : below)
      if (!is_staging(name)) SHERD_TRY(location.store->erase_prefix(prefix + name + "/"));
  }
  return {};
}

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

}  // namespace

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
  SHERD_TRY(listed, location.tables.changed(location, MemberChange::leaving));
  SHERD_TRY(unlist(location));
  SHERD_TRY(erase_documents(location));
  SHERD_TRY(erase_contents(location));
  SHERD_TRY(wait_for_writers(location));
  SHERD_TRY(erase_contents(location));
  if (listed) SHERD_TRY(location.tables.changed(location, MemberChange::made));  // its creator may have listed it late
  return {};
}

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
  SHERD_TRY(wait_for_writers(location));
  SHERD_TRY(note, MovingNote::store(location, new_maker(), true));
  SHERD_TRY(clear_location(location));
  for (const std::string& prefix : location.format->contents(location.path))
    SHERD_TRY(location.store->erase_prefix(prefix));
  SHERD_TRY(note->end());
  return renew_consolidated(location);
}

}  // namespace sherd
