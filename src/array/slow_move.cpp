// Moves a node object after object. An array without some of its chunks would read as fill values, and a writer that
// finds the document at the old path stores chunks there, so no document may be at either path meanwhile. In this order
// (docs/decisions/0014, 0044):
//   1. Note the move at the store's root, in `.sherd-new-HASH/rename.json` for both paths. Until it is over, no other
//      node comes to either.
//   2. Copy each document of the node and of its members below `.sherd-new-HASH/documents/`, and erase it if it is
//   still
//      what was copied. From now on writers of the array get a `conflict`.
//   3. Wait for the writers that had seen a document before, and begin again with 2. if documents have appeared.
//   4. Move everything else, and note that it is moved.
//   5. Move the documents to the new path, the node's own last. Erase what writers have stored at the old path since,
//      none of which they were told is stored. Erase the notes.
// If a step up to 4. fails, everything is moved back. Where that fails too, or the process is killed, nothing is lost:
// the next move of the node goes on, which the note makes possible. The documents are never only in the process.
#include "array/slow_move.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "array/document.hpp"
#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "sherd/json.hpp"
#include "store/condition.hpp"
#include "store/key.hpp"
#include "store/read_into.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

struct SlowMove {
  std::string from, to;                ///< paths
  std::string from_prefix, to_prefix;  ///< what is below them
  bool moved = false;                  ///< everything but the documents

  [[nodiscard]] std::string documents() const { return staging_name(from) + "/documents/"; }
};

std::string note_of(const std::string& path) { return staging_name(path) + "/rename.json"; }

Result<std::optional<SlowMove>> noted_at(const NodeLocation& location) {
  const std::string key = note_of(location.path);
  SHERD_TRY(text, location.store->get(key, location.config.limits.metadata_bytes));
  if (!text) return std::optional<SlowMove>();
  SHERD_TRY(note, Json::parse(*text).in_key(key));
  const auto member = [&](std::string_view name) {
    const Json* value = note.find(name);
    return value != nullptr ? value->text() : std::string();
  };
  SlowMove move{member("from"), member("to"), member("from_prefix"), member("to_prefix")};
  const Json* moved = note.find("moved");
  move.moved = moved != nullptr && moved->as_bool().value_or(false);
  if (move.from_prefix.empty() || move.to_prefix.empty()) return corrupt("this is not the note of a move").in_key(key);
  return std::optional(std::move(move));
}

Result<void> note_move(Store& store, const SlowMove& move) {
  const Json note = Json::Object{{"from", move.from},
                                 {"to", move.to},
                                 {"from_prefix", move.from_prefix},
                                 {"to_prefix", move.to_prefix},
                                 {"moved", move.moved}};
  SHERD_TRY(store.set(note_of(move.from), note.dump(2)));
  return store.set(note_of(move.to), note.dump(2));
}

Result<void> erase_notes(Store& store, const SlowMove& move) {
  SHERD_TRY(store.erase(note_of(move.to)));  // it means nothing without the other one
  return store.erase_prefix(staging_name(move.from) + "/");
}

/// Whether a key is that of a document, in any format, of a node at the prefix in which it is.
bool names_document(const NodeLocation& location, const std::string& key) {
  const std::string_view prefix = split_key(key).prefix;
  const std::string path(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
  return std::ranges::any_of(location.tables.formats,
                             [&](const Format* format) { return format->keys(path).is_document(key); });
}

Result<std::vector<std::string>> documents_below(const NodeLocation& location, const std::string& prefix) {
  std::vector<std::string> documents;
  SHERD_TRY(location.store->visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    std::string key = prefix + std::string(entry.name);
    if (!entry.is_prefix && names_document(location, key)) documents.push_back(std::move(key));
    return true;
  }));
  return documents;
}

/// Erases a document if it is still the version that was read. Where the store does not erase on conditions, it is
/// first replaced on one, by no bytes, which nobody takes for a document.
Result<void> erase_version(Store& store, const std::string& key, ByteSource& read) {
  SHERD_TRY(condition, unchanged_since(&read));
  if (!store.traits().conditional_erase && store.traits().conditional_write) SHERD_TRY(store.set(key, "", condition));
  SHERD_TRY(store.erase(key, store.traits().conditional_erase ? condition : Condition()));
  return {};
}

Result<void> put_aside(const NodeLocation& location, const std::string& key, const std::string& aside) {
  Store& store = *location.store;
  return retry_conflicts(location.config, [&]() -> Result<void> {
    SHERD_TRY(lock, store.lock(key));
    SHERD_TRY(document, store.open(key));
    if (document == nullptr) return {};
    SHERD_TRY(size, document->size());
    Buffer bytes;
    SHERD_TRY(read_into(*document, {0, size}, bytes));
    if (size > 0) SHERD_TRY(store.set(aside, std::span<const std::byte>(bytes.span())));
    return erase_version(store, key, *document);
  });
}

/// `conflict` if something has come to the new path since it was looked at.
Result<void> check_free(const NodeLocation& location, const SlowMove& move) {
  SHERD_TRY(free, location.store->visit(move.to_prefix, ListDepth::children, [](const ListEntry&) { return false; }));
  if (free) return {};
  return conflict("another process created something here in the meantime").in_key(move.to_prefix);
}

Result<void> move_contents(const NodeLocation& location, SlowMove& move) {
  Store& store = *location.store;
  for (;;) {
    SHERD_TRY(documents, documents_below(location, move.from_prefix));
    for (const std::string& key : documents)
      SHERD_TRY(put_aside(location, key, move.documents() + key.substr(move.from_prefix.size())));
    SHERD_TRY(as_call(location.config, [&] { return store.wait_for_writers(move.from_prefix); }));
    if (documents.empty()) break;
  }
  SHERD_TRY(store.move_prefix(move.from_prefix, move.to_prefix));
  move.moved = true;
  return note_move(store, move);
}

/// A document that is at the old path was changed or put back after it had been copied.
Result<void> take_back(Store& store, const SlowMove& move) {
  SHERD_TRY(store.move_prefix(move.to_prefix, move.from_prefix));
  std::vector<std::string> outdated;
  SHERD_TRY(store.visit(move.documents(), ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    SHERD_TRY(present, store.open(move.from_prefix + std::string(entry.name)));
    if (present == nullptr) return true;
    SHERD_TRY(size, present->size());
    if (size > 0) outdated.push_back(move.documents() + std::string(entry.name));
    return true;
  }));
  SHERD_TRY(store.erase_all(outdated));
  SHERD_TRY(store.move_prefix(move.documents(), move.from_prefix));
  return erase_notes(store, move);
}

Error cut_short(const SlowMove& move, Error error) {
  return std::move(error).in("while '" + move.from + "' was renamed to '" + move.to +
                             "'; nothing is lost, and renaming it again goes on with that");
}

Result<void> carry_on(const NodeLocation& location, SlowMove move) {
  Store& store = *location.store;
  if (!move.moved) {
    auto moved = move_contents(location, move);
    if (!moved && !move.moved && take_back(store, move)) return moved;
    if (!moved) return cut_short(move, std::move(moved).error());
  }
  const auto finish = [&]() -> Result<void> {
    SHERD_TRY(store.move_prefix(move.documents(), move.to_prefix));
    SHERD_TRY(store.erase_prefix(move.from_prefix));
    return erase_notes(store, move);
  };
  auto finished = finish();
  if (!finished) return cut_short(move, std::move(finished).error());
  return {};
}

}  // namespace

Result<void> move_slowly(const NodeLocation& from, const std::string& to, const std::string& from_prefix,
                         const std::string& to_prefix) {
  const SlowMove move{from.path, to, from_prefix, to_prefix};
  SHERD_TRY(note_move(*from.store, move));
  if (auto free = check_free(from, move); !free) {
    (void)erase_notes(*from.store, move);  // the first failure is the one to report
    return free;
  }
  return carry_on(from, move);
}

Result<std::optional<std::string>> slow_move_to(const NodeLocation& from) {
  SHERD_TRY(move, noted_at(from));
  return move && move->from == from.path ? std::optional(std::move(move->to)) : std::nullopt;
}

Result<void> carry_on_slow_move(const NodeLocation& from) {
  SHERD_TRY(move, noted_at(from));
  if (!move || move->from != from.path) return {};
  return carry_on(from, *std::move(move));
}

Result<void> refuse_slow_move(const NodeLocation& location) {
  SHERD_TRY(move, noted_at(location));
  if (!move) return {};
  if (move->from != location.path) {
    SHERD_TRY(to, slow_move_to(at_path(location, move->from)));
    if (to != location.path) return {};
  }
  return conflict("the node '" + move->from + "' is being renamed to '" + move->to +
                  "', or that was cut short; rename it again to go on")
      .in_key(note_of(location.path));
}

}  // namespace sherd
