// Appending stores an amendment; everything else becomes a new object.
#include "shard/apply.hpp"

#include <utility>

#include "base/try.hpp"
#include "store/amendment.hpp"

namespace sherd {
namespace {

/// Writes the version; false if nothing of it remains, so that no object should exist.
using WriteVersion = std::function<Result<bool>(ObjectWriter&)>;

// An amendment that changes nothing, because fill values were written where no chunks are, is not stored.
Result<AppliedUpdate> amend(const StoredShard& shard, const ShardWriter& writer, const WriteVersion& write) {
  SHERD_TRY(generation, shard.old->generation());
  SHERD_TRY(size, shard.old->size());
  AmendmentWriter to(generation, size, writer.alignment());
  SHERD_TRY(exists, write(to));
  if (!exists) return AppliedUpdate{};
  if (!writer.has_changes()) return AppliedUpdate{.exists = true, .generation = std::move(generation), .size = size};
  SHERD_TRY(amendment, to.amendment());
  SHERD_TRY(stored, shard.store.amend(shard.key, amendment));
  return AppliedUpdate{.exists = true,
                       .generation = std::move(stored),
                       .unchanged = writer.unchanged(),
                       .overwritten = writer.overwritten(),
                       .size = amendment.appended.empty() ? size : writer.end()};
}

Result<AppliedUpdate> replace(const StoredShard& shard, const ShardWriter& writer, const WriteVersion& write) {
  SHERD_TRY(size, shard.old != nullptr ? shard.old->size() : std::uint64_t{0});
  const bool is_conditional = shard.condition.kind == Condition::Kind::matches;
  SHERD_TRY(object, shard.store.write(shard.key, {.size = size,
                                                  .is_conditional = is_conditional,
                                                  .keeps_offsets = writer.kind() == UpdateKind::keep_offsets}));
  SHERD_TRY(exists, write(*object));
  if (!exists) return AppliedUpdate{};
  SHERD_TRY(object->commit(shard.condition));
  return AppliedUpdate{
      .exists = true, .generation = object->committed(), .unchanged = writer.unchanged(), .size = writer.end()};
}

}  // namespace

Result<AppliedUpdate> apply(const StoredShard& shard, const IndexCoding& coding, ShardUpdate update, std::size_t window,
                            ShardWriter::Empty empty, const std::function<Result<void>(ShardWriter&)>& put) {
  const bool amends = keeps_object(update.kind) && shard.old != nullptr;
  ShardWriter writer(coding, std::move(update), window);
  const auto write = [&](ObjectWriter& to) -> Result<bool> {
    SHERD_TRY(writer.start(to, shard.old));
    SHERD_TRY(put(writer));
    return writer.finish(empty);
  };
  return amends ? amend(shard, writer, write) : replace(shard, writer, write);
}

}  // namespace sherd
