#include "node/claim.hpp"

#include "base/call.hpp"
#include "base/checksum.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "store/capabilities.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/prefetched.hpp"

namespace sherd {
namespace {

std::string hex_of(std::uint32_t number) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += digits[number >> shift & 15U];
  return text;
}

constexpr std::string_view kClaim = "claim";

Error claimed_objects(const std::string& key) {
  return conflict(
             "another process is making the objects here, or was killed while it did; if none is at work, resume the "
             "copy ('--resume'), overwrite them with another build, or erase them ('sherd rm')")
      .lasting()
      .in_key(key);
}

Error claimed_by_another(const std::string& path, const std::string& key) {
  return conflict("another process is making or erasing the node '" + (path.empty() ? "/" : path) +
                  "', or was killed while it did; if none is at work, resume the copy ('--resume') or erase the node " +
                  "('sherd rm')")
      .lasting()
      .in_key(key);
}

}  // namespace

std::string staging_name(const std::string& path) {
  return std::string(kScratchPrefix) + hex_of(crc32c(as_bytes(path)));
}

bool is_staging(std::string_view name) noexcept { return name.starts_with(kScratchPrefix); }

Result<std::unique_ptr<StoreLock>> lock_node(const NodeLocation& location) {
  auto lock = as_call(location.config, [&] { return location.store->lock(staging_name(location.path)); });
  // The message names the node; the key would be that of a file that the user does not know.
  if (lock || lock.error().key() != staging_name(location.path)) return lock;
  Error named(lock.error().code(), lock.error().message());
  return lock.error().is_lasting() ? std::move(named).lasting() : std::move(named);
}

std::string staging_prefix(const NodeLocation& location) {
  if (location.store->traits().locks) return staging_name(location.path) + "/";
  return prefix_of(location.path) + staging_name("") + "/";
}
std::string note_key(const NodeLocation& location) { return staging_prefix(location) + ".sherd-copy.json"; }

Result<void> lock_if_being_made(const NodeLocation& location, std::unique_ptr<StoreLock>& lock) {
  if (!location.store->traits().can_list || renaming(*location.store, "") == nullptr) return {};
  const std::string prefix = staging_prefix(location);
  SHERD_TRY(nothing, lists_nothing(*location.store, prefix, ListDepth::children));
  if (nothing) return {};
  SHERD_TRY(taken, lock_node(location));
  lock = std::move(taken);
  return {};
}

Result<void> erase_staging(const NodeLocation& location) {
  if (renaming(*location.store, "") == nullptr) return {};
  SHERD_TRY(location.store->erase(note_key(location)));
  return location.store->erase_prefix(staging_prefix(location));
}

std::string claim_key(const NodeLocation& location) { return staging_prefix(location).append(kClaim); }

bool is_claim(std::string_view key) noexcept {
  return last_segment(key) == kClaim && is_staging(last_segment(parent_path(key)));
}

Result<std::optional<ClaimText>> read_claim(const NodeLocation& location, const std::string& key) {
  SHERD_TRY(text, location.store->get(key, location.config.limits.metadata_bytes));
  if (!text) return std::optional<ClaimText>();
  const auto json = Json::parse(*text);
  const auto member = [&](std::string_view name) {
    const Json* value = json.has_value() ? json->find(name) : nullptr;
    return value != nullptr ? value->text() : std::string();
  };
  // Another process may have named it from the root of another store.
  std::string path = location.store->traits().locks ? member("path") : std::string(parent_path(parent_path(key)));
  return std::optional(ClaimText{.path = std::move(path), .format = member("format"), .note = member("note")});
}

Result<std::optional<ClaimText>> claim_of(const NodeLocation& location) {
  return read_claim(location, claim_key(location));
}

std::vector<std::string> claim_keys(const NodeLocation& location) {
  std::vector<std::string> keys{claim_key(location)};
  if (location.store->traits().locks) return keys;
  for (std::string& group : ancestors(location.path)) keys.push_back(claim_key(at_path(location, std::move(group))));
  return keys;
}

Result<void> refuse_claim(const NodeLocation& location, const std::string& key) {
  if (location.store->traits().locks || !is_claim(key)) return {};
  SHERD_TRY(claim, read_claim(location, key));
  return claim ? Result<void>(claimed_by_another(claim->path, key)) : Result<void>();
}

Result<void> refuse_claimed_around(const NodeLocation& location) {
  if (location.store->traits().locks) return {};
  const std::vector<std::string> keys = claim_keys(location);
  const auto around = std::span(keys).subspan(1);
  SHERD_TRY(read, prefetched_store(*location.store, around));
  NodeLocation looking = location;
  looking.store = std::move(read);
  for (const std::string& key : around) SHERD_TRY(refuse_claim(looking, key));
  return {};
}

Result<void> refuse_overlapping(const NodeLocation& location) {
  if (location.store->traits().locks) return {};
  SHERD_TRY(refuse_claimed_around(location));
  const std::string prefix = prefix_of(location.path), own = claim_key(location);
  SHERD_TRY(location.store->visit(prefix, ListDepth::all, [&](const ListEntry& entry) -> Result<bool> {
    const std::string key = prefix + std::string(entry.name);
    if (key != own) SHERD_TRY(refuse_claim(location, key));
    return true;
  }));
  return {};
}

Result<Claim> Claim::take(const NodeLocation& location, const std::string& note, Existing existing) {
  Claim claim(location);
  const bool locks = location.store->traits().locks, replaces = locks || existing == Existing::is_taken_over;
  if (replaces) {
    SHERD_TRY(old, claim_of(location));
    claim.replaced_ = std::move(old);
  }
  auto stored = claim.store(note, replaces ? Condition{} : Condition::absent());
  if (!stored && !replaces && stored.error().code() == ErrorCode::conflict)
    return location.format != nullptr ? claimed_by_another(location.path, claim_key(location))
                                      : claimed_objects(claim_key(location));
  SHERD_TRY(std::move(stored));
  return claim;
}

Result<std::optional<Claim>> Claim::take_for_objects(NodeLocation location, std::string note, Existing existing) {
  if (location.store->traits().locks) return std::optional<Claim>();
  location.format = nullptr;
  if (existing == Existing::is_taken_over) {
    SHERD_TRY(left, claim_of(location));
    if (left && !left->format.empty())
      return conflict(
                 "a node is being made here, or was when its process was killed; resume its copy (without '--raw') or "
                 "erase it ('sherd rm')")
          .lasting()
          .in_key(claim_key(location));
    if (left) note = left->note;
  }
  SHERD_TRY(claim, take(location, note, existing));
  if (auto alone = refuse_claimed_around(location); !alone) {
    claim.undo();
    return std::move(alone).error();
  }
  return std::optional(std::move(claim));
}

Result<void> Claim::store(const std::string& note, const Condition& condition) {
  const std::string format(location_.format != nullptr ? location_.format->name() : "");
  const Json text(Json::Object{{"path", location_.path}, {"format", format}, {"note", note}});
  SHERD_TRY(written, write_document(*location_.store, {claim_key(location_), text.dump()}, condition));
  stored_ = std::move(written.generation);
  return {};
}

Result<void> Claim::set_note(const std::string& note) {
  auto noted = store(note, location_.store->traits().locks ? Condition{} : Condition::matches(stored_));
  if (noted || noted.error().code() != ErrorCode::unsupported) return noted;
  SHERD_TRY(confirm());  // the server compares nothing, and one process at a time makes a node
  return store(note, {});
}

void Claim::undo() {
  if (!confirm()) return;  // it is another's
  // The failure that made the caller give up is the one to report.
  if (replaced_)
    (void)set_note(replaced_->note);
  else
    (void)location_.store->erase(claim_key(location_));
}

Result<void> Claim::confirm() const {
  if (location_.store->traits().locks) return {};
  const std::string key = claim_key(location_);
  SHERD_TRY(source, location_.store->open(key));
  const Result<Generation> now = source != nullptr ? source->generation() : Generation();
  if (!now) return now.error();
  if (source != nullptr && *now == stored_) return {};
  return conflict("another process has erased the node '" + location_.path + "', or continues it")
      .lasting()
      .in_key(key);
}

Result<void> Claim::end() const {
  if (renaming(*location_.store, "") != nullptr) return erase_staging(location_);
  const auto confirmed = confirm();
  if (!confirmed && confirmed.error().code() == ErrorCode::conflict) return {};  // it is another's
  SHERD_TRY(confirmed);
  return end_confirmed();
}

Result<void> Claim::end_confirmed() const {
  SHERD_TRY(location_.store->erase(claim_key(location_)));
  return {};
}

}  // namespace sherd
