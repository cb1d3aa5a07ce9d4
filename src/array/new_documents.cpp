// Creates the documents of a node. Only the last of them shows which of two creators was first, and without locks both
// may be active; the type of the node may determine which is the last. So that the node gets the attributes of the
// creator that made it visible
//   - documents that make nothing visible, left by a killed creator or written by an active one, are replaced only if
//     the node is not visible after they were read, and stays so for a while: an active creator makes it visible
//     soon;
//   - a creator that comes second restores what it has replaced.
// Each replacement is conditional on the version that was read, so that none is undone twice, and no later edit is
// undone. If the second creator is killed before it has restored the attributes, its own remain.
#include "array/new_documents.hpp"

#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "store/condition.hpp"
#include "store/read_into.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

struct NewDocument {
  DocumentVersion version;
  std::optional<std::string> before = {};  ///< what it has replaced: left by a killed creator, or of one that is slower
};

/// `conflict` if a document other than this one makes a node visible at `location`.
Result<void> refuse_other_type(const NodeLocation& location, const std::string& own) {
  for (const std::string& key : location.format->keys(location.path).visible()) {
    if (key == own) continue;
    SHERD_TRY(visible, stored_generation(*location.store, key));
    if (visible) return conflict("another process has created a node here").in_key(key);
  }
  return {};
}

/// Restores what was replaced, as far as no other writer has changed it since. Failures here concern the documents of
/// another creator.
void put_back(Store& store, std::span<const NewDocument> documents) {
  for (const auto& [version, before] : documents)
    if (before) (void)write_document(store, {version.key, *before}, Condition::matches(version.generation));
}

class Creation {
 public:
  explicit Creation(const NodeLocation& location) : location_(location), store_(*location.store) {}

  Result<std::vector<NewDocument>> write(std::span<const Document> documents) {
    auto written = write_all(documents);
    if (written) return std::move(new_);
    put_back(store_, new_);
    return std::move(written).error();
  }

 private:
  Result<void> write_all(std::span<const Document> documents) {
    const auto shared = documents.first(documents.size() - 1);
    for (const Document& each : shared) SHERD_TRY(replace(each));
    if (shared.empty()) SHERD_TRY(refuse_other_type(location_, documents.back().key));
    SHERD_TRY(visible, write_document(store_, documents.back(), Condition::absent()));
    new_.push_back({std::move(visible)});
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
    SHERD_TRY(written, write_document(store_, document, condition));
    new_.push_back({std::move(written), std::move(text)});
    return {};
  }

  const NodeLocation& location_;
  Store& store_;
  std::vector<NewDocument> new_;
};

/// Holds the note of the node as soon as no other process does, for some seconds at most.
Result<std::unique_ptr<MovingNote>> wait_for_note(const NodeLocation& location) {
  constexpr int kWaits = 64;
  Backoff backoff(location.config.interrupted);
  for (int waits = 0;; ++waits) {
    auto note = MovingNote::store(location, new_maker());
    if (note || note.error().code() != ErrorCode::conflict || waits == kWaits) return note;
    SHERD_TRY(backoff.wait());
  }
}

/// Erases a document of this version, or makes it empty if the store cannot erase conditionally. A conflict means that
/// another creator has replaced it.
Result<void> withdraw_one(Store& store, const DocumentVersion& version) {
  auto withdrawn = erase_or_empty(store, version.key, Condition::matches(version.generation));
  if (!withdrawn && withdrawn.error().code() == ErrorCode::conflict) return {};
  return withdrawn;
}

Result<void> erase_empty(const NodeLocation& location, std::span<const NewDocument> documents) {
  Store& store = *location.store;
  for (const auto& [version, before] : documents) {
    if (before) continue;
    SHERD_TRY(document, store.open(version.key));
    const Result<std::uint64_t> size = document != nullptr ? document->size() : 1;
    if (!size) return size.error();
    if (*size == 0) SHERD_TRY(store.erase(version.key));
  }
  return {};
}

/// Erases the documents of a creator that has found a note or another node. In a store that cannot erase conditionally
/// only the holder of the note may erase them: another holder may be storing documents of its own under these keys.
/// Until then they are empty.
Result<void> withdraw(const NodeLocation& location, std::span<const NewDocument> documents) {
  Store& store = *location.store;
  for (const auto& [version, before] : documents | std::views::reverse)
    if (!before) SHERD_TRY(withdraw_one(store, version));
  if (store.traits().conditional_erase) return {};
  SHERD_TRY(note, wait_for_note(location));
  auto erased = erase_empty(location, documents);
  SHERD_TRY(note->withdraw());
  return erased;
}

}  // namespace

Result<std::vector<DocumentVersion>> create_documents(const NodeLocation& location, const Json& document,
                                                      bool is_alone) {
  const std::vector<Document> texts = location.format->documents(location.path, document);
  SHERD_TRY(check_texts(texts, location.config.limits));
  SHERD_TRY(documents, Creation(location).write(texts));
  const std::string& visible = texts.back().key;
  const auto check = [&]() -> Result<void> {
    if (auto found = refuse_orphan(location); !found) {
      SHERD_TRY(stored, stored_generation(*location.store, visible));
      // Otherwise the node was complete before it was erased or moved together with the group.
      if (stored == documents.back().version.generation) return found;
    }
    if (is_alone) return {};
    // Another creator, too, writes, then looks: if one of them finds nothing, the other finds its document.
    SHERD_TRY(refuse_other_type(location, visible));
    // A maker notes that it moves its node, then looks for documents; here it is the reverse, so one sees the other.
    return refuse_maker(location).in_key(visible);
  };
  if (auto free = check(); !free) {
    (void)withdraw(location, documents);  // the first failure is the one to report
    put_back(*location.store, documents);
    return std::move(free).error();
  }
  std::vector<DocumentVersion> versions;
  for (NewDocument& each : documents) versions.push_back(std::move(each.version));
  return versions;
}

}  // namespace sherd
