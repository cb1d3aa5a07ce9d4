#include "node/claim.hpp"

#include "base/call.hpp"
#include "base/checksum.hpp"
#include "base/try.hpp"
#include "node/document.hpp"
#include "store/capabilities.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"

namespace sherd {
namespace {

std::string hex_of(std::uint32_t number) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += digits[number >> shift & 15U];
  return text;
}

Error claimed_by_another(const NodeLocation& location) {
  return conflict("another process is making or erasing the node '" + location.path +
                  "', or was killed while it did; if none is at work, resume the copy ('--resume') or erase the node " +
                  "('sherd rm')")
      .lasting()
      .in_key(claim_key(location));
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

std::string prefix_of_unfinished(const NodeLocation& location) { return staging_name(location.path) + "/"; }
std::string note_key(const NodeLocation& location) { return prefix_of_unfinished(location) + ".sherd-copy.json"; }

Result<void> lock_if_being_made(const NodeLocation& location, std::unique_ptr<StoreLock>& lock) {
  if (!location.store->traits().can_list || renaming(*location.store, "") == nullptr) return {};
  const std::string prefix = prefix_of_unfinished(location);
  SHERD_TRY(nothing, lists_nothing(*location.store, prefix));
  if (nothing) return {};
  SHERD_TRY(taken, lock_node(location));
  lock = std::move(taken);
  return {};
}

Result<void> erase_unfinished(const NodeLocation& location) {
  if (renaming(*location.store, "") == nullptr) return {};
  SHERD_TRY(location.store->erase(note_key(location)));
  return location.store->erase_prefix(prefix_of_unfinished(location));
}

std::string claim_key(const NodeLocation& location) { return prefix_of_unfinished(location) + "claim"; }

Result<std::optional<std::string>> claim_of(const NodeLocation& location) {
  return location.store->get(claim_key(location), location.config.limits.metadata_bytes);
}

Result<void> refuse_claimed(const NodeLocation& location) {
  if (location.store->traits().locks) return {};
  SHERD_TRY(claim, claim_of(location));
  return claim ? Result<void>(claimed_by_another(location)) : Result<void>();
}

Result<Claim> Claim::take(const NodeLocation& location, const std::string& text, Existing existing) {
  Claim claim(location);
  const bool replaces = location.store->traits().locks || existing == Existing::is_taken_over;
  auto stored = claim.store(text, replaces ? Condition{} : Condition::absent());
  if (!stored && !replaces && stored.error().code() == ErrorCode::conflict) return claimed_by_another(location);
  SHERD_TRY(std::move(stored));
  return claim;
}

Result<void> Claim::store(const std::string& text, const Condition& condition) {
  SHERD_TRY(written, write_document(*location_.store, {claim_key(location_), text}, condition));
  stored_ = std::move(written.generation);
  return {};
}

Result<void> Claim::set(const std::string& text) {
  return store(text, location_.store->traits().locks ? Condition{} : Condition::matches(stored_));
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
  if (renaming(*location_.store, "") != nullptr) return erase_unfinished(location_);
  const auto confirmed = confirm();
  if (!confirmed && confirmed.error().code() == ErrorCode::conflict) return {};  // it is another's
  SHERD_TRY(confirmed);
  SHERD_TRY(location_.store->erase(claim_key(location_)));
  return {};
}

}  // namespace sherd
