// Locates the stored chunks of a source: a listing finds the objects, and its storage locates the chunks inside. Only
// the parts that intersect the box are examined, so that one chunk in a huge array costs the work for one chunk.
#include <algorithm>

#include "array/locate.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "copy/object.hpp"
#include "store/retry.hpp"

namespace sherd {
namespace {

/// Bytes of an object that are read together with opening it: at most, and beyond those of its elements.
constexpr std::uint64_t kMostAhead = std::uint64_t{16} << 20, kLeastAhead = std::uint64_t{4} << 10;

bool is_empty(const Box& box) { return std::find(box.shape.begin(), box.shape.end(), 0) != box.shape.end(); }

void sort_unique(std::vector<std::uint64_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Lists the source's chunks and the objects that they result in.
Result<void> list_stored(ArrayCopy& plan, bool same_objects) {
  const Array::State& from = plan.source.state();
  const Array::State& to = plan.destination.state();
  const Shape shape = from.shape(), count = from.grid.count(shape), to_count = to.grid.count(to.shape());
  std::size_t compact = std::size_t{1} << 16;  // duplicates are removed whenever there are this many
  SHERD_TRY(from.storage->list(from, shape, [&](const Shape& cell, const std::string&, std::uint64_t) -> Result<void> {
    for (std::size_t d = 0; d < cell.size(); ++d)
      if (cell[d] >= count[d]) return {};
    plan.stored.push_back(ravel(cell, count));
    if (same_objects || plan.everything) return {};
    Box box{from.grid.cell_begin(cell), from.valid_shape(cell, shape)};
    if (plan.map) box = plan.map->goes_into(box);
    if (is_empty(box)) return {};
    SHERD_TRY(for_each_cell(cells_of(to.grid, box), [&](const Shape& target) -> Result<bool> {
      plan.objects.push_back(ravel(target, to_count));
      return true;
    }));
    if (plan.objects.size() < compact) return {};
    sort_unique(plan.objects);
    compact = std::max(compact, 2 * plan.objects.size());
    return {};
  }));
  return {};
}

/// Lists the chunks of an array that exists from the beginning of the list to its end: while an array is erased or
/// replaced, a list would be without some of its chunks.
Result<void> list_whole(ArrayCopy& plan, bool same_objects) {
  const auto list = [&]() -> Result<void> {
    plan.stored.clear();
    plan.objects.clear();
    SHERD_TRY(list_stored(plan, same_objects));
    return plan.source.state().confirm_missing();
  };
  return in_store(retry_limited(plan.destination.config(), list), plan.source.store()->url());
}

}  // namespace

Result<ArrayCopy> plan_unlisted(Array source, Array destination, std::shared_ptr<const ElementMap> map) {
  ArrayCopy plan{std::move(source), std::move(destination), CopyWay::encoded, false, {}, {}};
  const Array::State& from = plan.source.state();
  const Array::State& to = plan.destination.state();
  plan.map = std::move(map);
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
  plan.clips = is_clipped(from) != is_clipped(to);
  const bool encodes = plan.way == CopyWay::encoded || plan.clips || plan.everything;
  if (encodes) SHERD_TRY(check_encoders(to.document().array->codecs, to.location.codecs()).in_member("codecs"));
  return plan;
}

Result<void> list_chunks(ArrayCopy& plan) {
  const Array::State& to = plan.destination.state();
  const Shape shape = to.shape(), count = to.grid.count(shape);
  const bool same_objects = plan.way == CopyWay::whole && !plan.map;
  SHERD_TRY(list_whole(plan, same_objects));
  sort_unique(plan.stored);
  if (same_objects) plan.objects = plan.stored;
  sort_unique(plan.objects);
  for (const auto number : plan.objects)
    plan.bytes += element_count(to.valid_shape(unravel(number, count), shape)).value_or(0) * to.dtype.size();
  return {};
}

Result<ArrayCopy> plan_copy(Array source, Array destination, std::shared_ptr<const ElementMap> map) {
  SHERD_TRY(plan, plan_unlisted(std::move(source), std::move(destination), std::move(map)));
  SHERD_TRY(list_chunks(plan));
  return plan;
}

LeafFinder::LeafFinder(const ArrayCopy& task, Box box, const Config& config, Wanted wanted)
    : task_(task),
      state_(task.source.state()),
      config_(config),
      box_(task.map ? task.map->made_of(box, state_.shape()) : std::move(box)),
      wanted_(wanted) {}

Result<void> LeafFinder::visit(const Visit& visit) {
  if (is_empty(box_)) return {};
  const Shape count = state_.grid.count(state_.shape());
  const CellRange range = cells_of(state_.grid, box_);
  // As many together as the store answers requests at a time.
  const std::size_t together = state_.location.store->traits().parallel_requests;
  std::vector<Shape> cells;
  const auto add = [&](const Shape& cell) -> Result<bool> {
    cells.push_back(cell);
    if (cells.size() < together) return true;
    return visit_objects(std::exchange(cells, {}), visit);
  };
  if (range.count() > task_.stored.size()) {
    for (const auto number : task_.stored) {
      const Shape cell = unravel(number, count);
      if (!range.contains(cell)) continue;
      SHERD_TRY(more, add(cell));
      if (!more) return {};
    }
  } else {
    SHERD_TRY(more, for_each_cell(range, [&](const Shape& cell) -> Result<bool> {
                if (!std::binary_search(task_.stored.begin(), task_.stored.end(), ravel(cell, count))) return true;
                return add(cell);
              }));
    if (!more) return {};
  }
  SHERD_TRY(visit_objects(cells, visit));
  return {};
}

Result<std::vector<std::optional<LocatedObject>>> LeafFinder::locate(const std::vector<Shape>& cells) const {
  if (wanted_.extents || state_.layout.shard) {
    const std::uint64_t elements = element_count(state_.grid.cell_shape(cells.front())).value_or(kMostAhead);
    const std::uint64_t bytes = std::min(elements, kMostAhead) * state_.dtype.size(),
                        encoded = bytes + bytes / 64 + kLeastAhead;
    const std::uint64_t first = encoded <= std::min(wanted_.whole, kMostAhead) ? encoded : 0;
    return locate_chunks(state_, {cells, box_, first, wanted_.is_moved}, config_);
  }
  std::vector<std::optional<LocatedObject>> listed;
  for (const Shape& cell : cells)
    listed.emplace_back(LocatedObject{.key = state_.key(cell),
                                      .generation = {},
                                      .chunks = {{{state_.grid.cell_begin(cell), state_.grid.cell_shape(cell)}, {}}}});
  return listed;
}

Result<bool> LeafFinder::visit_objects(const std::vector<Shape>& cells, const Visit& visit) {
  if (cells.empty()) return true;
  SHERD_TRY(located, in_store(locate(cells), state_.location.store->url()));
  for (auto& object : located) {
    if (!object) {  // erased since it was listed
      *task_.vanished = true;
      continue;
    }
    std::vector<LocatedChunk> chunks = std::exchange(object->chunks, {});
    objects_.push_back(*std::move(object));
    for (LocatedChunk& chunk : chunks) {
      SourceLeaf leaf{std::move(chunk.box), chunk.extent, objects_.size() - 1};
      if (task_.map) leaf.box = task_.map->goes_into(leaf.box);
      if (is_empty(leaf.box)) continue;
      SHERD_TRY(more, visit(leaf));
      if (!more) return false;
    }
  }
  return true;
}

}  // namespace sherd
