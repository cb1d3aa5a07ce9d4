// A repair is one step: the object is checked, changed on the condition that it is still the version that was checked,
// and checked again. So what remains in the report is what a reader would find.
#include "check/repair.hpp"

#include <utility>

#include "base/try.hpp"
#include "check/torn_index.hpp"
#include "neuroglancer/storage.hpp"
#include "shard/old_shard.hpp"
#include "store/key.hpp"
#include "store/read_into.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

constexpr unsigned kMaxSteps = 8;
constexpr unsigned kMaxBackups = 1000;  // of one object

Result<std::string> keep_old(const HeldObject& held) {
  for (unsigned number = 1; number <= kMaxBackups; ++number) {
    const std::string key = backup_of(held.key, number);
    SHERD_TRY(present, held.store().open(key));
    if (present != nullptr) continue;
    SHERD_TRY(writer, held.store().write(key, {.size = held.size}));
    SHERD_TRY(writer->copy(*held.source, 0, held.size, 0));
    const auto kept = writer->commit(Condition::absent());
    if (kept) return key;
    if (kept.error().code() != ErrorCode::conflict) return kept.error();
  }
  return unsupported("there are already " + std::to_string(kMaxBackups) + " backups of it; remove some of them");
}

/// Where the index is searched.
struct TornShard {
  const HeldObject& held;
  const ObjectCheck& check;
  ShardLocation location;
  std::uint64_t index_bytes;
};

Result<TornShard> torn_shard(const HeldObject& held, const ObjectCheck& check) {
  const Array::State& state = held.state;
  const ShardLayout& layout = *state.layout.shard;
  const CodecChain& chain = state.layout.chain;
  SHERD_TRY(type, chain.inner_type(chain.stored_shape(state.grid.cell_shape(held.cell))));
  const Shape grid = layout.grid(type.shape);
  SHERD_TRY(index_bytes, layout.slots()->encoded_size(grid, state.config().limits));
  if (index_bytes > held.size) return unsupported("has fewer bytes than its index, so there is no other index in it");
  SHERD_TRY(is_sealed, has_crc32c(*layout.slots(), grid));
  if (!is_sealed)
    return unsupported("its index_codecs do not end with crc32c, without which another index cannot be recognized");
  return TornShard{held, check, {*held.source, {0, held.size}, layout, grid}, index_bytes};
}

/// A shard that ends at `size`, with this index.
Result<void> refuse_hdf5_with(const TornShard& torn, Extent index_at, std::uint64_t size) {
  Buffer encoded;
  SHERD_TRY(read_into(torn.location.source, index_at, encoded));
  SHERD_TRY(index, ShardIndex::decode(*torn.location.layout.slots(), torn.location.grid, encoded.span(), size));
  return refuse_hdf5({.index = std::make_shared<const ShardIndex>(std::move(index)), .index_bytes = {index_at}},
                     torn.location.source);
}

Result<Repair> restore_head(const TornShard& torn, bool backup) {
  const HeldObject& held = torn.held;
  const Extent copy{held.size - torn.index_bytes, torn.index_bytes};
  Buffer head;
  SHERD_TRY(read_into(*held.source, copy, head));
  WithHead restored(*held.source, head.span());
  SHERD_TRY(is_sound, torn.check.is_sound(held.cell, restored, held.size));
  if (!is_sound) return unsupported("does not end with a sound second copy of its index");
  SHERD_TRY(refuse_hdf5_with(torn, copy, held.size));
  const auto write = [&]() -> Result<void> {
    SHERD_TRY(writer, held.store().write(held.key, {.size = held.size, .is_conditional = true}));
    SHERD_TRY(writer->write(0, head.span()));
    SHERD_TRY(writer->copy(*held.source, head.size(), held.size - head.size(), head.size()));
    return writer->commit(held.condition);
  };
  SHERD_TRY(kept, with_backup(held, backup, write));
  return Repair{"index_restored", held.key, "copied the second index at its end over the torn one at its beginning",
                std::move(kept)};
}

Result<Repair> cut_tail(const TornShard& torn, bool backup) {
  const HeldObject& held = torn.held;
  const auto accept = [&](std::uint64_t end) { return torn.check.is_sound(held.cell, *held.source, end); };
  SHERD_TRY(end, find_last_index({*held.source, held.size, torn.index_bytes}, accept));
  if (!end || *end == held.size) return unsupported("there is no older index in it that is sound");
  SHERD_TRY(refuse_hdf5_with(torn, {*end - torn.index_bytes, torn.index_bytes}, *end));
  const auto write = [&]() -> Result<void> {
    SHERD_TRY(writer, held.store().write(held.key, {.size = *end, .is_conditional = true}));
    SHERD_TRY(writer->copy(*held.source, 0, *end, 0));
    return writer->commit(held.condition);
  };
  SHERD_TRY(kept, with_backup(held, backup, write));
  return Repair{"tail_cut", held.key,
                "removed " + std::to_string(held.size - *end) +
                    " bytes after its last sound index, which ends at byte " + std::to_string(*end),
                std::move(kept)};
}

}  // namespace

Result<std::string> with_backup(const HeldObject& held, bool wanted, const std::function<Result<void>()>& change) {
  std::string key;
  if (wanted) {
    SHERD_TRY(kept, keep_old(held));
    key = std::move(kept);
  }
  auto changed = change();
  if (changed) return key;
  const ErrorCode code = changed.error().code();
  // After any other failure the object may have changed.
  if (!key.empty() && (code == ErrorCode::conflict || code == ErrorCode::unsupported || code == ErrorCode::corrupt))
    static_cast<void>(held.store().erase(key));
  return std::move(changed).error();
}

Result<Repair> repair_index(const HeldObject& held, const ObjectCheck& check, bool backup) {
  const ChunkLayout& layout = held.state.layout;
  if (layout.opaque_shard())
    return unsupported("the codecs around the shard must be decoded before its index is found");
  if (layout.shard->second) return unsupported("it would have only one of the two indexes of a dual-format shard");
  SHERD_TRY(torn, torn_shard(held, check));
  const bool at_start = layout.shard->slots()->location == IndexLocation::start;
  return at_start ? restore_head(torn, backup) : cut_tail(torn, backup);
}

Result<std::unique_ptr<Findings>> ObjectRepair::run(const Shape& cell, const std::string& key,
                                                    std::shared_ptr<ByteSource> listed) const {
  const Look look = [&](Findings& to) {
    if (options_) to.collect_broken();
    return check_.check(cell, key, std::exchange(listed, nullptr), to);
  };
  if (!options_) return look_at(store_, key, look);
  std::vector<Repair> done;
  return retry_conflicts(state_.config(), [&]() -> Result<std::unique_ptr<Findings>> {
    for (;;) {
      SHERD_TRY(found, look_at(store_, key, look));
      std::optional<Repair> repair;
      if (found->has_errors() && done.size() < kMaxSteps) {
        SHERD_TRY(step, noted(repaired(cell, key, *found), *found));
        repair = std::move(step);
      }
      if (repair) {
        done.push_back(*std::move(repair));
        continue;
      }
      found->repaired = std::move(done);
      return found;
    }
  });
}

Result<Repair> ObjectRepair::repaired(const Shape& cell, const std::string& key, const Findings& found) const {
  const bool by_id =
      neuroglancer::hashed_ids(state_) != nullptr || (state_.layout.shard && state_.layout.shard->ids() != nullptr);
  if (by_id) return unsupported("shards of values by id are not repaired; write the chunks again");
  if (!found.has_torn_index && found.broken().empty()) return unsupported("faults of this kind are not repaired");
  SHERD_TRY(held, hold_object(state_, cell, key));
  SHERD_TRY(generation, held.source != nullptr ? held.source->generation() : Generation{});
  if (!found.are_of(generation)) return conflict("was changed while it was checked").in_key(key);
  return attempt(held, found);
}

Result<Repair> ObjectRepair::attempt(const HeldObject& held, const Findings& found) const {
  std::optional<Error> no_index;
  if (found.has_torn_index) {
    auto repair = repair_index(held, check_, options_->backup);
    if (repair || repair.error().code() != ErrorCode::unsupported) return repair;
    no_index = std::move(repair).error();
  }
  if (options_->drop_broken && !found.broken().empty()) return drop_broken(held, found.broken(), options_->backup);
  if (no_index) return *std::move(no_index);
  std::string reason = "what cannot be read is emptied only if that is requested (--drop-broken)";
  if (state_.layout.shard && !state_.layout.opaque_shard() && !torn_shard(held, check_))
    reason +=
        "; if it is the index that is torn, no other one can be recognized, because its index_codecs do not end "
        "with crc32c";
  return unsupported(std::move(reason));
}

Result<std::optional<Repair>> noted(Result<Repair> repaired, Findings& found) {
  if (repaired) return std::optional(*std::move(repaired));
  const Error& error = repaired.error();
  if (is_lost_race(error) || error.code() == ErrorCode::unavailable) return std::move(repaired).error();
  found.warning("not_repaired", {}, error.message());
  return std::optional<Repair>();
}

}  // namespace sherd
