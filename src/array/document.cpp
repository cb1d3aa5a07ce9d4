// Replaces a metadata document without losing another writer's change. A lock, if the store has one, makes writers wait
// for each other. The condition on the generation catches the others: an edit reads, changes and replaces the document,
// and begins again if another writer was first.
#include "array/document.hpp"

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "store/retry.hpp"

namespace sherd {

namespace {

Result<NodeDocument> edit_once(const NodePlace& place, NodeType type, const DocumentEdit& edit) {
  const std::string key = place.format->document_key(place.path, type);
  SHERD_TRY(lock, place.store->lock(key));
  SHERD_TRY(present, place.format->open(*place.store, place.path, place.config.limits));
  if (!present || present->type != type)
    return not_found(std::string("the ") + (type == NodeType::array ? "array" : "group") + " is gone").in_key(key);
  SHERD_TRY(document, edit(*present));
  if (place.format->text(document) == place.format->text(present->document)) return *std::move(present);
  SHERD_TRY(changed, place.format->lower(document, place.config.limits).in_key(key));
  const Condition same = present->implicit ? Condition::absent() : Condition::matches(present->generation);
  SHERD_TRY(generation, write_document(place, type, document, same));
  changed.generation = std::move(generation);
  return changed;
}

}  // namespace

Result<NodeDocument> edit_document(const NodePlace& place, NodeType type, const DocumentEdit& edit) {
  SHERD_TRY(require_writable(place));
  return as_call(place.config,
                 [&] { return retry_conflicts(place.config, [&] { return edit_once(place, type, edit); }); });
}

Result<Generation> write_document(const NodePlace& place, NodeType type, const Json& document,
                                  const Condition& condition) {
  const std::string key = place.format->document_key(place.path, type);
  const std::string text = place.format->text(document);
  SHERD_TRY(check_text(text, place.config.limits).in_key(key));
  SHERD_TRY(writer, place.store->write(key, text.size()).in_key(key));
  SHERD_TRY(writer->write(0, as_bytes(text)).in_key(key));
  SHERD_TRY(writer->commit(condition).in_key(key));
  return writer->committed();
}

Result<void> check_text(std::string_view text, const Limits& limits) {
  if (text.size() > limits.metadata_bytes)
    return unsupported("the metadata would take " + std::to_string(text.size()) + " bytes, more than the limit " +
                       "metadata_bytes = " + std::to_string(limits.metadata_bytes));
  auto parsed = Json::parse(text, limits.json_depth, limits.json_values);
  if (!parsed) return std::move(parsed).error().in("the metadata could not be opened again");
  return {};
}

// By trying: no file system says so.
Result<void> check_links(const NodePlace& place, const NodeDocument& node) {
  if (!node.counterpart) return {};
  Store& store = *place.store;
  const std::string prefix = place.format->chunk_prefix(place.path) + ".sherd-two-names-";
  const std::string first = prefix + "1", second = prefix + "2";
  const auto make = [&]() -> Result<void> {
    SHERD_TRY(writer, store.write(first));
    SHERD_TRY(writer->link(second));
    return writer->commit();
  };
  SHERD_TRY(make());
  SHERD_TRY(store.erase(second));
  SHERD_TRY(store.erase(first));
  return {};
}

Result<void> write_counterpart(const NodePlace& place, const NodeDocument& node) {
  if (!node.counterpart) return {};
  NodePlace other = place;
  other.format = node.counterpart->format;
  SHERD_TRY(write_document(other, NodeType::group, node.counterpart->document, {}));
  return {};
}

Result<std::optional<Generation>> stored_generation(Store& store, const std::string& key) {
  SHERD_TRY(source, store.open(key));
  if (source == nullptr) return std::optional<Generation>();
  SHERD_TRY(generation, source->generation());
  return std::optional(std::move(generation));
}

Result<UpdatedAttributes> updated_attributes(Json attributes, const Json& set, std::span<const std::string> remove) {
  if (!set.is_object()) return invalid_argument("attributes are a JSON object").in_member("attributes");
  UpdatedAttributes updated{std::move(attributes)};
  if (updated.attributes.is_null()) updated.attributes = Json(Json::Object{});
  for (const std::string& name : remove) updated.removed += updated.attributes.erase(name) ? 1 : 0;
  for (const auto& [name, value] : set.members()) updated.attributes.set(name, value);
  return updated;
}

Error stored_error(Error error) {
  if (error.code() != ErrorCode::invalid_argument) return error;
  Error stored = corrupt(error.message()).in_key(error.key()).in_member(error.member());
  if (error.slot()) return std::move(stored).in_slot(*error.slot());
  return stored;
}

bool is_stored_fault(const Error& error) noexcept {
  return error.code() == ErrorCode::corrupt || error.code() == ErrorCode::unsupported;
}

Result<void> require_writable(const NodePlace& place) {
  if (place.writable) return {};
  return invalid_argument("opened for reading only; open it writable to change it")
      .in_key(place.format->probes(place.path).front());
}

}  // namespace sherd
