// The node is created below `.sherd-new-HASH/node/` at the store's root, where HASH is that of its path, under a lock
// of that name which ends with the process that holds it. So once the lock has been acquired, anything below the name
// was left by a process that has ended. `.sherd-new-HASH/moving` exists while the node is moved to its path: only then
// may objects at the path without a node be part of it, rather than foreign objects. Everything that can fail
// before what existed there is erased is tried first. Afterwards the new node is the only copy, and only success
// erases it. Where a store can exchange two directories, what existed there is exchanged with the new node instead.
//
// In a store without locks each maker has its own name, and creates its node below `.sherd-new-HASH/MAKER/node/`.
// Each may continue until it stores `moving`, with its name and on condition that this does not exist. The one that
// succeeds finally erases what the others have made, their notes first: a maker whose note is gone when it has
// stored `moving` has lost a part of its node.
#include "array/staged.hpp"

#include <random>
#include <utility>

#include "array/consolidated.hpp"
#include "array/document.hpp"
#include "base/call.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "store/capabilities.hpp"
#include "store/condition.hpp"
#include "store/key.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

constexpr std::string_view kNode = "node/";
constexpr std::string_view kNote = ".sherd-copy.json";
constexpr std::string_view kMaker = "maker-";
constexpr std::string_view kWithdrawn = "withdrawn";  ///< instead of a maker's name, where notes cannot be erased

/// Whether a writer can write the node's document at its location. It cannot, for example, through a link that leads
/// nowhere, or on a read-only disk.
Result<void> try_location(const NodeLocation& location) {
  SHERD_TRY(reached, location.store->lock(location.format->likeliest_key(location.path)));
  return {};
}

std::string hex_of(std::uint32_t number) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += digits[number >> shift & 15U];
  return text;
}

std::string moving_key(const std::string& path) { return staging_name(path) + "/moving"; }

bool has_locks(const NodeLocation& location) { return location.store->traits().locks; }

/// The prefix of a maker's node and of its note.
std::string prefix_of_maker(const NodeLocation& location, const std::string& maker) {
  return staging_name(location.path) + "/" + (has_locks(location) ? "" : maker + "/");
}

std::string note_of_maker(const NodeLocation& location, const std::string& maker) {
  return prefix_of_maker(location, maker) + std::string(kNote);
}

/// Identifies the node below `prefix` that is to be exchanged with the one at `location`.
Result<std::string> identity_below(const NodeLocation& location, const std::string& prefix) {
  std::string identity = "exchange";
  for (const std::string& key : location.format->keys(location.path).documents) {
    SHERD_TRY(document, location.store->open(prefix + key));
    SHERD_TRY(version, document != nullptr ? document->generation() : Generation());
    identity += "/" + version.token;
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

/// What the note of a node contains: the name of its maker, or nothing. nullopt if there is no note.
Result<std::optional<std::string>> noted_maker(const NodeLocation& location) {
  SHERD_TRY(text, location.store->get(moving_key(location.path), location.config.limits.metadata_bytes));
  if (text == kWithdrawn) return std::optional<std::string>();
  return text;
}

/// The makers that have something below the staging name. With locks there is only one, which needs no name.
Result<std::vector<std::string>> makers_at(const NodeLocation& location) {
  if (has_locks(location)) return std::vector<std::string>{""};
  SHERD_TRY(listing, location.store->list_dir(staging_name(location.path) + "/"));
  std::erase_if(listing.prefixes, [](const std::string& name) { return !name.starts_with(kMaker); });
  return std::move(listing.prefixes);
}

/// Erases what a maker has created, its note first.
Result<void> erase_maker(const NodeLocation& location, const std::string& maker) {
  SHERD_TRY(location.store->erase(note_of_maker(location, maker)));
  return location.store->erase_prefix(prefix_of_maker(location, maker));
}

/// `conflict` if there is a note that a group around `location` is being erased or replaced.
Result<void> refuse_makers_above(const NodeLocation& location) {
  for (std::string& path : ancestors(location.path)) SHERD_TRY(refuse_maker(at_path(location, std::move(path))));
  return {};
}

Error another_maker(const NodeLocation& location) {
  return conflict("another process is creating or erasing the node '" + location.path +
                  "', or was killed while it did; if none is at work, erase the node")
      .lasting()
      .in_key(moving_key(location.path));
}

}  // namespace

std::string staging_name(const std::string& path) {
  return std::string(kScratchPrefix) + hex_of(crc32c(as_bytes(path)));
}

Result<std::unique_ptr<StoreLock>> lock_node(const NodeLocation& location) {
  auto lock = as_call(location.config, [&] { return location.store->lock(staging_name(location.path)); });
  // The message names the node; the key would be that of a file that the user does not know.
  if (lock || lock.error().key() != staging_name(location.path)) return lock;
  Error named(lock.error().code(), lock.error().message());
  return lock.error().is_lasting() ? std::move(named).lasting() : std::move(named);
}

std::string new_maker() {
  std::random_device random;
  std::string name(kMaker);
  for (int i = 0; i < 2; ++i) name += hex_of(random());
  return name;
}

Result<std::unique_ptr<MovingNote>> MovingNote::store(const NodeLocation& location, const std::string& maker,
                                                      bool take_over) {
  std::unique_ptr<MovingNote> note(new MovingNote(location));
  Store& store = *location.store;
  const std::string key = moving_key(location.path);
  if (has_locks(location)) {
    SHERD_TRY(store.set(key, ""));
    return note;
  }
  SHERD_TRY(retry_conflicts(location.config, [&]() -> Result<void> {
    SHERD_TRY(present, store.open(key));
    SHERD_TRY(condition, unchanged_since(present.get()));
    if (!take_over) SHERD_TRY(refuse_maker(location, maker));
    SHERD_TRY(writer, store.write(key, maker.size()));
    SHERD_TRY(writer->write(0, as_bytes(maker)));
    SHERD_TRY(writer->commit(condition));
    note->stored_ = writer->committed();
    return {};
  }));
  return note;
}

MovingNote::~MovingNote() {
  if (stored_) (void)location_.store->set(moving_key(location_.path), "", Condition::matches(*stored_));
}

Result<void> MovingNote::end() {
  SHERD_TRY(erase_staged(location_));
  stored_.reset();
  return {};
}

Result<void> MovingNote::withdraw() {
  Store& store = *location_.store;
  const std::string key = moving_key(location_.path);
  if (has_locks(location_)) {
    SHERD_TRY(store.erase(key));
    return {};
  }
  if (!stored_) return {};  // withdrawn before
  const Condition is_own = Condition::matches(*stored_);
  auto withdrawn =
      store.traits().conditional_erase ? erase_or_empty(store, key, is_own) : store.set(key, kWithdrawn, is_own);
  if (!withdrawn && withdrawn.error().code() != ErrorCode::conflict) return withdrawn;  // otherwise it is another's
  stored_.reset();
  return {};
}

Result<void> MovingNote::refuse_node() {
  SHERD_TRY(exists, any_format(location_, [](const NodeLocation& there) -> Result<bool> {
              SHERD_TRY(present, own_presence(there));
              return present == Presence::stored;
            }));
  if (!exists) return {};
  SHERD_TRY(withdraw());
  return conflict("another process created something here in the meantime")
      .in_key(location_.format->likeliest_key(location_.path));
}

Result<void> refuse_maker(const NodeLocation& location, std::string_view maker) {
  SHERD_TRY(text, noted_maker(location));
  if (!text || (!has_locks(location) && (text->empty() || *text == maker))) return {};
  return another_maker(location);
}

Result<bool> is_moving(const NodeLocation& location) {
  SHERD_TRY(note, noted_maker(location));
  return note.has_value();
}

bool is_staging(std::string_view name) noexcept { return name.starts_with(kScratchPrefix); }

Result<StagedNode> StagedNode::begin(NodeLocation destination, ClearOptions clear, const StagedNote& note) {
  SHERD_TRY(require_writable(destination));
  StagedNode staged;
  staged.clear_ = clear;
  SHERD_TRY(lock, lock_node(destination));
  staged.lock_ = std::move(lock);
  SHERD_TRY(moving, is_moving(destination));
  staged.partly_moved_ = moving;
  SHERD_TRY(check_clearable(destination, clear));
  StagedLeftover left;
  if (note.resume) {
    SHERD_TRY(found, StagedLeftover::find(destination, note.text));
    left = std::move(found);
  }
  staged.maker_ = left.is_same() ? left.maker() : new_maker();
  if (moving && !has_locks(destination)) SHERD_TRY(refuse_maker(destination, staged.maker_));
  staged.shares_prefix_ = left.is_same() && !has_locks(destination);
  staged.prefix_ = prefix_of_maker(destination, staged.maker_);
  staged.location_ = destination;
  staged.location_.begins_with_group = false;
  staged.location_.store = prefixed_store(destination.store, staged.prefix_ + std::string(kNode));
  if (const auto* entry = capability<EntryPoint>(*destination.format)) staged.location_.format = entry->created();
  staged.destination_ = std::move(destination);
  if (left.is_same()) return staged;
  if (left.is_other())
    return conflict(
        "an unfinished copy of something else, or with other options, exists here; start again without resuming it");
  if (has_locks(staged.destination_)) SHERD_TRY(staged.abandon());
  if (!note.text.empty() || !has_locks(staged.destination_))
    SHERD_TRY(staged.destination_.store->set(staged.note_key(), note.text));
  return staged;
}

std::string StagedNode::note_key() const { return note_of_maker(destination_, maker_); }

void StagedNode::replace_with(std::shared_ptr<const Format> format) {
  location_.format = format;
  replacing_ = std::move(format);
}

Result<void> StagedNode::refuse_erased() const {
  if (has_locks(destination_)) return {};
  SHERD_TRY(note, destination_.store->open(note_key()));
  if (note != nullptr) return {};
  return conflict("another process has created or erased a node here in the meantime")
      .in_key(destination_.format->likeliest_key(destination_.path));
}

Error StagedNode::outward(const Error& error) const {
  if (auto erased = refuse_erased(); !erased && erased.error().code() == ErrorCode::conflict)
    return std::move(erased).error();
  const std::string scratch = prefix_ + std::string(kNode);
  const auto at_its_path = [&](std::string text) {
    for (std::size_t at = text.find(scratch); at != text.npos; at = text.find(scratch, at))
      text.erase(at, scratch.size());
    return text;
  };
  Error named =
      Error(error.code(), at_its_path(error.message())).in_key(at_its_path(error.key())).in_member(error.member());
  if (error.slot()) named = Error(std::move(named).in_slot(*error.slot()));
  return error.is_lasting() ? std::move(named).lasting() : std::move(named);
}

Result<void> StagedNode::abandon() const {
  if (committing_) return {};
  if (!has_locks(destination_)) {
    if (moving_ && !partly_moved_) SHERD_TRY(moving_->withdraw());
    return shares_prefix_ ? Result<void>() : erase_maker(destination_, maker_);
  }
  return destination_.store->erase_prefix(partly_moved_ ? prefix_ + std::string(kNode) : prefix_);
}

Result<void> StagedNode::commit(const std::vector<std::string>& below) {
  SHERD_TRY(check_clearable(destination_, clear_));
  SHERD_TRY(try_location(destination_));
  SHERD_TRY(wait_for_writers(destination_));
  SHERD_TRY(moving, MovingNote::store(destination_, maker_));
  moving_ = std::move(moving);
  SHERD_TRY(refuse_erased());
  if (!has_locks(destination_)) SHERD_TRY(refuse_makers_above(destination_));
  SHERD_TRY(enter(destination_));
  SHERD_TRY(occupied, prepare_location(destination_, clear_));
  committing_ = true;
  SHERD_TRY(put_in_place(occupied));
  // Without locks, objects may have been erased or moved away together with the group while the others arrived.
  auto around = has_locks(destination_) ? restore_parents(destination_) : refuse_orphan(destination_);
  const bool is_refused = !around && around.error().code() == ErrorCode::conflict;
  if (is_refused) SHERD_TRY(clear_location(destination_));
  if (replacing_) destination_.format = replacing_;
  // Lists must not lack the node while what it replaced is erased, which may take long.
  const auto listed = is_refused ? Result<void>() : list_node(destination_, below);
  SHERD_TRY(moving_->end());
  if (is_refused) return around;
  SHERD_TRY(std::move(around).in([] { return "the node is at its path, but groups around it may be missing"; }));
  return listed;
}

Result<void> list_node(const NodeLocation& node, const std::vector<std::string>& below) {
  SHERD_TRY(node.tables.changed(node, MemberChange::made));
  return renew_consolidated(node, below);
}

Result<StagedLeftover> StagedLeftover::find(const NodeLocation& destination, std::string_view note) {
  StagedLeftover left;
  Store& store = *destination.store;
  SHERD_TRY(makers, makers_at(destination));
  for (const std::string& maker : makers) {
    SHERD_TRY(noted, store.get(note_of_maker(destination, maker), destination.config.limits.metadata_bytes));
    const bool is_same = noted == note;
    left.is_same_ = left.is_same_ || is_same;
    left.is_other_ = left.is_other_ || (!is_same && noted && !noted->empty());
    if (is_same) left.maker_ = maker;
  }
  if (!left.is_same_) return left;
  SHERD_TRY(moving, store.get(moving_key(destination.path), destination.config.limits.metadata_bytes));
  SHERD_TRY(moved, store.visit(prefix_of_maker(destination, left.maker_) + std::string(kNode), ListDepth::all,
                               [](const ListEntry&) { return false; }));
  left.in_place_ = moving && moved && (moving->empty() || *moving == left.maker_);
  if (!has_locks(destination) || !moving || moving->empty()) return left;
  // They were to be exchanged. With a root, this note is moved away, too.
  SHERD_TRY(identity, identity_below(destination, prefix_of_maker(destination, "") + std::string(kNode)));
  left.in_place_ = !destination.path.empty() && identity != *moving;
  return left;
}

Result<void> StagedLeftover::erase(const NodeLocation& destination) const {
  Store& store = *destination.store;
  const std::string prefix = staging_name(destination.path) + "/";
  SHERD_TRY(nothing, store.visit(prefix, ListDepth::children, [](const ListEntry&) { return false; }));
  if (nothing) return {};
  SHERD_TRY(lock, store.lock(staging_name(destination.path)));
  if (has_locks(destination)) return store.erase_prefix(prefix);
  if (!is_same_) return {};
  SHERD_TRY(moving, MovingNote::store(destination, maker_));
  return moving->end();
}

Result<void> lock_if_staged(const NodeLocation& location, std::unique_ptr<StoreLock>& lock) {
  if (!location.store->traits().can_list || !has_locks(location)) return {};
  const std::string prefix = staging_name(location.path) + "/";
  SHERD_TRY(nothing, location.store->visit(prefix, ListDepth::children, [](const ListEntry&) { return false; }));
  if (nothing) return {};
  SHERD_TRY(taken, lock_node(location));
  lock = std::move(taken);
  return {};
}

Result<void> erase_staged(const NodeLocation& location) {
  SHERD_TRY(makers, makers_at(location));
  for (const std::string& maker : makers) SHERD_TRY(erase_maker(location, maker));
  if (!has_locks(location)) SHERD_TRY(location.store->erase(moving_key(location.path)));
  return {};
}

// The note of the move then identifies the new node: it shows whether a killed maker has left that or the old one.
Result<bool> StagedNode::exchange() const {
  auto* const store = dynamic_cast<ExchangingStore*>(destination_.store.get());
  const std::string prefix = prefix_ + std::string(kNode), path = prefix_of(destination_.path);
  if (store == nullptr || !store->can_exchange()) return false;
  SHERD_TRY(is_one, is_one_directory(destination_, prefix));
  if (!is_one) return false;
  SHERD_TRY(identity, identity_below(destination_, prefix));
  SHERD_TRY(destination_.store->set(moving_key(destination_.path), identity));
  SHERD_TRY(destination_.tables.changed(destination_, MemberChange::leaving));
  SHERD_TRY(unlist(destination_));
  SHERD_TRY(exchanged, store->exchange(prefix + path, path));
  if (!exchanged) SHERD_TRY(destination_.store->set(moving_key(destination_.path), ""));
  return exchanged;
}

Result<void> StagedNode::put_in_place(bool occupied) const {
  if (occupied) {
    SHERD_TRY(exchanged, exchange());
    if (exchanged) return {};
  }
  const std::string prefix = prefix_ + std::string(kNode);
  auto moved = occupied ? clear_location(destination_) : Result<void>();
  if (moved) moved = destination_.store->move_prefix(prefix, "");
  return std::move(moved).in(
      [&] { return "while it was moved to its destination; the rest of it is below '" + prefix + "'"; });
}

Result<void> create_with(const NodeLocation& destination, const NodeDocument& node, bool overwrite,
                         const std::function<Result<void>(const Array&)>& contents) {
  const std::string& url = destination.store->url();
  SHERD_TRY(staged, in_store(StagedNode::begin(destination, {.overwrite = overwrite}), url));
  const auto make = [&]() -> Result<void> {
    SHERD_TRY(in_store(check_links(staged.location(), node), url));
    SHERD_TRY(in_store(write_counterpart(staged.location(), node), url));
    SHERD_TRY(in_store(write_documents(staged.location(), node.document, Condition::absent()), url));
    SHERD_TRY(array, make_array(staged.location(), node));
    if (auto filled = contents(array); !filled) return staged.outward(filled.error());
    return in_store(staged.commit(), url);
  };
  auto made = make();
  if (!made) (void)staged.abandon();  // the first failure is the one to report
  return made;
}

}  // namespace sherd
