// Replaces metadata documents without losing changes by other writers. A lock, if the store has one, makes writers wait
// for each other. Conditions on generations handle the others: an edit reads, changes and replaces the documents, and
// starts again if another writer was first.
#include "array/document.hpp"

#include <algorithm>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/lenient.hpp"
#include "base/try.hpp"
#include "store/read_into.hpp"
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
    SHERD_TRY(written, write_one(*location.store, document, unchanged));
    versions.push_back(std::move(written));
  }
  return versions;
}

bool same_texts(std::span<const Document> a, std::span<const Document> b) {
  return std::ranges::equal(a, b, {}, &Document::text, &Document::text);
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
  SHERD_TRY(changed, format.lower(std::move(document), location.config.limits).in_key(key));
  // The location of chunks may depend on more than the document; only open() determines it.
  if (changed.array && present->array) changed.array->keys = present->array->keys;
  SHERD_TRY(versions, replace_documents(location, *present, next));
  changed.versions = std::move(versions);
  return changed;
}

/// Creates a node with several documents. Only the last document shows which of two creators was first, and without
/// locks both may be active. The type of the node may determine which is the last. So that the node gets the attributes
/// of the creator that made it visible
///   - documents that make nothing visible, left by a killed creator or written by an active one, are replaced only if
///     the node is not visible after they were read, and stays so for a while: an active creator makes it visible
///     soon;
///   - a creator that comes second restores what it has replaced.
/// Each replacement is conditional on the version that was read, so that none is undone twice, and no later edit is
/// undone. If the second creator is killed before it has restored the attributes, its own remain.
class Creation {
 public:
  Creation(const NodeLocation& location, std::span<const Document> documents)
      : location_(location), store_(*location.store), documents_(documents) {}

  Result<NewDocuments> write() {
    auto written = write_all();
    if (written) return std::move(new_);
    put_back(store_, new_.replaced);
    return std::move(written).error();
  }

 private:
  Result<void> write_all() {
    const auto shared = documents_.first(documents_.size() - 1);
    for (const Document& each : shared) SHERD_TRY(replace(each));
    if (shared.empty()) SHERD_TRY(refuse_other_type(location_, documents_.back().key));
    SHERD_TRY(visible, write_one(store_, documents_.back(), Condition::absent()));
    new_.created.push_back(visible);
    new_.versions.push_back(std::move(visible));
    return {};
  }

  Result<void> check_invisible() const { return refuse_other_type(location_, {}); }

  /// Waits while a document changes, and then a little longer, in case its creator is still active.
  Result<void> wait_for_creator(const std::string& key) const {
    constexpr int kWaits = 7;  // about 30 ms
    SHERD_TRY(seen, stored_generation(store_, key));
    Backoff backoff(location_.config.interrupted);
    for (int waits = 0; seen && waits < kWaits; ++waits) {
      SHERD_TRY(check_invisible());
      SHERD_TRY(backoff.wait());
      SHERD_TRY(now, stored_generation(store_, key));
      if (now != seen) waits = 0;
      seen = std::move(now);
    }
    return {};
  }

  Result<void> replace(const Document& document) {
    if (!store_.traits().locks) SHERD_TRY(wait_for_creator(document.key));
    SHERD_TRY(left, store_.open(document.key));
    Condition condition = Condition::absent();
    std::optional<std::string> text;
    if (left != nullptr) {
      SHERD_TRY(generation, left->generation());
      SHERD_TRY(size, left->size());
      if (size <= location_.config.limits.metadata_bytes) {  // no creator writes a larger one
        text.emplace(size, '\0');
        SHERD_TRY(read_into(*left, 0, std::as_writable_bytes(std::span(*text))));
      }
      condition = Condition::matches(std::move(generation));
    }
    SHERD_TRY(check_invisible());
    SHERD_TRY(written, write_one(store_, document, condition));
    if (text) {
      new_.replaced.push_back({{document.key, *std::move(text)}, written.generation});
    } else {
      new_.created.push_back(written);
    }
    new_.versions.push_back(std::move(written));
    return {};
  }

  const NodeLocation& location_;
  Store& store_;
  std::span<const Document> documents_;
  NewDocuments new_;
};

}  // namespace

Result<NodeDocument> edit_document(const NodeLocation& location, NodeType type, const DocumentEdit& edit) {
  SHERD_TRY(require_writable(location));
  return as_call(location.config,
                 [&] { return retry_conflicts(location.config, [&] { return edit_once(location, type, edit); }); });
}

Result<NewDocuments> write_new_documents(const NodeLocation& location, const Json& document) {
  const std::vector<Document> documents = location.format->documents(location.path, document);
  SHERD_TRY(check_texts(documents, location.config.limits));
  return Creation(location, documents).write();
}

Result<void> refuse_other_type(const NodeLocation& location, const std::string& own) {
  for (const std::string& key : location.format->keys(location.path).visible()) {
    if (key == own) continue;
    SHERD_TRY(visible, stored_generation(*location.store, key));
    if (visible) return conflict("another process has created a node here").in_key(key);
  }
  return {};
}

// Failures here concern the documents of another creator.
void put_back(Store& store, std::span<const ReplacedDocument> replaced) {
  for (const ReplacedDocument& each : replaced) (void)write_one(store, each.before, Condition::matches(each.by));
}

Result<std::vector<DocumentVersion>> write_documents(const NodeLocation& location, const Json& document,
                                                     const Condition& condition) {
  const std::vector<Document> documents = location.format->documents(location.path, document);
  SHERD_TRY(check_texts(documents, location.config.limits));
  std::vector<DocumentVersion> versions;
  for (const Document& each : documents) {
    SHERD_TRY(written, write_one(*location.store, each, condition));
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
