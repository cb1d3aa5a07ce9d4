// Where the store renames, the node is made below `.sherd-new-HASH/node/` (node/claim.hpp) under the lock of that
// name, which ends with the process that holds it. So once the lock has been acquired, anything below the name was left
// by a process that has ended. The claim exists while the node is moved to its path. Everything that can fail before
// what existed there is erased is tried first. Afterwards the new node is the only copy, and only success erases it.
// Where a store can exchange two directories, what existed there is exchanged with the new node instead.
//
// In other stores, and where the path is on another file system, the claim exists from beginning to end. What existed
// at the path is erased first, then the objects of the node are stored at their keys, each once, and its documents
// last. The claim's text is empty until the old node is gone; then it is the note, so that a resumed call does not take
// old objects for its own.
#include "node/new_node.hpp"

#include <utility>

#include "base/base64.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "node/consolidated.hpp"
#include "node/creation.hpp"
#include "node/document.hpp"
#include "node/erase.hpp"
#include "store/capabilities.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"

namespace sherd {
namespace {

constexpr std::string_view kNode = "node/";

/// Whether a writer can write the node's document at its location. It cannot, for example, through a link that leads
/// nowhere, or on a read-only disk.
Result<void> try_location(const NodeLocation& location) {
  if (!location.store->traits().locks) return {};  // the claim shows it
  SHERD_TRY(reached, location.store->lock(location.format->likeliest_key(location.path)));
  return {};
}

/// Whether a node is made next to this path.
bool is_made_beside(const NodeLocation& location) {
  const NodeKeys keys = location.format->keys(location.path);
  return std::ranges::all_of(keys.contents,
                             [&](const std::string& prefix) { return renaming(*location.store, prefix) != nullptr; });
}

/// Identifies the node below `prefix` that is to be exchanged with the one at `location`.
Result<std::string> identity_below(const NodeLocation& location, const std::string& prefix) {
  std::string identity = "exchange";
  for (const std::string& key : location.format->keys(location.path).documents) {
    SHERD_TRY(document, location.store->open(prefix + key));
    SHERD_TRY(version, document != nullptr ? document->generation() : Generation());
    identity += "/" + encode_base64(version.token);
  }
  return identity;
}

/// Whether the new node is one directory: all of its objects are below its path, and nothing else is below `prefix`.
Result<bool> is_one_directory(const NodeLocation& location, std::string prefix) {
  const NodeKeys keys = location.format->keys(location.path);
  const std::string path = prefix_of(location.path);
  const auto is_inside = [&](const std::string& key) { return key.starts_with(path); };
  if (keys.contents != std::vector{path} || !std::ranges::all_of(keys.documents, is_inside)) return false;
  for (std::size_t begin = 0; begin < path.size(); begin = path.find('/', begin) + 1) {
    SHERD_TRY(listing, location.store->list_dir(prefix));
    if (!listing.objects.empty() || listing.prefixes.size() != 1) return false;
    prefix += listing.prefixes.front() + "/";
  }
  return true;
}

}  // namespace

Result<NewNode> NewNode::begin(NodeLocation destination, ClearOptions clear, const NewNodeNote& note) {
  SHERD_TRY(require_writable(destination));
  NewNode made;
  made.clear_ = clear;
  SHERD_TRY(lock, lock_node(destination));
  made.lock_ = std::move(lock);
  made.location_ = destination;
  made.destination_ = std::move(destination);
  Unfinished left = Unfinished::none;
  if (note.resume) {
    SHERD_TRY(found, find_unfinished(made.destination_, note.text));
    left = found;
  }
  made.resumed_ = left == Unfinished::beside || left == Unfinished::in_place;
  const bool beside = is_made_beside(made.destination_);
  if (beside || !made.resumed_) SHERD_TRY(check_clearable(made.destination_, clear));
  if (left == Unfinished::of_another)
    return conflict(
        "an unfinished copy of something else, or with other options, exists here; start again without resuming it");
  SHERD_TRY(beside ? made.begin_beside(note) : made.begin_in_place(note));
  return made;
}

Result<void> NewNode::begin_beside(const NewNodeNote& note) {
  SHERD_TRY(claim, claim_of(destination_));
  was_claimed_ = claim.has_value();
  prefix_ = staging_prefix(destination_) + std::string(kNode);
  location_.store = prefixed_store(destination_.store, prefix_);
  if (const auto* entry = capability<EntryPoint>(*destination_.format)) location_.format = entry->created();
  if (resumed_) return {};
  SHERD_TRY(abandon());
  return note.text.empty() ? Result<void>() : destination_.store->set(note_key(destination_), note.text);
}

Result<void> NewNode::begin_in_place(const NewNodeNote& note) {
  if (resumed_) {
    SHERD_TRY(claim, Claim::take(destination_, note.text, Claim::Existing::is_taken_over));
    claim_ = std::move(claim);
  } else {
    SHERD_TRY(try_location(destination_));
    SHERD_TRY(enter(destination_));
    SHERD_TRY(claim, make_room(destination_, clear_,
                               note.resume ? Claim::Existing::is_taken_over : Claim::Existing::is_conflict));
    claim_ = std::move(claim);
    if (!note.text.empty()) SHERD_TRY(claim_->set_note(note.text));
  }
  location_.format = destination_.format;
  documents_.emplace(destination_);
  location_.store = documents_->store();
  return {};
}

void NewNode::replace_with(std::shared_ptr<const Format> format) {
  location_.format = format;
  replacing_ = std::move(format);
}

Error NewNode::outward(const Error& error) const {
  if (prefix_.empty()) return error;
  const auto at_its_path = [&](std::string text) {
    for (std::size_t at = text.find(prefix_); at != text.npos; at = text.find(prefix_, at))
      text.erase(at, prefix_.size());
    return text;
  };
  Error named =
      Error(error.code(), at_its_path(error.message())).in_key(at_its_path(error.key())).in_member(error.member());
  if (error.slot()) named = Error(std::move(named).in_slot(*error.slot()));
  return error.is_lasting() ? std::move(named).lasting() : std::move(named);
}

Result<void> NewNode::abandon() const {
  if (committing_) return {};
  Store& store = *destination_.store;
  if (!documents_) return store.erase_prefix(was_claimed_ ? prefix_ : staging_prefix(destination_));
  SHERD_TRY(claim_->confirm());
  SHERD_TRY(erase_contents(destination_));
  return claim_->end();
}

Result<void> NewNode::commit(const std::vector<std::string>& below) {
  SHERD_TRY(documents_ ? commit_in_place() : commit_beside());
  if (replacing_) destination_.format = replacing_;
  // Lists must not lack the node while what it replaced is erased, which may take long.
  const auto listed = list_node(destination_, below);
  SHERD_TRY(claim_->end());
  return listed;
}

Result<void> NewNode::commit_beside() {
  SHERD_TRY(try_location(destination_));
  SHERD_TRY(wait_for_writers(destination_));
  SHERD_TRY(claim, Claim::take(destination_, "", Claim::Existing::is_conflict));
  claim_ = std::move(claim);
  SHERD_TRY(enter(destination_));
  SHERD_TRY(occupied, prepare_location(destination_, clear_));
  return put_in_place(occupied);
}

Result<void> NewNode::commit_in_place() {
  SHERD_TRY(claim_->confirm());
  committing_ = true;
  auto written = documents_->write(resumed_);
  if (!written && written.error().code() == ErrorCode::conflict) (void)claim_->end();  // the path is another's
  return written;
}

Result<void> list_node(const NodeLocation& node, const std::vector<std::string>& below) {
  SHERD_TRY(seen, with_groups_above(node));
  SHERD_TRY(listed, node.tables.changed(seen, MemberChange::made, nullptr));
  return renew_consolidated(listed ? node : seen, below);
}

Result<Unfinished> find_unfinished(const NodeLocation& destination, std::string_view note) {
  const bool beside = is_made_beside(destination);
  SHERD_TRY(claim, claim_of(destination));
  std::optional<std::string> noted = claim ? std::optional(claim->note) : std::nullopt;
  if (beside) {
    SHERD_TRY(text, destination.store->get(note_key(destination), destination.config.limits.metadata_bytes));
    noted = std::move(text);
  }
  if (!noted || noted->empty()) return Unfinished::none;
  if (noted != note) return Unfinished::of_another;
  if (!beside) return Unfinished::in_place;
  if (!claim) return Unfinished::beside;
  const std::string prefix = staging_prefix(destination) + std::string(kNode);
  if (!claim->note.empty()) {
    // They were to be exchanged. With a root, this claim is moved away, too.
    SHERD_TRY(identity, identity_below(destination, prefix));
    return !destination.path.empty() && identity != claim->note ? Unfinished::in_place : Unfinished::beside;
  }
  SHERD_TRY(moved, lists_nothing(*destination.store, prefix));
  return moved ? Unfinished::in_place : Unfinished::beside;
}

Result<void> erase_left(const NodeLocation& destination) {
  SHERD_TRY(nothing, lists_nothing(*destination.store, staging_prefix(destination), ListDepth::children));
  if (nothing) return {};
  SHERD_TRY(lock, lock_node(destination));
  return destination.store->erase_prefix(staging_prefix(destination));
}

// The claim then identifies the new node: it shows whether a killed process has left that or the old one.
Result<bool> NewNode::exchange() {
  RenamingStore* const store = renaming(*destination_.store, prefix_of(destination_.path));
  SHERD_TRY(is_one, is_one_directory(destination_, prefix_));
  if (store == nullptr || !is_one) return false;
  SHERD_TRY(identity, identity_below(destination_, prefix_));
  SHERD_TRY(claim_->set_note(identity));
  SHERD_TRY(destination_.tables.changed(destination_, MemberChange::leaving, nullptr));
  SHERD_TRY(unlist(destination_));
  const std::string path = prefix_of(destination_.path);
  committing_ = true;
  SHERD_TRY(exchanged, store->exchange(prefix_ + path, path));
  if (exchanged) return true;
  SHERD_TRY(claim_->set_note(""));
  return committing_ = false;
}

/// Moves the node in one step to a path where nothing is.
Result<bool> NewNode::move_at_once() const {
  const std::string path = prefix_of(destination_.path);
  SHERD_TRY(is_one, is_one_directory(destination_, prefix_));
  if (!is_one) return false;
  return renaming(*destination_.store, path)->move_at_once(prefix_ + path, path);
}

Result<void> NewNode::put_in_place(bool occupied) {
  SHERD_TRY(moved, occupied ? exchange() : move_at_once());
  if (moved) return {};
  // A node that has one document is created without the lock of the node, but with that of the document.
  SHERD_TRY(lock, destination_.store->lock(destination_.format->likeliest_key(destination_.path)));
  SHERD_TRY(still_occupied, check_clearable(destination_, clear_));
  committing_ = true;
  auto placed = still_occupied ? clear_location(destination_) : Result<void>();
  if (placed) placed = renaming(*destination_.store, "")->move_all(prefix_, "");
  return std::move(placed).in(
      [&] { return "while it was moved to its destination; the rest of it is below '" + prefix_ + "'"; });
}

}  // namespace sherd
