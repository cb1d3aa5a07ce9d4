// Replaces metadata documents without losing changes by other writers. A lock, if the store has one, makes writers wait
// for each other. Conditions on generations handle the others: an edit reads, changes and replaces the documents, and
// starts again if another writer was first.
#include "node/document.hpp"

#include <algorithm>
#include <utility>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/lenient.hpp"
#include "base/try.hpp"
#include "store/retry.hpp"

namespace sherd {

namespace {

const DocumentVersion* find_version(const NodeDocument& node, const std::string& key) {
  const auto found = std::ranges::find(node.versions, key, &DocumentVersion::key);
  return found == node.versions.end() ? nullptr : &*found;
}

/// Replaces the documents of `present` that differ in `next`, and returns the versions of all documents.
Result<std::vector<DocumentVersion>> replace_documents(const NodeLocation& location, const NodeDocument& present,
                                                       std::span<const Document> next) {
  SHERD_TRY(check_texts(next, location.config.limits));
  const std::vector<Document> now = location.format->documents(location.path, present.document);
  std::vector<DocumentVersion> versions;
  for (const Document& document : next) {
    const DocumentVersion* version = find_version(present, document.key);
    const auto same = std::ranges::find(now, document.key, &Document::key);
    if (version != nullptr && same != now.end() && same->text == document.text) {
      versions.push_back(*version);
      continue;
    }
    const Condition unchanged = version != nullptr ? Condition::matches(version->generation) : Condition::absent();
    SHERD_TRY(written, write_document(*location.store, document, unchanged));
    versions.push_back(std::move(written));
  }
  return versions;
}

bool same_texts(std::span<const Document> a, std::span<const Document> b) {
  return std::ranges::equal(a, b, {}, &Document::text, &Document::text);
}

/// Stores `document` in the place of `present`.
Result<NodeDocument> replace_node(const NodeLocation& location, const NodeDocument& present, Json document,
                                  std::span<const Document> next) {
  SHERD_TRY(changed, location.format->lower(std::move(document), location.config.limits));
  // The location of chunks may depend on more than the document; only open() determines it.
  if (changed.array && present.array) changed.array->keys = present.array->keys;
  SHERD_TRY(versions, replace_documents(location, present, next));
  changed.versions = std::move(versions);
  return changed;
}

Result<NodeDocument> edit_once(const NodeLocation& location, NodeType type, const DocumentEdit& edit) {
  const Format& format = *location.format;
  const std::string key = format.document_key(location.path, type);
  SHERD_TRY(lock, location.store->lock(key));
  SHERD_TRY(present, format.open(*location.store, location.path, location.config.limits));
  if (!present || present->type != type)
    return not_found(std::string("the ") + (type == NodeType::array ? "array" : "group") + " no longer exists")
        .in_key(key);
  SHERD_TRY(document, edit(*present));
  const std::vector<Document> next = format.documents(location.path, document);
  if (same_texts(format.documents(location.path, present->document), next)) return *std::move(present);
  return replace_node(location, *present, std::move(document), next).in_key(key);
}

/// Edits the node as the caller knows it; nullopt if only the stored version can tell what the result is. A node of
/// several documents may have lost the one that makes it visible.
Result<std::optional<NodeDocument>> edit_known(const NodeLocation& location, const DocumentEdit& edit,
                                               const NodeDocument& known) {
  const Format& format = *location.format;
  const bool is_version = known.versions.size() == 1 && !known.generation().token.empty();
  if (!is_version || location.store->traits().locks) return std::optional<NodeDocument>();
  auto document = edit(known);
  if (!document) return std::optional<NodeDocument>();
  const std::vector<Document> next = format.documents(location.path, *document);
  if (next.size() != 1 || same_texts(format.documents(location.path, known.document), next))
    return std::optional<NodeDocument>();
  SHERD_TRY(changed, replace_node(location, known, *std::move(document), next).in_key(known.versions.front().key));
  return std::optional(std::move(changed));
}

}  // namespace

Result<DocumentVersion> write_document(Store& store, const Document& document, const Condition& condition) {
  const auto write = [&]() -> Result<Generation> {
    SHERD_TRY(writer, store.write(document.key, {.size = document.text.size()}));
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

Result<NodeDocument> edit_document(const NodeLocation& location, NodeType type, const DocumentEdit& edit,
                                   const NodeDocument* known) {
  SHERD_TRY(require_writable(location));
  const auto attempt = [&]() -> Result<NodeDocument> {
    if (const NodeDocument* const first = std::exchange(known, nullptr)) {
      SHERD_TRY(edited, edit_known(location, edit, *first));
      if (edited) return *std::move(edited);
    }
    return edit_once(location, type, edit);
  };
  return as_call(location.config, [&] { return retry_conflicts(location.config, attempt); });
}

Result<std::vector<DocumentVersion>> write_documents(const NodeLocation& location, const Json& document,
                                                     const Condition& condition) {
  const std::vector<Document> documents = location.format->documents(location.path, document);
  SHERD_TRY(check_texts(documents, location.config.limits));
  std::vector<DocumentVersion> versions;
  for (const Document& each : documents) {
    SHERD_TRY(written, write_document(*location.store, each, condition));
    versions.push_back(std::move(written));
  }
  return versions;
}

Result<void> check_documents(const NodeLocation& location, const Json& document) {
  const std::vector<Document> documents = location.format->documents(location.path, document);
  for (const Document& each : documents) SHERD_TRY(check_key_length(*location.store, each.key));
  return check_texts(documents, location.config.limits);
}

Result<void> check_key_length(const Store& store, const std::string& key) {
  const std::uint64_t longest = store.traits().max_key_bytes;
  if (key.size() <= longest) return {};
  return unsupported("the key '" + key.substr(0, 80) + "…' has " + std::to_string(key.size()) +
                     " bytes, and keys of the store " + store.url() + " have at most " + std::to_string(longest) +
                     "; use shorter names or fewer groups");
}

Result<void> check_text(std::string_view text, const Limits& limits) {
  if (text.size() > limits.metadata_bytes)
    return unsupported("the metadata would have " + std::to_string(text.size()) + " bytes, more than the limit " +
                       "metadata_bytes = " + std::to_string(limits.metadata_bytes));
  auto parsed = parse_lenient(text, limits, {.tails = false, .points = false});
  if (!parsed) return std::move(parsed).error().in("the metadata would be unreadable once stored");
  return {};
}

// By trying it, because no file system tells.
Result<void> check_links(const NodeLocation& location, const NodeDocument& node) {
  if (!node.counterpart) return {};
  Store& store = *location.store;
  const std::string prefix = location.format->chunk_prefix(location.path) + ".sherd-two-names-";
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

Result<void> write_counterpart(const NodeLocation& location, const NodeDocument& node) {
  if (!node.counterpart) return {};
  NodeLocation other = location;
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
  if (!set.is_object()) return invalid_argument("attributes must be a JSON object").in_member("attributes");
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

Result<void> require_writable(const NodeLocation& location) {
  if (location.writable) return {};
  return invalid_argument("opened for reading only; open it writable to change it (in Python with mode=\"r+\")")
      .in_key(location.format->likeliest_key(location.path));
}

}  // namespace sherd
