// Replaces metadata documents without losing another writer's change. A lock, if the store has one, makes writers wait
// for each other. The conditions on generations catch the others: an edit reads, changes and replaces the documents,
// and begins again if another writer was first.
#include "array/document.hpp"

#include <algorithm>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "store/retry.hpp"

namespace sherd {

namespace {

Result<DocumentVersion> write_one(Store& store, const Document& document, const Condition& condition) {
  const auto write = [&]() -> Result<Generation> {
    SHERD_TRY(writer, store.write(document.key, document.text.size()));
    SHERD_TRY(writer->write(0, as_bytes(document.text)));
    SHERD_TRY(writer->commit(condition));
    return writer->committed();
  };
  SHERD_TRY(generation, write().in_key(document.key));
  return DocumentVersion{document.key, std::move(generation)};
}

Result<void> check_texts(std::span<const Document> documents, const Limits& limits) {
  for (const Document& document : documents) SHERD_TRY(check_text(document.text, limits).in_key(document.key));
  return {};
}

const DocumentVersion* find_version(const NodeDocument& node, const std::string& key) {
  const auto found = std::ranges::find(node.versions, key, &DocumentVersion::key);
  return found == node.versions.end() ? nullptr : &*found;
}

/// Replaces the documents of `present` that differ from those in `next`, and returns the versions of all.
Result<std::vector<DocumentVersion>> replace_documents(const NodePlace& place, const NodeDocument& present,
                                                       std::span<const Document> next) {
  SHERD_TRY(check_texts(next, place.config.limits));
  const std::vector<Document> now = place.format->documents(place.path, present.document);
  std::vector<DocumentVersion> versions;
  for (const Document& document : next) {
    const DocumentVersion* version = find_version(present, document.key);
    const auto same = std::ranges::find(now, document.key, &Document::key);
    if (version != nullptr && same != now.end() && same->text == document.text) {
      versions.push_back(*version);
      continue;
    }
    const Condition unchanged = version != nullptr ? Condition::matches(version->generation) : Condition::absent();
    SHERD_TRY(written, write_one(*place.store, document, unchanged));
    versions.push_back(std::move(written));
  }
  return versions;
}

bool same_texts(std::span<const Document> a, std::span<const Document> b) {
  return std::ranges::equal(a, b, {}, &Document::text, &Document::text);
}

Result<NodeDocument> edit_once(const NodePlace& place, NodeType type, const DocumentEdit& edit) {
  const Format& format = *place.format;
  const std::string key = format.document_key(place.path, type);
  SHERD_TRY(lock, place.store->lock(key));
  SHERD_TRY(present, format.open(*place.store, place.path, place.config.limits));
  if (!present || present->type != type)
    return not_found(std::string("the ") + (type == NodeType::array ? "array" : "group") + " is gone").in_key(key);
  SHERD_TRY(document, edit(*present));
  const std::vector<Document> next = format.documents(place.path, document);
  if (same_texts(format.documents(place.path, present->document), next)) return *std::move(present);
  SHERD_TRY(changed, format.lower(std::move(document), place.config.limits).in_key(key));
  // Where chunks are can be more than the document says; only open() looks at them.
  if (changed.array && present->array) changed.array->keys = present->array->keys;
  SHERD_TRY(versions, replace_documents(place, *present, next));
  changed.versions = std::move(versions);
  return changed;
}

}  // namespace

Result<NodeDocument> edit_document(const NodePlace& place, NodeType type, const DocumentEdit& edit) {
  SHERD_TRY(require_writable(place));
  return as_call(place.config,
                 [&] { return retry_conflicts(place.config, [&] { return edit_once(place, type, edit); }); });
}

Result<std::vector<DocumentVersion>> write_documents(const NodePlace& place, const Json& document,
                                                     const Condition& condition) {
  const std::vector<Document> documents = place.format->documents(place.path, document);
  SHERD_TRY(check_texts(documents, place.config.limits));
  std::vector<DocumentVersion> versions;
  for (const Document& each : documents) {
    // A killed creator may have left documents that make nothing visible; they are replaced.
    Condition own = condition;
    if (condition.kind == Condition::Kind::absent && &each != &documents.back()) {
      SHERD_TRY(visible, stored_generation(*place.store, documents.back().key));
      if (visible) return Error(conflict("another writer has made it")).in_key(documents.back().key);
      SHERD_TRY(left, stored_generation(*place.store, each.key));
      if (left) own = Condition::matches(*std::move(left));
    }
    SHERD_TRY(written, write_one(*place.store, each, own));
    versions.push_back(std::move(written));
  }
  return versions;
}

Result<void> check_documents(const NodePlace& place, const Json& document) {
  return check_texts(place.format->documents(place.path, document), place.config.limits);
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
  SHERD_TRY(write_documents(other, node.counterpart->document, {}));
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
      .in_key(place.format->likeliest_key(place.path));
}

}  // namespace sherd
