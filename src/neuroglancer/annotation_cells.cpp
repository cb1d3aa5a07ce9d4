// A point is in one cell and a box in a range of cells. Within its range, a line is in the cells that the segment
// crosses (clipped to the cell, axis by axis), and an ellipsoid in those whose nearest point is inside it. A polyline
// is in the cells of its segments.
#include "neuroglancer/annotation_cells.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace sherd::neuroglancer {
namespace {

bool crosses(std::span<const float> ends, std::span<const double> low, std::span<const double> high) {
  const std::size_t rank = low.size();
  double from = 0, to = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    const double start = ends[d], length = double{ends[rank + d]} - start;
    if (length == 0) {
      if (start < low[d] || start > high[d]) return false;
      continue;
    }
    const double a = (low[d] - start) / length, b = (high[d] - start) / length;
    from = std::max(from, std::min(a, b));
    to = std::min(to, std::max(a, b));
  }
  return from <= to;
}

bool reaches(std::span<const float> ellipsoid, std::span<const double> low, std::span<const double> high) {
  const std::size_t rank = low.size();
  double sum = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    const double centre = ellipsoid[d], radius = std::abs(double{ellipsoid[rank + d]});
    const double distance = std::abs(std::clamp(centre, low[d], high[d]) - centre);
    if (distance == 0) continue;
    if (radius == 0) return false;
    sum += distance / radius * (distance / radius);
  }
  return sum <= 1;
}

}  // namespace

Bounds Bounds::of(AnnotationType type, std::span<const float> vectors, std::size_t rank) {
  Bounds bounds{std::vector<double>(rank, INFINITY), std::vector<double>(rank, -INFINITY)};
  const auto include = [&](std::size_t d, double at) {
    bounds.low[d] = std::min(bounds.low[d], at);
    bounds.high[d] = std::max(bounds.high[d], at);
  };
  for (std::size_t d = 0; d < rank; ++d) {
    if (type == AnnotationType::ellipsoid) {
      const double radius = std::abs(double{vectors[rank + d]});
      include(d, vectors[d] - radius);
      include(d, vectors[d] + radius);
      continue;
    }
    for (std::size_t at = d; at < vectors.size(); at += rank) include(d, vectors[at]);
  }
  return bounds;
}

std::uint64_t CellFinder::cell_at(double at, std::size_t dimension) const {
  const double number = std::floor((at - grid_.lower[dimension]) / grid_.size[dimension]);
  return static_cast<std::uint64_t>(std::clamp(number, 0.0, static_cast<double>(grid_.cells[dimension] - 1)));
}

CellFinder::Range CellFinder::range(const Bounds& bounds) const {
  Range range{Shape(rank_), Shape(rank_)};
  for (std::size_t d = 0; d < rank_; ++d) {
    range.first[d] = cell_at(bounds.low[d], d);
    range.last[d] = cell_at(bounds.high[d], d);
  }
  return range;
}

bool CellFinder::is_met(std::span<const float> vectors, const Shape& cell) const {
  std::vector<double> low(rank_), high(rank_);
  for (std::size_t d = 0; d < rank_; ++d) {
    low[d] = grid_.lower[d] + static_cast<double>(cell[d]) * grid_.size[d];
    high[d] = grid_.lower[d] + static_cast<double>(cell[d] + 1) * grid_.size[d];
  }
  return type_ == AnnotationType::ellipsoid ? reaches(vectors, low, high) : crosses(vectors, low, high);
}

void CellFinder::visit_part(AnnotationType type, std::span<const float> vectors,
                            const std::function<void(const Shape& cell)>& visit) const {
  const Range all = range(Bounds::of(type, vectors, rank_));
  const bool exact =
      type == AnnotationType::point || type == AnnotationType::axis_aligned_bounding_box || all.first == all.last;
  bool any = false;
  for (Shape cell = all.first;;) {
    if (exact || is_met(vectors, cell)) {
      visit(cell);
      any = true;
    }
    std::size_t d = 0;
    while (d < rank_ && cell[d] == all.last[d]) {
      cell[d] = all.first[d];
      ++d;
    }
    if (d == rank_) break;
    ++cell[d];
  }
  if (!any) visit(all.first);  // it is on an edge, and was rounded to neither side
}

void CellFinder::find(std::span<const float> vectors, const std::function<void(const Shape& cell)>& visit) {
  if (type_ == AnnotationType::point) {
    for (std::size_t d = 0; d < rank_; ++d) point_[d] = cell_at(vectors[d], d);
    return visit(point_);
  }
  if (type_ != AnnotationType::polyline) return visit_part(type_, vectors, visit);
  if (vectors.size() == rank_) return visit_part(AnnotationType::point, vectors, visit);
  std::set<Shape> met;
  for (std::size_t at = 0; at + 2 * rank_ <= vectors.size(); at += rank_)
    visit_part(AnnotationType::line, vectors.subspan(at, 2 * rank_), [&](const Shape& cell) { met.insert(cell); });
  for (const Shape& cell : met) visit(cell);
}

double CellFinder::most(std::span<const float> vectors) const {
  const auto cells_in = [&](AnnotationType type, std::span<const float> part) {
    const Range all = range(Bounds::of(type, part, rank_));
    double count = 1;
    for (std::size_t d = 0; d < rank_; ++d) count *= static_cast<double>(all.last[d] - all.first[d] + 1);
    return count;
  };
  if (type_ != AnnotationType::polyline || vectors.size() == rank_) return cells_in(type_, vectors);
  double count = 0;
  for (std::size_t at = 0; at + 2 * rank_ <= vectors.size(); at += rank_)
    count += cells_in(AnnotationType::line, vectors.subspan(at, 2 * rank_));
  return count;
}

}  // namespace sherd::neuroglancer
