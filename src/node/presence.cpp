#include "node/presence.hpp"

#include "base/try.hpp"
#include "node/document.hpp"

namespace sherd {

bool is_own_fault(const NodeLocation& location, const Error& error) {
  return is_stored_fault(error) && location.format->keys(location.path).is_document(error.key());
}

Error no_node_at(const NodeLocation& location) {
  return not_found("no node exists here").in_key(location.format->likeliest_key(location.path));
}

Result<Presence> presence(const NodeLocation& location) {
  auto node = location.format->open(*location.store, location.path, location.config.limits);
  if (!node && is_stored_fault(node.error())) return Presence::stored;
  if (!node) return std::move(node).error();
  if (!*node) return Presence::none;
  return (*node)->implicit ? Presence::implicit : Presence::stored;
}

Result<Presence> own_presence(const NodeLocation& location) {
  const auto node = location.format->open(*location.store, location.path, location.config.limits);
  if (node) return !*node ? Presence::none : (*node)->implicit ? Presence::implicit : Presence::stored;
  if (!is_stored_fault(node.error())) return node.error();
  return is_own_fault(location, node.error()) ? Presence::stored : Presence::none;
}

Result<bool> any_format(const NodeLocation& location,
                        const std::function<Result<bool>(const NodeLocation& there)>& visit) {
  NodeLocation there = location;
  for (const Format* format : location.tables.formats) {
    there.format = location.format;
    if (!location.format || location.format->name() != format->name()) {
      SHERD_TRY(bound, format->in(*location.store, location.config.limits));
      there.format = std::move(bound);
    }
    if (!there.format) continue;
    SHERD_TRY(done, visit(there));
    if (done) return true;
  }
  return false;
}

}  // namespace sherd
