// Ranges are divided by arithmetic, sorted lists by a walk, points by sorting them by cell. A single part of a read is
// divided directly; the cells of several parts are listed, sorted, and grouped if they are the same.
#include "array/region.hpp"

#include <algorithm>
#include <numeric>

namespace sherd {
namespace {

// The number of coordinates start, start+step, … inside [begin, begin+length).
std::uint64_t run_length(std::int64_t start, std::int64_t step, std::uint64_t begin, std::uint64_t length) {
  const auto inside = static_cast<std::uint64_t>(start) - begin;
  return step > 0 ? (length - 1 - inside) / static_cast<std::uint64_t>(step) + 1
                  : inside / (std::uint64_t{0} - static_cast<std::uint64_t>(step)) + 1;
}

bool is_sorted_list(const Indices& list) { return std::is_sorted(list.begin(), list.end()); }

}  // namespace

bool AxisPart::covers(std::uint64_t length) const noexcept {
  if (length == 0) return true;
  if (!is_list()) return (step == 1 || step == -1) && count == length && lowest() == 0;
  std::uint64_t next = 0;  // sorted, possibly with repeats
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = coordinate(i);
    if (at > next) return false;
    if (at == next) ++next;
  }
  return next == length;
}

bool Region::covers(const Shape& shape) const noexcept {
  if (points) return sherd::element_count(shape) == std::uint64_t{1} && !axes.empty() && axes[0].count > 0;
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (!axes[d].covers(shape[d])) return false;
  return true;
}

Region Region::permuted(std::span<const std::size_t> permutation) const {
  Region result{.axes = {}, .points = points};
  result.axes.reserve(axes.size());
  for (const auto d : permutation) result.axes.push_back(axes[d]);
  return result;
}

std::uint64_t Region::element_count() const noexcept {
  if (points) return axes.empty() ? 0 : axes[0].count;
  std::uint64_t count = 1;
  for (const auto& axis : axes) count *= axis.count;
  return count;
}

std::int64_t Region::point_offset(std::uint64_t i, std::span<const std::int64_t> strides) const noexcept {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < axes.size(); ++d) offset += static_cast<std::int64_t>(axes[d].coordinate(i)) * strides[d];
  return offset;
}

std::uint64_t element_count(std::span<const ReadPart> parts) noexcept {
  std::uint64_t count = 0;
  for (const ReadPart& part : parts) count += part.region.element_count();
  return count;
}

SelectedRegion::SelectedRegion(const Selection& selection) {
  region_.points = selection.is_points();
  storage_.reserve(selection.axes().size() * 2 + 1);
  for (const auto& axis : selection.axes()) {
    AxisPart part;
    if (const auto* range = std::get_if<Range>(&axis)) {
      part.start = static_cast<std::int64_t>(range->start);
      part.step = range->count > 1 ? range->step : 1;
      part.count = range->count;
    } else {
      const auto& list = std::get<Indices>(axis);
      std::vector<std::uint64_t> order(list.size());
      std::iota(order.begin(), order.end(), std::uint64_t{0});
      if (!region_.points && !is_sorted_list(list))
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return list[a] < list[b]; });
      std::vector<std::uint64_t> sorted(list.size());
      std::transform(order.begin(), order.end(), sorted.begin(), [&](auto i) { return list[i]; });
      part.count = list.size();
      storage_.push_back(std::move(sorted));
      part.coordinates = storage_.back().data();
      storage_.push_back(std::move(order));
      part.positions = storage_.back().data();
    }
    region_.axes.push_back(part);
  }
}

Cells::Cells(const Region& region, std::span<const AxisGrid> grid) : points_(region.points) {
  if (points_) {
    divide_points(region, grid);
    return;
  }
  // Without elements there are no cells, however long the other dimensions are.
  if (std::ranges::any_of(region.axes, [](const AxisPart& axis) { return axis.count == 0; })) return;
  size_ = 1;
  axes_.resize(region.axes.size());
  for (std::size_t d = 0; d < region.axes.size(); ++d) {
    divide_axis(region.axes[d], grid[d], axes_[d]);
    size_ *= axes_[d].size();
  }
}

void Cells::divide_axis(const AxisPart& axis, const AxisGrid& grid, std::vector<Step>& steps) {
  for (std::uint64_t i = 0; i < axis.count;) {
    const std::uint64_t at = axis.coordinate(i);
    const std::uint64_t cell = grid.cell_of(at);
    const std::uint64_t begin = grid.begin(cell);
    const std::uint64_t length = grid.length(cell);
    AxisPart part = axis;
    if (axis.is_list()) {
      part.coordinates += i;
      part.positions += i;
      part.shift = axis.shift + begin;
      part.count = 0;
      while (i + part.count < axis.count && axis.coordinate(i + part.count) - begin < length) ++part.count;
    } else {
      part.start = static_cast<std::int64_t>(at - begin);
      part.first = axis.first + i;
      part.count = std::min(axis.count - i, run_length(static_cast<std::int64_t>(at), axis.step, begin, length));
    }
    i += part.count;
    steps.push_back({cell, part});
  }
}

void Cells::divide_points(const Region& region, std::span<const AxisGrid> grid) {
  const std::size_t rank = region.axes.size();
  const std::uint64_t count = region.axes.empty() ? 0 : region.axes[0].count;
  std::vector<std::vector<std::uint64_t>> cells(rank, std::vector<std::uint64_t>(count));
  for (std::size_t d = 0; d < rank; ++d)
    for (std::uint64_t i = 0; i < count; ++i) cells[d][i] = grid[d].cell_of(region.axes[d].coordinate(i));
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  const auto before = [&](std::uint64_t a, std::uint64_t b) {
    for (std::size_t d = 0; d < rank; ++d)
      if (cells[d][a] != cells[d][b]) return cells[d][a] < cells[d][b];
    return false;
  };
  std::stable_sort(order.begin(), order.end(), before);
  coordinates_.assign(rank, std::vector<std::uint64_t>(count));
  positions_.resize(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i == 0 || before(order[i - 1], order[i])) group_begin_.push_back(i);
    positions_[i] = region.axes[0].position(order[i]);
    for (std::size_t d = 0; d < rank; ++d) coordinates_[d][i] = region.axes[d].coordinate(order[i]);
  }
  size_ = group_begin_.size();
  group_begin_.push_back(count);
  point_grid_.assign(grid.begin(), grid.end());
}

void Cells::get(std::uint64_t i, Shape& cell, Region& part) const {
  part.points = points_;
  if (points_) {
    const std::size_t rank = coordinates_.size();
    cell.resize(rank);
    part.axes.resize(rank);
    for (std::size_t d = 0; d < rank; ++d) {
      const std::uint64_t* first = coordinates_[d].data() + group_begin_[i];
      cell[d] = point_grid_[d].cell_of(*first);
      part.axes[d] = {.start = 0,
                      .step = 1,
                      .count = group_begin_[i + 1] - group_begin_[i],
                      .first = 0,
                      .coordinates = first,
                      .positions = positions_.data() + group_begin_[i],
                      .shift = point_grid_[d].begin(cell[d])};
    }
    return;
  }
  cell.resize(axes_.size());
  part.axes.resize(axes_.size());
  for (std::size_t d = axes_.size(); d-- > 0;) {
    const Step& step = axes_[d][i % axes_[d].size()];
    i /= axes_[d].size();
    cell[d] = step.cell;
    part.axes[d] = step.part;
  }
}

ReadCells::ReadCells(std::span<const ReadPart> parts, std::span<const AxisGrid> grid) {
  divided_.reserve(parts.size());
  for (const ReadPart& part : parts) {
    Cells cells(part.region, grid);
    if (cells.size() > 0) divided_.push_back({std::move(cells), part.target});
  }
  if (divided_.size() > 1)
    group();
  else
    size_ = divided_.empty() ? 0 : divided_.front().cells.size();
}

void ReadCells::group() {
  std::vector<Member> listed;
  std::vector<std::uint64_t> coordinates;  // of the cell of each member, in sequence
  Shape cell;
  Region region;
  for (std::size_t part = 0; part < divided_.size(); ++part)
    for (std::uint64_t number = 0; number < divided_[part].cells.size(); ++number) {
      divided_[part].cells.get(number, cell, region);
      listed.push_back({part, number});
      coordinates.insert(coordinates.end(), cell.begin(), cell.end());
    }
  const std::size_t rank = cell.size();
  const auto of = [&](std::size_t member) { return std::span(coordinates).subspan(member * rank, rank); };
  std::vector<std::size_t> order(listed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const auto [x, y] = std::ranges::mismatch(of(a), of(b));
    return x == of(a).end() ? a < b : *x < *y;
  });
  members_.reserve(listed.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !std::ranges::equal(of(order[i - 1]), of(order[i]))) begins_.push_back(i);
    members_.push_back(listed[order[i]]);
  }
  size_ = begins_.size();
  begins_.push_back(members_.size());
}

void ReadCells::get(std::uint64_t i, Shape& cell, std::vector<ReadPart>& parts) const {
  const auto take = [&](const Member& member, ReadPart& part) {
    const Divided& divided = divided_[member.part];
    divided.cells.get(member.number, cell, part.region);
    part.target = divided.target;
  };
  if (members_.empty()) {
    parts.resize(1);
    return take({0, i}, parts.front());
  }
  parts.resize(begins_[i + 1] - begins_[i]);
  for (std::size_t k = 0; k < parts.size(); ++k) take(members_[begins_[i] + k], parts[k]);
}

std::vector<AxisGrid> regular_axes(const Shape& cell_shape) {
  std::vector<AxisGrid> axes;
  axes.reserve(cell_shape.size());
  for (const auto length : cell_shape) axes.emplace_back(length);
  return axes;
}

}  // namespace sherd
