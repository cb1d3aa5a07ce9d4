#include "node/storage_kind.hpp"

#include "base/try.hpp"

namespace sherd {

Result<void> StorageKind::lay_out(const NodeLocation&, NodeDocument&, const CreateOptions&) const {
  return unsupported("arrays with this layout cannot be created");
}

Result<std::optional<NodeLocation>> StorageKind::counterpart(const NodeLocation&, const NodeDocument&) const {
  return std::optional<NodeLocation>();
}

const StorageKind* find_storage(const Tables& tables, Layout layout) noexcept {
  if (layout == Layout::plain) return nullptr;
  for (const StorageKind* kind : tables.storages)
    if (kind->layout() == layout) return kind;
  return nullptr;
}

Result<std::optional<NodeLocation>> find_counterpart(const NodeLocation& location, const NodeDocument& node) {
  for (const StorageKind* kind : location.tables.storages) {
    SHERD_TRY(counterpart, kind->counterpart(location, node));
    if (counterpart) return counterpart;
  }
  return std::optional<NodeLocation>();
}

Json keep_storage_attributes(const NodeLocation& location, const Json& present, Json attributes) {
  for (const StorageKind* kind : location.tables.storages)
    if (const Json* value = kind->attribute().empty() ? nullptr : present.find(kind->attribute()))
      attributes.set(std::string(kind->attribute()), *value);
  return attributes;
}

}  // namespace sherd
