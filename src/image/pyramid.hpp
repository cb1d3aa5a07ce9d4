// The coarser resolutions that a copy adds to an image: their number, and the factor of each axis.
#pragma once

#include <optional>
#include <vector>

#include "image/reduce.hpp"
#include "ome/image.hpp"

namespace sherd {

/// A level: its shape, and how its elements are computed from the previous level.
struct CoarserLevel {
  Shape shape;
  Reduction how;
};

/// Adds axis names to factors that are given one per axis, in this order, so that they apply to axes in any order.
void name_factors(Pyramid& pyramid, const std::vector<std::string>& axes);

class PyramidPlan {
 public:
  /// Errors name the member `pyramid` or `factors`: elements without a mean or mode, or factors not fitting the axes.
  static Result<PyramidPlan> make(const Pyramid& pyramid, const Image& image, const DType& dtype);

  /// Whether another level is needed after `made` coarser ones; the last one has this shape.
  [[nodiscard]] bool wants_level(const Image& image, std::uint64_t made, const Shape& shape, const Shape& chunks) const;
  /// Appends the next level to the image; nullopt if no axis can become coarser. `finer` is the shape of the last
  /// level. With `whole`, offsets are whole numbers of elements.
  [[nodiscard]] std::optional<CoarserLevel> add_level(Image& image, const Shape& finer, bool whole) const;
  /// Whether levels have fewer channels than the image.
  [[nodiscard]] bool shrinks_channels(const Image& image) const;

 private:
  PyramidPlan(const Pyramid& pyramid, const Image& image);
  Result<void> take_factors(const Image& image);
  [[nodiscard]] bool may_shrink(const Image& image, std::size_t dimension) const;
  [[nodiscard]] double finest_spacing(const Image& image, const Shape& shape) const;

  Pyramid pyramid_;
  Shape factors_;              ///< per dimension; empty: chosen for each level from the spacing
  std::vector<double> units_;  ///< nanometres per unit for each dimension, 1 if unknown
};

}  // namespace sherd
