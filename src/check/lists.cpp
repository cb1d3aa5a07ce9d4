// Lists are checked entry by entry: whether an id belongs there, and whether its bytes are inside the shard and do not
// overlap the index. Lists may be anywhere, so this is known only after all of them have been read.
#include "check/lists.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

std::uint64_t joined_bytes(std::vector<Extent>& extents) {
  std::ranges::sort(extents, {}, &Extent::offset);
  std::uint64_t bytes = 0, end = 0;
  for (const Extent& each : extents) {
    if (each.end() <= end) continue;
    bytes += each.end() - std::max(end, each.offset);
    end = each.end();
  }
  return bytes;
}

std::string text(std::uint64_t id) { return "chunk " + std::to_string(id); }

class Lists {
 public:
  Lists(const IdShard& shard, const Limits& limits, Findings& to) : shard_(shard), limits_(limits), to_(to) {}

  Result<bool> take(std::uint64_t minishard, const MinishardIndex& list) {
    stored_.push_back(list.stored());
    for (const std::uint64_t id : list.repeated())
      to_.warning(
          "id_repeated", {},
          text(id) + " appears more than once in minishard " + std::to_string(minishard) + "; the first counts");
    for (const MinishardIndex::Chunk& chunk : list.chunks()) {
      ++to_.counts.chunks;
      if (is_misplaced(minishard, chunk.id)) continue;
      const auto slot = shard_.slot(chunk.id);
      if (!slot)
        to_.warning("chunk_outside", {}, text(chunk.id) + " " + shard_.outside);
      else
        take_entry(list, chunk, *slot);
    }
    if (found_.size() <= limits_.index_bytes / sizeof(FoundChunk)) return true;
    return unsupported("the lists of this shard exceed the limit index_bytes (" + std::to_string(limits_.index_bytes) +
                       ")");
  }

  /// Ends the check of lists.
  ShardLists finish(std::shared_ptr<ByteSource> source, std::uint64_t size) {
    const std::uint64_t index_bytes = shard_.values.format.sharding.head_bytes() + joined_bytes(stored_);
    std::erase_if(found_, [this](const FoundChunk& each) { return reaches_into_a_list(each); });
    return {std::move(source), size, index_bytes, std::move(found_)};
  }

 private:
  bool is_misplaced(std::uint64_t minishard, std::uint64_t id) {
    const Uint64Sharding& sharding = shard_.values.format.sharding;
    const auto location = sharding.locate(id);
    if (location == Uint64Sharding::Location{shard_.number, minishard}) return false;
    to_.error("id_misplaced", {},
              text(id) + " is in minishard " + std::to_string(minishard) + " but belongs in minishard " +
                  std::to_string(location.minishard) + " of " +
                  next_to(neuroglancer::ShardKeys(sharding, location.shard)) + ", where readers look for it");
    return true;
  }

  [[nodiscard]] std::string next_to(const neuroglancer::ShardKeys& keys) const {
    return std::string(split_key(shard_.key).prefix) + keys.shard;
  }

  void take_entry(const MinishardIndex& list, const MinishardIndex::Chunk& chunk, std::uint64_t slot) {
    const auto extent = list.extent(chunk);
    if (!extent)
      to_.error("extent_out_of_bounds", {slot}, extent.error().message());
    else if (extent->length > 0 && extent->offset < shard_.values.format.sharding.head_bytes())
      to_.error("extent_in_index", {slot, extent->offset}, text(chunk.id) + " reaches into the shard's index");
    else
      found_.push_back({*extent, slot});
  }

  // The lists are sorted by offset here; they may overlap each other.
  bool reaches_into_a_list(const FoundChunk& chunk) {
    const auto next =
        std::ranges::partition_point(stored_, [&](const Extent& list) { return list.offset < chunk.extent.end(); });
    const bool overlaps =
        chunk.extent.length > 0 && next != stored_.begin() && std::prev(next)->end() > chunk.extent.offset;
    if (overlaps)
      to_.error("extent_in_index", {chunk.slot, chunk.extent.offset},
                range_text(chunk.extent) + " reach into a list of the shard");
    return overlaps;
  }

  const IdShard& shard_;
  const Limits& limits_;
  Findings& to_;
  std::vector<Extent> stored_;
  std::vector<FoundChunk> found_;
};

// Why the lists cannot be read: there cannot be lists where the index says, or they cannot be decoded.
std::string_view code_of(const Error& error, const IdShard& shard, ByteSource& source) {
  if (error.code() == ErrorCode::unsupported) return document_code(error);  // above a limit
  if (!shard.values.format.sharding.gzip_index) return "index_size";        // uncompressed, there is no other reason
  return neuroglancer::check_list_extents(shard.values, source) ? "index_decode" : "index_size";
}

}  // namespace

Result<std::optional<ShardLists>> check_lists(const IdShard& shard, const Limits& limits, Findings& to) {
  constexpr auto nothing = [] { return std::optional<ShardLists>(); };
  const auto failed = [&](Error error, std::string_view code) -> Result<std::optional<ShardLists>> {
    SHERD_TRY(to.failed(std::move(error), code, {}));
    return nothing();
  };
  const bool is_data = shard.key.ends_with(".data");  // reported with the preceding index
  auto opened = neuroglancer::open_shard(shard.values, shard.number);
  if (!opened && is_data) return nothing();
  if (!opened) {
    // One object of the older pair is missing, or its size is wrong; under either name.
    const bool is_half = opened.error().key().ends_with(".index");
    return failed(std::move(opened).error(), is_half ? "index_size" : "unreadable");
  }
  if (opened->source == nullptr && !is_data) return nothing();  // erased since it was listed
  if (opened->is_pair == shard.key.ends_with(".shard")) {
    to.warning("foreign_object", {}, "is not part of the shard in use");
    return nothing();
  }
  if (is_data) return nothing();
  if (!opened->is_pair) SHERD_TRY(to.seen(*opened->source));
  ++to.counts.shards;
  Lists lists(shard, limits, to);
  auto listed = neuroglancer::for_each_list(
      shard.values, *opened->source,
      [&](std::uint64_t minishard, const MinishardIndex& list) { return lists.take(minishard, list); });
  if (!listed.has_value()) {
    const std::string_view code = code_of(listed.error(), shard, *opened->source);
    return failed(std::move(listed).error(), code);
  }
  auto size = opened->source->size();
  if (!size) return failed(std::move(size).error(), "unreadable");
  return std::optional(lists.finish(std::move(opened->source), *size));
}

}  // namespace sherd
