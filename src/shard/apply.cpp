// Appending stores an amendment; everything else becomes a new object.
#include "shard/apply.hpp"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "store/amendment.hpp"

namespace sherd {
namespace {

constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";
constexpr std::uint64_t kFirstUserBlock = 512;

Result<AppliedUpdate> amend(const StoredShard& shard, const std::function<Result<bool>(ObjectWriter&)>& write) {
  SHERD_TRY(generation, shard.old->generation());
  SHERD_TRY(size, shard.old->size());
  AmendmentWriter to(std::move(generation), size);
  SHERD_TRY(write(to));
  SHERD_TRY(amendment, to.amendment());
  SHERD_TRY(stored, shard.store.amend(shard.key, amendment));
  return AppliedUpdate{.exists = true, .generation = std::move(stored)};
}

Result<AppliedUpdate> replace(const StoredShard& shard, const std::function<Result<bool>(ObjectWriter&)>& write) {
  SHERD_TRY(size, shard.old != nullptr ? shard.old->size() : std::uint64_t{0});
  SHERD_TRY(object, shard.store.write(shard.key, {.size = size}));
  SHERD_TRY(exists, write(*object));
  if (!exists) return AppliedUpdate{};
  SHERD_TRY(object->commit(shard.condition));
  return AppliedUpdate{.exists = true, .generation = object->committed()};
}

}  // namespace

Result<void> refuse_hdf5(const OldShard& shard, ByteSource& old) {
  const std::uint64_t size = shard.index->object_size();
  std::vector<std::uint64_t> places;
  for (std::uint64_t at = 0; at < size && size - at >= kHdf5.size(); at = at == 0 ? kFirstUserBlock : at * 2)
    places.push_back(at);
  const auto leave_out = [&](const Extent& used) {
    std::erase_if(places, [&](std::uint64_t at) { return at >= used.offset && at - used.offset < used.length; });
  };
  for (const Extent& part : shard.index_bytes) leave_out(part);
  for (std::uint64_t slot = 0; slot < shard.index->slots() && !places.empty(); ++slot)
    if (shard.index->entry(slot) == ShardIndex::Entry::stored) leave_out(shard.index->placed(slot));
  if (places.empty()) return {};
  std::vector<std::array<std::byte, kHdf5.size()>> bytes(places.size());
  std::vector<RangeRead> reads;
  for (std::size_t i = 0; i < places.size(); ++i) reads.push_back({places[i], bytes[i]});
  SHERD_TRY(old.read(reads));
  for (const auto& each : bytes)
    if (std::memcmp(each.data(), kHdf5.data(), kHdf5.size()) == 0)
      return unsupported(
          "the shard is an HDF5 file at the same time, and an update would lose the metadata of that file; copy the "
          "array to shards of another shape ('sherd copy --shards') and change the copy");
  return {};
}

Result<AppliedUpdate> apply(const StoredShard& shard, const IndexCoding& coding, ShardUpdate update, std::size_t window,
                            ShardWriter::Empty empty, const std::function<Result<void>(ShardWriter&)>& put) {
  const bool amends = update.kind == UpdateKind::amend && shard.old != nullptr;
  ShardWriter writer(coding, std::move(update), window);
  const auto write = [&](ObjectWriter& to) -> Result<bool> {
    SHERD_TRY(writer.start(to, shard.old));
    SHERD_TRY(put(writer));
    return writer.finish(empty);
  };
  SHERD_TRY(applied, amends ? amend(shard, write) : replace(shard, write));
  applied.moved = writer.moved();
  applied.size = writer.end();
  return applied;
}

}  // namespace sherd
