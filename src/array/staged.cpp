// The node is made below `.sherd-new-HASH/node/` at the store's root, HASH being that of its path, under a lock of that
// name which ends with the process that holds it. So what is below it when the lock has been taken was left by
// a process that has ended. `.sherd-new-HASH/moving` exists while the node is moved to its path: only then may what
// exists there without being a node be part of it, and not foreign files. Everything that can fail before what
// existed there is erased is tried first; after that what has been made is all there is, and nothing but success erases
// it.
#include "array/staged.hpp"

#include <utility>

#include "array/consolidated.hpp"
#include "array/document.hpp"
#include "array/member_notes.hpp"
#include "array/slow_move.hpp"
#include "base/call.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

constexpr std::string_view kNode = "node/";
constexpr std::string_view kNote = ".sherd-copy.json";

/// Whether a writer can come to where the node's document will be: through a link that leads nowhere, say, or on a
/// disk that may only be read, it cannot.
Result<void> try_location(const NodeLocation& location) {
  SHERD_TRY(reached, location.store->lock(location.format->likeliest_key(location.path)));
  return {};
}

std::string moving_key(const std::string& path) { return staging_name(path) + "/moving"; }

}  // namespace

std::string staging_name(const std::string& path) {
  constexpr char digits[] = "0123456789abcdef";
  std::string name(kScratchPrefix);
  const std::uint32_t hash = crc32c(as_bytes(path));
  for (int shift = 28; shift >= 0; shift -= 4) name += digits[hash >> shift & 15U];
  return name;
}

Result<std::unique_ptr<StoreLock>> lock_node(const NodeLocation& location) {
  auto lock = as_call(location.config, [&] { return location.store->lock(staging_name(location.path)); });
  // The message names the node; the key would be that of a file that the user does not know.
  if (!lock && lock.error().code() == ErrorCode::unavailable && lock.error().key() == staging_name(location.path))
    return unavailable(lock.error().message());
  return lock;
}

Result<void> note_moving(const NodeLocation& location) { return location.store->set(moving_key(location.path), ""); }

Result<bool> is_moving(const NodeLocation& location) {
  SHERD_TRY(note, location.store->open(moving_key(location.path)));
  return note != nullptr;
}

bool is_staging(std::string_view name) noexcept { return name.starts_with(kScratchPrefix); }

Result<StagedNode> StagedNode::begin(NodeLocation destination, ClearOptions clear, bool resume) {
  SHERD_TRY(require_writable(destination));
  StagedNode staged;
  const std::string name = staging_name(destination.path);
  staged.prefix_ = name + "/";
  staged.clear_ = clear;
  SHERD_TRY(lock, lock_node(destination));
  staged.lock_ = std::move(lock);
  SHERD_TRY(moving, is_moving(destination));
  staged.partly_moved_ = moving;
  SHERD_TRY(check_clearable(destination, clear));
  staged.location_ = destination;
  staged.location_.store = prefixed_store(destination.store, staged.prefix_ + std::string(kNode));
  if (const auto* entry = capability<EntryPoint>(*destination.format)) staged.location_.format = entry->created();
  staged.destination_ = std::move(destination);
  if (!resume) SHERD_TRY(staged.abandon());
  return staged;
}

std::string StagedNode::note_key() const { return prefix_ + std::string(kNote); }

Error StagedNode::outward(const Error& error) const {
  const std::string scratch = prefix_ + std::string(kNode);
  const auto at_its_path = [&](std::string text) {
    for (std::size_t at = text.find(scratch); at != text.npos; at = text.find(scratch, at))
      text.erase(at, scratch.size());
    return text;
  };
  Error named(error.code(), at_its_path(error.message()));
  if (!error.key().empty()) std::move(named).in_key(at_its_path(error.key()));
  if (error.slot()) std::move(named).in_slot(*error.slot());
  if (!error.member().empty()) std::move(named).in_member(error.member());
  if (error.is_lasting()) std::move(named).lasting();
  return named;
}

Result<void> StagedNode::abandon() const {
  if (committing_) return {};
  return destination_.store->erase_prefix(partly_moved_ ? prefix_ + std::string(kNode) : prefix_);
}

Result<void> StagedNode::commit(const std::vector<std::string>& below) {
  Store& store = *destination_.store;
  SHERD_TRY(check_clearable(destination_, clear_));
  SHERD_TRY(try_location(destination_));
  SHERD_TRY(wait_for_writers(destination_));
  SHERD_TRY(note_moving(destination_));
  SHERD_TRY(enter(destination_));
  SHERD_TRY(occupied, prepare_location(destination_, clear_));
  SHERD_TRY(listed, introduce_stored(destination_, location_, below));
  committing_ = true;
  SHERD_TRY(put_in_place(occupied).in([&] {
    return "while it was moved to its destination; the rest of it is below '" + prefix_ + std::string(kNode) + "'";
  }));
  SHERD_TRY(store.erase(note_key()));  // first: with it, the next maker would treat the remains as an unfinished node
  SHERD_TRY(store.erase_prefix(prefix_));
  if (listed) SHERD_TRY(list_member(destination_));
  return renew_consolidated(destination_, below);
}

Result<StagedLeftover> StagedLeftover::find(const NodeLocation& destination) {
  StagedLeftover left;
  left.prefix_ = staging_name(destination.path) + "/";
  Store& store = *destination.store;
  SHERD_TRY(note, store.get(left.prefix_ + std::string(kNote), destination.config.limits.metadata_bytes));
  left.note_ = std::move(note);
  SHERD_TRY(moving, is_moving(destination));
  SHERD_TRY(moved,
            store.visit(left.prefix_ + std::string(kNode), ListDepth::all, [](const ListEntry&) { return false; }));
  left.in_place_ = !left.note_ || (moving && moved);
  return left;
}

Result<void> StagedLeftover::erase(const NodeLocation& destination) const {
  Store& store = *destination.store;
  SHERD_TRY(nothing, store.visit(prefix_, ListDepth::children, [](const ListEntry&) { return false; }));
  if (nothing) return {};
  SHERD_TRY(refuse_slow_move(destination));
  SHERD_TRY(lock, store.lock(prefix_.substr(0, prefix_.size() - 1)));
  return store.erase_prefix(prefix_);
}

Result<void> lock_if_staged(const NodeLocation& location, std::unique_ptr<StoreLock>& lock) {
  if (!location.store->traits().can_list) return {};
  const std::string prefix = staging_name(location.path) + "/";
  SHERD_TRY(nothing, location.store->visit(prefix, ListDepth::children, [](const ListEntry&) { return false; }));
  if (nothing) return {};
  SHERD_TRY(taken, lock_node(location));
  lock = std::move(taken);
  return {};
}

Result<void> erase_staged(const NodeLocation& location) {
  return location.store->erase_prefix(staging_name(location.path) + "/");
}

Result<void> StagedNode::put_in_place(bool occupied) const {
  if (occupied) SHERD_TRY(clear_location(destination_));
  return destination_.store->move_prefix(prefix_ + std::string(kNode), "");
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
