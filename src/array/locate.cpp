// Locating chunks reads only the indexes of a shard, level by level. If requests have latency, the indexes of all
// objects on one level are read in one batch (read_objects.hpp); otherwise each thread handles an object.
#include "array/locate.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "array/partial_source.hpp"
#include "array/read_objects.hpp"
#include "base/checked.hpp"
#include "store/prefetched.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

// The part of the array at the beginning of a shard of ids that is read at once; a longer array costs another request.
constexpr std::uint64_t kHeadBytes = std::uint64_t{64} << 10;

/// A chunk or shard inside an object, and the part that is needed; all in the array order of its layout.
struct Level {
  ByteSource& source;
  Extent where;
  const ChunkLayout& layout;
  Shape shape;
  Box wanted;
  std::uint64_t first_id = 0;
};

/// Collects the chunks of one object.
class Finder {
 public:
  Finder(const Array::State& array, std::vector<LocatedChunk>& to) : array_(array), to_(to) {}

  /// Everything in the object that intersects `box`.
  Result<void> find(ByteSource& source, std::uint64_t size, const Shape& cell, const Box& box) {
    const Shape begin = array_.grid.cell_begin(cell);
    const Shape shape = array_.grid.cell_shape(cell);
    Box wanted{Shape(cell.size()), Shape(cell.size())};
    for (std::size_t d = 0; d < cell.size(); ++d) {
      const std::uint64_t low = std::max(begin[d], box.origin[d]);
      wanted.origin[d] = low - begin[d];
      wanted.shape[d] = std::min(begin[d] + shape[d], box.origin[d] + box.shape[d]) - low;
    }
    const auto found = [&](const Shape& origin, const Shape& leaf, Extent where) {
      LocatedChunk chunk{{begin, leaf}, where};
      for (std::size_t d = 0; d < origin.size(); ++d) chunk.box.origin[d] += origin[d];
      to_.push_back(std::move(chunk));
    };
    return descend({source, {0, size}, array_.layout, shape, std::move(wanted), array_.first_id(cell)}, found);
  }

 private:
  using Found = std::function<void(const Shape& origin, const Shape& shape, Extent where)>;

  Result<void> descend(const Level& at, const Found& found) {
    const std::size_t rank = at.shape.size();
    if (!at.layout.shard || at.layout.opaque_shard()) return found(Shape(rank, 0), at.shape, at.where), Result<void>{};
    const ShardLayout& shard = *at.layout.shard;
    const auto& permutation = at.layout.chain.permutation();
    const Shape& inner = shard.inner_shape;
    const Shape stored = at.layout.chain.stored_shape(at.shape);
    const Shape grid = shard.grid(stored);
    SHERD_TRY(index, read_index({at.source, at.where, shard, grid, at.first_id}, array_.config().limits, array_.cache));
    const Box wanted{at.layout.chain.stored_shape(at.wanted.origin), at.layout.chain.stored_shape(at.wanted.shape)};
    CellRange range{Shape(rank), Shape(rank)};
    for (std::size_t j = 0; j < rank; ++j) {
      range.begin[j] = wanted.origin[j] / inner[j];
      range.end[j] = ceil_div(wanted.origin[j] + wanted.shape[j], inner[j]);
    }
    SHERD_TRY(for_each_cell(range, [&](const Shape& cell) -> Result<bool> {
      const std::uint64_t slot = ravel(cell, grid);
      SHERD_TRY(extent, index->extent(slot));
      if (!extent) return true;
      Box part{Shape(rank), Shape(rank)};
      for (std::size_t j = 0; j < rank; ++j) {
        const std::uint64_t begin = std::max(wanted.origin[j], cell[j] * inner[j]);
        const std::uint64_t end = std::min(wanted.origin[j] + wanted.shape[j], (cell[j] + 1) * inner[j]);
        part.origin[j] = begin - cell[j] * inner[j];
        part.shape[j] = end - begin;
      }
      const auto found_inside = [&](const Shape& origin, const Shape& shape, Extent where) {
        Shape natural_origin(rank), natural_shape(rank);
        for (std::size_t j = 0; j < rank; ++j) {
          natural_origin[permutation[j]] = cell[j] * inner[j] + origin[j];
          natural_shape[permutation[j]] = shape[j];
        }
        found(natural_origin, natural_shape, where);
      };
      const Extent absolute{at.where.offset + extent->offset, extent->length};
      auto done = descend({at.source, absolute, *shard.inner, shard.inner_shape_at(cell, stored), std::move(part)},
                          found_inside);
      // The plans of other slots do not depend on bytes that have not arrived.
      if (!done && !waits_for_bytes(at.source)) return std::move(done).error().in_slot(slot);
      return true;
    }));
    return {};
  }

  const Array::State& array_;
  std::vector<LocatedChunk>& to_;
};

/// A single object; nullopt if it does not exist.
Result<std::optional<LocatedObject>> locate_one(const Array::State& array, const Shape& cell, const Box& box,
                                                std::uint64_t first_bytes = 0) {
  LocatedObject object{.key = array.key(cell), .generation = {}, .chunks = {}};
  Store& store = *array.location.store;
  const auto look = [&]() -> Result<bool> {
    object.chunks.clear();
    SHERD_TRY(source,
              first_bytes > 0 ? open_with(store, {.key = object.key, .length = first_bytes}) : store.open(object.key));
    if (source == nullptr) return false;
    SHERD_TRY(object.set_version(*source));
    SHERD_TRY(Finder(array, object.chunks).find(*source, object.size, cell, box));
    if (first_bytes > 0) object.source = std::move(source);
    return true;
  };
  SHERD_TRY(exists, retry_limited(array.config(), look).in_key(object.key));
  return exists ? std::optional(std::move(object)) : std::nullopt;
}

/// One of several objects that are located together.
class LocateObject final : public ObjectRead {
 public:
  LocateObject(const Array::State& array, const Shape& cell, const ChunksToLocate& wanted,
               std::optional<LocatedObject>& to)
      : array_(array),
        cell_(cell),
        box_(wanted.box),
        is_read_later_(wanted.is_read_later),
        to_(to),
        found_{.key = array.key(cell), .generation = {}, .chunks = {}} {}

  [[nodiscard]] ReadRequest first() const override {
    const ShardLayout& shard = *array_.layout.shard;
    const StoreTraits traits = array_.location.store->traits();
    const std::uint64_t index = first_index_bytes(array_.layout, array_.grid.cell_shape(cell_), array_.config().limits);
    return {.key = found_.key,
            .length = std::max(index, array_.config().tail_read_bytes.value_or(traits.tail_read_bytes)),
            .from_end = shard.slots() != nullptr && shard.slots()->location == IndexLocation::end};
  }
  [[nodiscard]] bool has_index() const noexcept override { return true; }
  [[nodiscard]] bool is_confirmed_later() const noexcept override { return is_read_later_ && !found_.chunks.empty(); }
  Result<std::vector<Run>> plan(ByteSource* source) override {
    exists_ = source != nullptr;
    if (!exists_) return std::vector<Run>();
    found_.chunks.clear();
    SHERD_TRY(found_.set_version(*source));
    SHERD_TRY(Finder(array_, found_.chunks).find(*source, found_.size, cell_, box_).in_key(found_.key));
    return std::vector<Run>();
  }
  Result<void> take(ByteSource& /*source*/, const Run& /*run*/, std::span<const std::byte> /*bytes*/) override {
    return {};
  }
  Result<void> finish() override {
    if (exists_) to_ = std::move(found_);
    return {};
  }
  Result<void> again() override {
    SHERD_TRY(alone, locate_one(array_, cell_, box_));
    to_ = std::move(alone);
    return {};
  }

 private:
  const Array::State& array_;
  const Shape& cell_;
  const Box& box_;
  const bool is_read_later_;
  std::optional<LocatedObject>& to_;
  LocatedObject found_;
  bool exists_ = false;
};

}  // namespace

Result<void> LocatedObject::set_version(ByteSource& from) {
  SHERD_TRY(bytes, from.size());
  SHERD_TRY(version, from.generation());
  size = bytes;
  generation = std::move(version);
  return {};
}

bool CellRange::contains(const Shape& cell) const noexcept {
  for (std::size_t d = 0; d < cell.size(); ++d)
    if (cell[d] < begin[d] || cell[d] >= end[d]) return false;
  return true;
}

std::uint64_t CellRange::count() const {
  Shape lengths(begin.size());
  for (std::size_t d = 0; d < begin.size(); ++d) lengths[d] = end[d] - begin[d];
  return element_count(lengths).value_or(~std::uint64_t{0});
}

CellRange cells_of(const ChunkGrid& grid, const Box& box) {
  CellRange range{Shape(box.origin.size()), Shape(box.origin.size())};
  for (std::size_t d = 0; d < box.origin.size(); ++d) {
    range.begin[d] = grid.axes()[d].cell_of(box.origin[d]);
    range.end[d] = grid.axes()[d].cell_of(box.origin[d] + box.shape[d] - 1) + 1;
  }
  return range;
}

std::uint64_t first_index_bytes(const ChunkLayout& layout, const Shape& shape, const Limits& limits) {
  const ShardLayout& shard = *layout.shard;
  if (shard.ids() != nullptr) return std::min(shard.ids()->format.sharding.head_bytes(), kHeadBytes);
  const auto bytes = shard.slots()->encoded_size(shard.grid(layout.chain.stored_shape(shape)), limits);
  return bytes ? *bytes : 0;  // if it exceeds a limit, reading the index reports it
}

Result<std::vector<std::optional<LocatedObject>>> locate_chunks(const Array::State& array, const ChunksToLocate& wanted,
                                                                const Config& config) {
  std::vector<std::optional<LocatedObject>> objects(wanted.cells.size());
  Store& store = *array.location.store;
  const StoreTraits traits = store.traits();
  const bool has_index = array.layout.shard && !array.layout.opaque_shard();
  const bool has_latency = traits.parallel_requests > 1;
  const std::uint64_t first_bytes = has_latency ? wanted.first_bytes : 0;
  if (has_latency && has_index && first_bytes == 0) {
    const auto make = [&](std::uint64_t i) -> std::unique_ptr<ObjectRead> {
      return std::make_unique<LocateObject>(array, wanted.cells[i], wanted, objects[i]);
    };
    SHERD_TRY(read_objects({store, config, array.cache, config.coalesce_gap.value_or(traits.coalesce_gap)},
                           objects.size(), make));
    return objects;
  }
  SHERD_TRY(
      parallel_for(objects.size(), with_requests(config, traits.parallel_requests), [&](std::size_t i) -> Result<void> {
        SHERD_TRY(object, locate_one(array, wanted.cells[i], wanted.box, first_bytes));
        objects[i] = std::move(object);
        return {};
      }));
  return objects;
}

}  // namespace sherd
