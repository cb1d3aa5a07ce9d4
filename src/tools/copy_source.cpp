// What a source has stored, and where: a listing finds the objects, indices the chunks inside. Only what meets
// the box in question is looked at, so that one chunk in a huge array costs one chunk's work.
#include <algorithm>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "tools/copy.hpp"

namespace sherd {
namespace {

struct CellSpan {
  Shape begin, end;

  [[nodiscard]] std::uint64_t count() const {
    Shape lengths(begin.size());
    for (std::size_t d = 0; d < begin.size(); ++d) lengths[d] = end[d] - begin[d];
    return element_count(lengths).value_or(~std::uint64_t{0});
  }
};

// Calls visit(cell) for each cell in C order until it returns false.
template <class Visit>
Result<bool> for_each_cell(const CellSpan& range, const Visit& visit) {
  for (std::size_t d = 0; d < range.begin.size(); ++d)
    if (range.begin[d] >= range.end[d]) return true;
  Shape cell = range.begin;
  for (;;) {
    SHERD_TRY(more, visit(cell));
    if (!more) return false;
    std::size_t d = cell.size();
    for (; d > 0; --d) {
      if (++cell[d - 1] < range.end[d - 1]) break;
      cell[d - 1] = range.begin[d - 1];
    }
    if (d == 0) return true;
  }
}

// The cells of a grid that a non-empty box meets.
CellSpan cells_within(const ChunkGrid& grid, const Box& box) {
  CellSpan range{Shape(box.origin.size()), Shape(box.origin.size())};
  for (std::size_t d = 0; d < box.origin.size(); ++d) {
    range.begin[d] = grid.axes()[d].cell_of(box.origin[d]);
    range.end[d] = grid.axes()[d].cell_of(box.origin[d] + box.shape[d] - 1) + 1;
  }
  return range;
}

bool is_empty(const Box& box) { return std::find(box.shape.begin(), box.shape.end(), 0) != box.shape.end(); }

// A chunk or shard, and the part of it that is wanted; all in the array order of its layout.
struct Level {
  ByteSource& source;
  Extent where;
  const ChunkLayout& layout;
  Shape shape;
  Box wanted;
  std::uint64_t first_id = 0;
};
using LevelVisit = std::function<Result<bool>(const Shape& origin, const Shape& shape, Extent where)>;

struct Indices {
  const Limits& limits;
  Cache& cache;
};

Result<bool> visit_level(const Level& at, const Indices& indices, const LevelVisit& visit) {
  const std::size_t rank = at.shape.size();
  if (!at.layout.shard || at.layout.opaque_shard()) return visit(Shape(rank, 0), at.shape, at.where);
  const ShardLayout& shard = *at.layout.shard;
  const auto& permutation = at.layout.chain.permutation();
  const Shape& inner = shard.inner_shape;
  const Shape stored = at.layout.chain.stored_shape(at.shape);
  const Shape grid = shard.grid(stored);
  SHERD_TRY(index, read_index({at.source, at.where, shard, grid, at.first_id}, indices.limits, indices.cache));
  const Box wanted{at.layout.chain.stored_shape(at.wanted.origin), at.layout.chain.stored_shape(at.wanted.shape)};
  CellSpan range{Shape(rank), Shape(rank)};
  for (std::size_t j = 0; j < rank; ++j) {
    range.begin[j] = wanted.origin[j] / inner[j];
    range.end[j] = ceil_div(wanted.origin[j] + wanted.shape[j], inner[j]);
  }
  return for_each_cell(range, [&](const Shape& cell) -> Result<bool> {
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
    const Extent absolute{at.where.offset + extent->offset, extent->length};
    const auto found = [&](const Shape& origin, const Shape& shape, Extent where) {
      Shape natural_origin(rank), natural_shape(rank);
      for (std::size_t j = 0; j < rank; ++j) {
        natural_origin[permutation[j]] = cell[j] * inner[j] + origin[j];
        natural_shape[permutation[j]] = shape[j];
      }
      return visit(natural_origin, natural_shape, where);
    };
    return visit_level({at.source, absolute, *shard.inner, shard.inner_shape_at(cell, stored), std::move(part)},
                       indices, found)
        .in_slot(slot);
  });
}

void sort_unique(std::vector<std::uint64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

Result<ArrayCopy> plan_copy(Array source, Array destination, std::shared_ptr<const ElementMap> map) {
  ArrayCopy plan{std::move(source), std::move(destination), CopyWay::encoded, false, {}, {}};
  const Array::State& from = plan.source.state();
  const Array::State& to = plan.destination.state();
  plan.map = std::move(map);
  const Shape shape = from.shape();
  const Shape count = from.grid.count(shape);
  const Shape to_shape = to.shape();
  const Shape to_count = to.grid.count(to_shape);
  const auto missing = plan.map ? plan.map->missing(from.layout.fill.bytes()) : from.layout.fill.bytes();
  const bool other_fill = !from.dtype.is_variable() && !std::ranges::equal(missing, to.layout.fill.bytes());
  if (other_fill || to.config().write_empty_chunks) {
    plan.everything = element_count(to_count);
    plan.bytes = element_count(to_shape).value_or(0) * to.dtype.size();
    if (!plan.everything) return unsupported("the copy would have more than 2^64 chunks, all of them stored");
  }
  if (!other_fill) plan.way = copy_way(from, to, plan.map ? plan.map->cheapest(from) : CopyWay::whole);
  const bool same_objects = plan.way == CopyWay::whole && !plan.map;
  plan.clips = is_clipped(from) != is_clipped(to);
  std::size_t compact = std::size_t{1} << 16;  // numbers are made unique whenever there are so many
  SHERD_TRY(from.storage->list(from, shape, [&](const Shape& cell, const std::string&, std::uint64_t) -> Result<void> {
    for (std::size_t d = 0; d < cell.size(); ++d)
      if (cell[d] >= count[d]) return {};
    plan.stored.push_back(ravel(cell, count));
    if (same_objects || plan.everything) return {};
    Box box{from.grid.cell_begin(cell), from.valid_shape(cell, shape)};
    if (plan.map) box = plan.map->goes_into(box);
    if (is_empty(box)) return {};
    SHERD_TRY(for_each_cell(cells_within(to.grid, box), [&](const Shape& target) -> Result<bool> {
      plan.objects.push_back(ravel(target, to_count));
      return true;
    }));
    if (plan.objects.size() < compact) return {};
    sort_unique(plan.objects);
    compact = std::max(compact, 2 * plan.objects.size());
    return {};
  }));
  sort_unique(plan.stored);
  if (same_objects) plan.objects = plan.stored;
  sort_unique(plan.objects);
  for (const auto number : plan.objects)
    plan.bytes += element_count(to.valid_shape(unravel(number, to_count), to_shape)).value_or(0) * to.dtype.size();
  return plan;
}

LeafFinder::LeafFinder(const ArrayCopy& task, Box box, const Config& config)
    : task_(task),
      state_(task.source.state()),
      config_(config),
      box_(task.map ? task.map->made_of(box, state_.shape()) : std::move(box)) {}

Result<void> LeafFinder::visit(const Visit& visit) {
  if (is_empty(box_)) return {};
  const Shape count = state_.grid.count(state_.shape());
  const CellSpan range = cells_within(state_.grid, box_);
  const auto inside = [&](const Shape& cell) {
    for (std::size_t d = 0; d < cell.size(); ++d)
      if (cell[d] < range.begin[d] || cell[d] >= range.end[d]) return false;
    return true;
  };
  if (range.count() > task_.stored.size()) {
    for (const auto number : task_.stored) {
      const Shape cell = unravel(number, count);
      if (!inside(cell)) continue;
      SHERD_TRY(more, visit_object(cell, visit));
      if (!more) return {};
    }
    return {};
  }
  SHERD_TRY(for_each_cell(range, [&](const Shape& cell) -> Result<bool> {
    if (!std::binary_search(task_.stored.begin(), task_.stored.end(), ravel(cell, count))) return true;
    return visit_object(cell, visit);
  }));
  return {};
}

Result<bool> LeafFinder::visit_object(const Shape& cell, const Visit& visit) {
  const std::string key = state_.key(cell);
  const auto look = [&]() -> Result<bool> {
    SHERD_TRY(source, state_.location.store->open(key));
    if (source == nullptr) return true;  // erased since it was listed
    SHERD_TRY(size, source->size());
    SHERD_TRY(generation, source->generation());
    objects_.push_back({key, std::move(generation)});
    const std::size_t object = objects_.size() - 1;
    const Shape begin = state_.grid.cell_begin(cell);
    const Shape shape = state_.grid.cell_shape(cell);
    Box wanted{Shape(cell.size()), Shape(cell.size())};
    for (std::size_t d = 0; d < cell.size(); ++d) {
      const std::uint64_t low = std::max(begin[d], box_.origin[d]);
      wanted.origin[d] = low - begin[d];
      wanted.shape[d] = std::min(begin[d] + shape[d], box_.origin[d] + box_.shape[d]) - low;
    }
    return visit_level({*source, {0, size}, state_.layout, shape, std::move(wanted), state_.grid.first_id(cell)},
                       {state_.config().limits, state_.cache},
                       [&](const Shape& origin, const Shape& leaf, Extent where) {
                         SourceLeaf found{{begin, leaf}, where, object};
                         for (std::size_t d = 0; d < origin.size(); ++d) found.box.origin[d] += origin[d];
                         if (task_.map) found.box = task_.map->goes_into(found.box);
                         return is_empty(found.box) ? Result<bool>(true) : visit(found);
                       });
  };
  return in_store(look().in_key(key), state_.location.store->url());
}

}  // namespace sherd
