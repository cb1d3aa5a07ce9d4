// Moves a node object by object. An array without some of its chunks would read as fill values, and a writer that finds
// the document at the old path stores chunks there. So the documents are at neither path meanwhile, but in
// `.sherd-new-HASH/` at the store's root, where HASH is that of the old path (docs/decisions/0048):
//   1. Note the move: `.sherd-new-HASH/rename.json` for the old path, then for the new one. While a note exists, no
//      node is created or erased at its path.
//   2. Put each document of the node and of its members aside: copy it below `.sherd-new-HASH/documents/`, and erase it
//      if it is still the version that was copied; the node's own first. From now on writers of the array get a
//      `conflict`.
//   3. Wait for the writers that had seen a document before, and repeat step 2 if there are new documents.
//   4. Move everything else, and note that it is moved.
//   5. Put the documents at the new path, the node's own last. Erase what writers have stored at the old path since:
//      they were not told that it is stored. Finally erase the notes, by which an interrupted move is found.
// If a step up to 4 fails, everything is moved back. If that fails too, or the process is killed, nothing is lost, and
// the next move of the node continues: each step can be repeated.
//
// A creator that had looked for the note before step 1 may store a document at either path at any time, until it looks
// for the note again and withdraws it. Such a document neither replaces a copy that was put aside nor makes it
// superfluous. The move waits until it is gone. If its creator was killed, the move fails, and the user removes it.
#include "array/slow_move.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "array/consolidated.hpp"
#include "array/document.hpp"
#include "array/staged.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "sherd/json.hpp"
#include "store/condition.hpp"
#include "store/key.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

constexpr std::string_view kMoveNote = "rename.json";

struct SlowMove {
  std::string from, to;   ///< paths
  bool moved = false;     ///< everything but the documents
  bool is_aside = false;  ///< the document of the node itself; this is not in the note

  [[nodiscard]] bool is_same(const SlowMove& other) const { return from == other.from && to == other.to; }
  [[nodiscard]] std::string old_prefix() const { return prefix_of(from); }
  [[nodiscard]] std::string new_prefix() const { return prefix_of(to); }
  [[nodiscard]] std::string aside() const { return staging_name(from) + "/documents/"; }
  [[nodiscard]] std::string text() const {
    return Json(Json::Object{{"from", from}, {"to", to}, {"moved", moved}}).dump(2);
  }
  [[nodiscard]] std::string advice() const {
    return "the node '" + from + "' is being renamed to '" + to +
           "'; if that was cut short, rename it again to complete it";
  }
};

std::string move_note_of(const std::string& path) { return staging_name(path) + "/" + std::string(kMoveNote); }

/// Whether a node can be moved from one path to the other.
bool can_be_moved(const std::string& from, const std::string& to) {
  const auto is_path = [](const std::string& path) {
    const auto normal = normal_path(path);
    return !path.empty() && normal && *normal == path;
  };
  return is_path(from) && is_path(to) && !path_from(from, to) && !path_from(to, from);
}

Error damaged_note(const std::string& key) {
  return corrupt("not a valid note about a node that is being renamed; remove '" + key +
                 "', and move documents below '" + std::string(split_key(key).prefix) +
                 "documents/', if there are any, back to the node")
      .in_key(key);
}

Result<std::optional<SlowMove>> read_move_note(Store& store, const std::string& key, const Limits& limits) {
  SHERD_TRY(text, store.get(key, limits.metadata_bytes).in_key(key));
  if (!text) return std::optional<SlowMove>();
  const auto note = Json::parse(*text, limits.json_depth, limits.json_values);
  if (!note) return damaged_note(key);
  const auto path = [&](std::string_view name) {
    const Json* value = note->find(name);
    return value != nullptr ? value->text() : std::string();
  };
  const Json* moved = note->find("moved");
  SlowMove move{.from = path("from"), .to = path("to")};
  move.moved = moved != nullptr && moved->as_bool().value_or(false);
  if (!can_be_moved(move.from, move.to)) return damaged_note(key);
  return std::optional(std::move(move));
}

Result<std::optional<SlowMove>> noted_at(const NodeLocation& location) {
  return read_move_note(*location.store, move_note_of(location.path), location.config.limits);
}

/// Erases a note, and its directory if that is empty.
Result<void> erase_note(Store& store, const std::string& path) {
  SHERD_TRY(store.erase(move_note_of(path)));
  const std::string prefix = staging_name(path) + "/";
  SHERD_TRY(nothing, store.visit(prefix, ListDepth::all, [](const ListEntry&) { return false; }));
  return nothing ? store.erase_prefix(prefix) : Result<void>();
}

Result<void> erase_notes(const NodeLocation& location, const SlowMove& move) {
  const auto noted = noted_at(at_path(location, move.to));
  if (!noted && !is_stored_fault(noted.error())) return noted.error();
  const bool is_own = noted && (!*noted || (*noted)->is_same(move));
  if (is_own) SHERD_TRY(erase_note(*location.store, move.to));
  return erase_note(*location.store, move.from);
}

/// `conflict` if anything exists at the new path.
Result<void> check_free(Store& store, const SlowMove& move) {
  SHERD_TRY(free, store.visit(move.new_prefix(), ListDepth::all, [](const ListEntry&) { return false; }));
  if (free) return {};
  return conflict("there are objects at this path; remove them or choose another path").in_key(move.new_prefix());
}

/// Stores the note of a move at one of its paths; `conflict` if a move is noted there.
Result<void> note_at(const NodeLocation& location, const SlowMove& move) {
  auto noted = location.store->set(move_note_of(location.path), move.text(), Condition::absent());
  if (noted || noted.error().code() != ErrorCode::conflict) return noted;
  SHERD_TRY(refuse_slow_move(location));
  return noted;
}

/// A noted move from or to the path of `location`, or from or to a path below it, other than the caller's `own`.
Result<std::optional<SlowMove>> move_below(const NodeLocation& location, const SlowMove* own = nullptr) {
  Store& store = *location.store;
  std::vector<std::string> notes;
  SHERD_TRY(store.visit("", ListDepth::children, [&](const ListEntry& entry) -> Result<bool> {
    if (entry.is_prefix && is_staging(entry.name))
      notes.push_back(std::string(entry.name) + "/" + std::string(kMoveNote));
    return true;
  }));
  for (const std::string& key : notes) {
    const bool same_hash = key == move_note_of(location.path);
    auto noted = read_move_note(store, key, location.config.limits);
    if (!noted && !same_hash && is_stored_fault(noted.error())) continue;  // 'check' reports it
    SHERD_TRY(move, std::move(noted));
    if (!move || (own != nullptr && move->is_same(*own))) continue;
    if (same_hash || path_from(location.path, move->from) || path_from(location.path, move->to)) return move;
  }
  return std::optional<SlowMove>();
}

Error being_moved(const SlowMove& move) { return conflict(move.advice()).lasting().in_key(move_note_of(move.from)); }

/// `conflict` if a group around the location is being moved or erased, or anything below it is being moved. Each of
/// them, too, stores its note, then looks for those of others, so one of two finds the other's.
Result<void> refuse_overlap(const NodeLocation& location, const SlowMove& own) {
  SHERD_TRY(refuse_changes_above(location));
  SHERD_TRY(below, move_below(location, &own));
  return below ? Result<void>(being_moved(*below)) : Result<void>();
}

/// Stores the note at the new path, too, and checks that the path is free; otherwise the move does not begin. Another
/// process that creates a node does the opposite: it writes the documents, then looks for the note.
Result<void> begin_at_new_path(const NodeLocation& location, const SlowMove& move) {
  const NodeLocation destination = at_path(location, move.to);
  const auto begin = [&]() -> Result<void> {
    SHERD_TRY(noted, noted_at(destination));
    if (!noted || !noted->is_same(move)) SHERD_TRY(note_at(destination, move));
    if (!location.store->traits().locks) {  // otherwise the caller's locks exclude makers
      SHERD_TRY(refuse_maker(location));
      SHERD_TRY(refuse_maker(destination));
    }
    SHERD_TRY(refuse_overlap(location, move));
    SHERD_TRY(refuse_overlap(destination, move));
    return check_free(*location.store, move);
  };
  auto begun = begin();
  if (!begun) (void)erase_notes(location, move);  // the first failure is the one to report
  return begun;
}

/// 0 for an object that is not a document of any format. The documents of a node arrive at a path by increasing rank:
/// those that make it visible last, and of these first the ones of a format in which groups describe arrays.
int rank_of(const NodeLocation& location, const std::string& key) {
  const std::string_view prefix = split_key(key).prefix;
  const std::string path(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
  int rank = 0;
  for (const Format* format : location.tables.formats) {
    const NodeKeys keys = format->keys(path);
    if (!keys.is_document(key)) continue;
    const bool is_visible = key == keys.array || key == keys.group;
    rank = std::max(rank, !is_visible ? 1 : !format->arrays_have_documents() ? 2 : 3);
  }
  return rank;
}

/// The keys, relative to a prefix, of the documents below it, in the order of erasing: those of a node before those of
/// its members, and first the one that makes it visible.
Result<std::vector<std::string>> documents_below(const NodeLocation& location, const std::string& prefix) {
  struct Found {
    std::ptrdiff_t depth;
    int rank;
    std::string key;
  };
  std::vector<Found> found;
  SHERD_TRY(location.store->visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    const std::string key(entry.name);
    const int rank = entry.is_prefix ? 0 : rank_of(location, key);
    if (rank > 0) found.push_back({std::ranges::count(key, '/'), -rank, key});
    return true;
  }));
  std::ranges::sort(found, {}, [](const Found& each) { return std::tie(each.depth, each.rank, each.key); });
  std::vector<std::string> keys;
  keys.reserve(found.size());
  for (Found& each : found) keys.push_back(std::move(each.key));
  return keys;
}

Result<void> copy_object(Store& store, ByteSource& source, const std::string& to, const Condition& condition) {
  SHERD_TRY(size, source.size());
  SHERD_TRY(writer, store.write(to, size));
  SHERD_TRY(writer->copy(source, 0, size, 0));
  return writer->commit(condition);
}

/// Erases a document if it is still a certain version. The caller's note keeps others from storing a document under the
/// key while that is empty.
Result<void> erase_version(Store& store, const std::string& key, const Condition& condition) {
  const StoreTraits traits = store.traits();
  if (traits.conditional_erase || traits.conditional_write) SHERD_TRY(erase_or_empty(store, key, condition));
  if (!traits.conditional_erase) SHERD_TRY(store.erase(key));
  return {};
}

/// For a document that another process has stored where one of the node belongs.
Error another_document(const std::string& key, const std::string& aside) {
  return conflict("this is not the document of the renamed node, which is in '" + aside +
                  "'; if no process is creating a node here, remove the wrong one of these two objects")
      .in_key(key);
}

Result<bool> have_same_text(const NodeLocation& location, const std::string& key, const std::string& other) {
  SHERD_TRY(text, location.store->get(key, location.config.limits.metadata_bytes));
  SHERD_TRY(other_text, location.store->get(other, location.config.limits.metadata_bytes));
  return text == other_text;
}

/// Copies a document, unless another one was put aside before.
Result<void> copy_aside(const NodeLocation& location, ByteSource& document, const std::string& key,
                        const std::string& aside) {
  auto copied = copy_object(*location.store, document, aside, Condition::absent());
  if (copied || copied.error().code() != ErrorCode::conflict) return copied;
  SHERD_TRY(is_same, have_same_text(location, key, aside));
  return is_same ? Result<void>() : another_document(key, aside);
}

/// False if there is no document.
Result<bool> put_aside(const NodeLocation& location, const std::string& key, const std::string& aside) {
  Store& store = *location.store;
  bool copied = false;
  return retry_limited(location.config, [&]() -> Result<bool> {
    SHERD_TRY(lock, store.lock(key));
    SHERD_TRY(document, store.open(key));
    if (document == nullptr) {
      if (copied) SHERD_TRY(store.erase(aside));  // another process has moved or erased it
      return false;
    }
    SHERD_TRY(size, document->size());
    if (size > 0)  // otherwise erase_version() was interrupted
      SHERD_TRY(copied ? copy_object(store, *document, aside, {}) : copy_aside(location, *document, key, aside));
    copied = size > 0;
    SHERD_TRY(condition, unchanged_since(document.get()));
    SHERD_TRY(erase_version(store, key, condition));
    return size > 0;
  });
}

/// Puts a document that was put aside at `key`. `conflict` if another document is stored there. One with the same text
/// is stored again, because it may be that of a creator, who would withdraw it.
Result<void> put_document(const NodeLocation& location, const std::string& aside, const std::string& key) {
  Store& store = *location.store;
  SHERD_TRY(document, store.open(aside));
  if (document == nullptr) return {};
  SHERD_TRY(present, store.open(key));
  SHERD_TRY(condition, unchanged_since(present.get()));
  SHERD_TRY(size, present != nullptr ? present->size() : Result<std::uint64_t>(0));
  if (size > 0) {
    SHERD_TRY(is_same, have_same_text(location, key, aside));
    if (!is_same) return another_document(key, aside);
  }
  return copy_object(store, *document, key, condition);
}

/// Puts the documents that were put aside below `prefix`.
Result<void> put_in_place(const NodeLocation& location, const SlowMove& move, const std::string& prefix) {
  Store& store = *location.store;
  SHERD_TRY(documents, documents_below(location, move.aside()));
  std::ranges::reverse(documents);
  for (const std::string& key : documents) {
    SHERD_TRY(retry_limited(location.config, [&] { return put_document(location, move.aside() + key, prefix + key); }));
    SHERD_TRY(store.erase(move.aside() + key));
  }
  return store.erase_prefix(move.aside());
}

Error no_node_left(const SlowMove& move) { return not_found("no node exists here").in_key(move.old_prefix()); }

/// Whether the first of the documents below a path makes a node visible there.
bool begin_with_own(const NodeLocation& location, const std::vector<std::string>& documents) {
  return !documents.empty() && documents.front().find('/') == std::string::npos &&
         rank_of(location, documents.front()) > 1;
}

/// `not_found` if there is no document of the node itself: before the move was noted, the node was moved, perhaps with
/// a group around it, or erased.
Result<void> move_contents(const NodeLocation& location, SlowMove& move) {
  Store& store = *location.store;
  for (bool any = true; any;) {
    SHERD_TRY(documents, documents_below(location, move.old_prefix()));
    if (!move.is_aside && !begin_with_own(location, documents)) return no_node_left(move);
    for (const std::string& key : documents) {
      SHERD_TRY(put, put_aside(location, move.old_prefix() + key, move.aside() + key));
      if (!move.is_aside && !put) return no_node_left(move);
      move.is_aside = true;
    }
    SHERD_TRY(as_call(location.config, [&] { return store.wait_for_writers(move.old_prefix()); }));
    any = !documents.empty();
  }
  SHERD_TRY(store.move_prefix(move.old_prefix(), move.new_prefix()));
  move.moved = true;
  return store.set(move_note_of(move.from), move.text());
}

/// Moves an object back to the old path. A document at the new path is that of a creator, and stays there, unless it is
/// empty: then it has been withdrawn.
Result<void> move_object_back(const NodeLocation& location, const SlowMove& move, const std::string& key) {
  Store& store = *location.store;
  const std::string at = move.new_prefix() + key;
  SHERD_TRY(object, store.open(at));
  if (object == nullptr) return {};
  if (rank_of(location, key) > 0) {
    SHERD_TRY(size, object->size());
    SHERD_TRY(condition, unchanged_since(object.get()));
    return size > 0 ? Result<void>() : erase_version(store, at, condition);
  }
  SHERD_TRY(copy_object(store, *object, move.old_prefix() + key, {}));
  SHERD_TRY(store.erase(at));
  return {};
}

/// Moves everything in a directory below the new path back, except for documents.
Result<void> move_back(const NodeLocation& location, const SlowMove& move, const std::string& below) {
  Store& store = *location.store;
  SHERD_TRY(listing, store.list_dir(move.new_prefix() + below));
  for (const auto& object : listing.objects) SHERD_TRY(move_object_back(location, move, below + object.name));
  for (const std::string& name : listing.prefixes) {
    const std::string inner = below + name + "/";
    SHERD_TRY(documents, documents_below(location, move.new_prefix() + inner));
    SHERD_TRY(documents.empty() ? store.move_prefix(move.new_prefix() + inner, move.old_prefix() + inner)
                                : move_back(location, move, inner));
  }
  return {};
}

Result<void> take_back(const NodeLocation& location, const SlowMove& move) {
  Store& store = *location.store;
  SHERD_TRY(move_back(location, move, ""));
  SHERD_TRY(nothing, store.visit(move.new_prefix(), ListDepth::all, [](const ListEntry&) { return false; }));
  if (nothing) SHERD_TRY(store.erase_prefix(move.new_prefix()));
  SHERD_TRY(put_in_place(location, move, move.old_prefix()));
  return erase_notes(location, move);
}

Result<void> end_move(const NodeLocation& location, const SlowMove& move) {
  Store& store = *location.store;
  SHERD_TRY(put_in_place(location, move, move.new_prefix()));
  SHERD_TRY(created, documents_below(location, move.old_prefix()));
  if (created.empty()) SHERD_TRY(store.erase_prefix(move.old_prefix()));  // otherwise there is a new node, which stays
  return erase_notes(location, move);
}

Result<void> carry_on(const NodeLocation& location, SlowMove move) {
  const auto cut_short = [&](Result<void> failed) {
    return std::move(failed).error().in("while '" + move.from + "' was renamed to '" + move.to +
                                        "'; nothing is lost, rename it again to complete that");
  };
  if (!move.moved) {
    auto moved = move_contents(location, move);
    if (!moved && !move.moved && take_back(location, move)) return moved;
    if (!moved) return cut_short(std::move(moved));
  }
  auto ended = end_move(location, move);
  if (!ended) return cut_short(std::move(ended));
  return {};
}

}  // namespace

Result<void> move_slowly(const NodeLocation& from, const std::string& to) {
  const SlowMove move{.from = from.path, .to = to};
  SHERD_TRY(note_at(from, move));
  SHERD_TRY(begin_at_new_path(from, move));
  return carry_on(from, move);
}

Result<std::optional<std::string>> slow_move_to(const NodeLocation& from) {
  SHERD_TRY(move, noted_at(from));
  return move && move->from == from.path ? std::optional(std::move(move->to)) : std::nullopt;
}

Result<void> refuse_other_target(const NodeLocation& from, const std::string& noted, const std::string& to) {
  if (noted == to || from.store->traits().locks) return {};
  return conflict("the node '" + from.path + "' is being renamed to '" + noted +
                  "'; if that was cut short, rename it to '/" + noted + "' to complete it")
      .lasting()
      .in_key(move_note_of(from.path));
}

Result<bool> carry_on_slow_move(const NodeLocation& from, const std::string& to) {
  SHERD_TRY(move, noted_at(from));
  if (!move || move->from != from.path || move->to != to) return false;
  // A process that was killed before it put a document aside may not have checked the new path.
  SHERD_TRY(aside, documents_below(from, move->aside()));
  move->is_aside = !aside.empty();
  if (!move->moved && !move->is_aside) SHERD_TRY(begin_at_new_path(from, *move));
  SHERD_TRY(carry_on(from, *std::move(move)));
  return true;
}

Result<void> refuse_slow_move(const NodeLocation& location) {
  SHERD_TRY(move, noted_at(location));
  if (!move) return {};
  return conflict(move->advice()).lasting().in_key(move_note_of(location.path));
}

Result<void> refuse_changes_above(const NodeLocation& location) {
  for (std::string& path : ancestors(location.path)) {
    const NodeLocation group = at_path(location, std::move(path));
    SHERD_TRY(refuse_slow_move(group));
    SHERD_TRY(refuse_maker(group));
  }
  return {};
}

Result<void> refuse_slow_moves_below(const NodeLocation& location) {
  if (!location.store->traits().can_list) return refuse_slow_move(location);
  SHERD_TRY(move, move_below(location));
  return move ? Result<void>(being_moved(*move)) : Result<void>();
}

std::string hint_at_slow_move(const NodeLocation& location) {
  std::vector<std::string> paths = ancestors(location.path);
  paths.push_back(location.path);
  for (const std::string& path : paths)
    if (const auto move = noted_at(at_path(location, path)); move && *move) return "; " + (*move)->advice();
  return {};
}

Error no_node_at(const NodeLocation& location) {
  return not_found("no node exists here" + hint_at_slow_move(location))
      .in_key(location.format->likeliest_key(location.path));
}

Result<std::optional<std::string>> unfinished_move(Store& store, const std::string& prefix, const Limits& limits) {
  SHERD_TRY(move, read_move_note(store, prefix + std::string(kMoveNote), limits));
  const bool is_first = move && prefix.ends_with(staging_name(move->from) + "/");  // the first of two notes
  return is_first ? std::optional(move->advice()) : std::nullopt;
}

}  // namespace sherd
