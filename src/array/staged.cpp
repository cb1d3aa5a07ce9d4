// The node is made below `.sherd-new-HASH/node/` at the store's root, HASH being that of its path, under a lock of that
// name which ends with the process that holds it. So what stands below it when the lock has been taken was left by
// somebody who is gone. `.sherd-new-HASH/moving` is there while the node is put into its place: only then may what
// stands at that place without being a node be a part of it, and not somebody's files. All that can fail before what
// stood there goes is tried before; from then on what has been made is all there is, and nothing but success erases it.
#include "array/staged.hpp"

#include <utility>

#include "array/consolidated.hpp"
#include "array/document.hpp"
#include "base/try.hpp"
#include "base/url.hpp"

namespace sherd {
namespace {

constexpr std::string_view kNode = "node/";
constexpr std::string_view kNote = ".sherd-copy.json";

/// Whether a writer can come to where the node's document will stand: through a link that leads nowhere, say, or on a
/// disk that may only be read, it cannot.
Result<void> try_place(const NodePlace& place) {
  SHERD_TRY(reached, place.store->lock(place.format->likeliest_key(place.path)));
  return {};
}

}  // namespace

Result<StagedNode> StagedNode::begin(NodePlace destination, RoomOptions room, bool resume) {
  SHERD_TRY(require_writable(destination));
  StagedNode staged;
  const std::string name = staging_name(destination.path);
  staged.prefix_ = name + "/";
  staged.room_ = room;
  SHERD_TRY(lock, lock_node(destination));
  staged.lock_ = std::move(lock);
  SHERD_TRY(moving, is_moving(destination));
  staged.partly_moved_ = moving;
  SHERD_TRY(check_room(destination, room));
  staged.place_ = destination;
  staged.place_.store = prefixed_store(destination.store, staged.prefix_ + std::string(kNode));
  if (const auto* entry = capability<EntryPoint>(*destination.format)) staged.place_.format = entry->created();
  staged.destination_ = std::move(destination);
  if (!resume) SHERD_TRY(staged.abandon());
  return staged;
}

std::string StagedNode::note_key() const { return prefix_ + std::string(kNote); }

Result<void> StagedNode::abandon() const {
  if (committing_) return {};
  return destination_.store->erase_prefix(partly_moved_ ? prefix_ + std::string(kNode) : prefix_);
}

Result<void> StagedNode::commit(const std::vector<std::string>& below) {
  Store& store = *destination_.store;
  SHERD_TRY(check_room(destination_, room_));
  SHERD_TRY(try_place(destination_));
  SHERD_TRY(wait_for_writers(destination_));
  SHERD_TRY(note_moving(destination_));
  SHERD_TRY(enter(destination_));
  SHERD_TRY(occupied, prepare_room(destination_, room_));
  committing_ = true;
  SHERD_TRY(put_in_place(occupied).in([&] {
    return "while it was put into its place; what is not there yet stands below '" + prefix_ + std::string(kNode) + "'";
  }));
  SHERD_TRY(store.erase(note_key()));  // first: with it, the next maker would take what is left for an unfinished node
  SHERD_TRY(store.erase_prefix(prefix_));
  return renew_consolidated(destination_, below);
}

Result<StagedLeftover> StagedLeftover::find(const NodePlace& destination) {
  StagedLeftover left;
  left.prefix_ = staging_name(destination.path) + "/";
  Store& store = *destination.store;
  SHERD_TRY(note, store.get(left.prefix_ + std::string(kNote), destination.config.limits.metadata_bytes));
  left.note_ = std::move(note);
  SHERD_TRY(moving, is_moving(destination));
  SHERD_TRY(moved,
            store.list(left.prefix_ + std::string(kNode), [](const std::string&, std::uint64_t) { return false; }));
  left.in_place_ = !left.note_ || (moving && moved);
  return left;
}

Result<void> StagedLeftover::erase(const NodePlace& destination) const {
  Store& store = *destination.store;
  SHERD_TRY(listing, store.list_dir(prefix_));
  if (listing.objects.empty() && listing.prefixes.empty()) return {};
  SHERD_TRY(lock, store.lock(prefix_.substr(0, prefix_.size() - 1)));
  return store.erase_prefix(prefix_);
}

Result<void> StagedNode::put_in_place(bool occupied) const {
  if (occupied) SHERD_TRY(clear_room(destination_));
  return destination_.store->move_prefix(prefix_ + std::string(kNode), "");
}

Result<void> create_with(const NodePlace& destination, const NodeDocument& node, bool overwrite,
                         const std::function<Result<void>(const Array&)>& contents) {
  const std::string& url = destination.store->url();
  SHERD_TRY(staged, in_store(StagedNode::begin(destination, {.overwrite = overwrite}), url));
  const auto make = [&]() -> Result<void> {
    SHERD_TRY(in_store(check_links(staged.place(), node), url));
    SHERD_TRY(in_store(write_counterpart(staged.place(), node), url));
    SHERD_TRY(in_store(write_documents(staged.place(), node.document, Condition::absent()), url));
    SHERD_TRY(array, make_array(staged.place(), node));
    SHERD_TRY(contents(array));
    return in_store(staged.commit(), url);
  };
  auto made = make();
  if (!made) (void)staged.abandon();  // the first failure is the one to tell
  return made;
}

}  // namespace sherd
