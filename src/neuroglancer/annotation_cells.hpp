// Which cells of a grid an annotation intersects.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "sherd/box.hpp"
#include "sherd/neuroglancer.hpp"

namespace sherd::neuroglancer {

/// Cells of one size, beginning at `lower`; the far edge belongs to the last cell.
struct CellGrid {
  std::vector<double> lower, size;
  Shape cells;
};

/// The bounding box of an annotation.
struct Bounds {
  std::vector<double> low, high;
  /// Of the vectors of one annotation with this type.
  static Bounds of(AnnotationType type, std::span<const float> vectors, std::size_t rank);
};

class CellFinder {
 public:
  CellFinder(AnnotationType type, const CellGrid& grid)
      : type_(type), grid_(grid), rank_(grid.cells.size()), point_(rank_) {}

  /// Calls visit(cell) once for each cell that the annotation intersects, at least one.
  void find(std::span<const float> vectors, const std::function<void(const Shape& cell)>& visit);
  /// An upper bound on the number of cells that find() visits.
  [[nodiscard]] double most(std::span<const float> vectors) const;

 private:
  struct Range {
    Shape first, last;
  };
  [[nodiscard]] std::uint64_t cell_at(double at, std::size_t dimension) const;
  [[nodiscard]] Range range(const Bounds& bounds) const;
  [[nodiscard]] bool is_met(std::span<const float> vectors, const Shape& cell) const;
  void visit_part(AnnotationType type, std::span<const float> vectors,
                  const std::function<void(const Shape& cell)>& visit) const;

  AnnotationType type_;
  const CellGrid& grid_;
  std::size_t rank_;
  Shape point_;
};

}  // namespace sherd::neuroglancer
