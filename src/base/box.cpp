// Shapes and selections: their number of elements, and whether they are inside an array. selection.cpp parses
// selections.
#include "sherd/box.hpp"

#include "base/checked.hpp"

namespace sherd {

namespace {

std::string dimension(std::size_t d) { return "dimension " + std::to_string(d); }

Error out_of_bounds(std::size_t d, const std::string& what, std::uint64_t length) {
  return invalid_argument(dimension(d) + ": " + what + " is out of bounds for length " + std::to_string(length));
}

Result<void> check_range(const Range& range, std::size_t d, std::uint64_t length) {
  if (range.step == 0)
    return invalid_argument(dimension(d) + ": the step is 0, or a box's origin and shape differ in rank");
  if (range.count == 0) return {};
  if (range.start >= length) return out_of_bounds(d, "index " + std::to_string(range.start), length);
  const bool backwards = range.step < 0;
  const std::uint64_t step =
      backwards ? 0 - static_cast<std::uint64_t>(range.step) : static_cast<std::uint64_t>(range.step);
  const std::uint64_t limit = backwards ? range.start : length - 1 - range.start;
  const auto way = checked_mul(step, range.count - 1);
  if (!way || *way > limit)
    return out_of_bounds(d,
                         std::to_string(range.count) + " elements from " + std::to_string(range.start) +
                             " in steps of " + std::to_string(range.step),
                         length);
  return {};
}

Result<void> check_indices(const Indices& indices, std::size_t d, std::uint64_t length) {
  for (const std::uint64_t index : indices)
    if (index >= length) return out_of_bounds(d, "index " + std::to_string(index), length);
  return {};
}

}  // namespace

std::optional<std::uint64_t> element_count(const Shape& shape) noexcept {
  // The product is 0, however large the other lengths are.
  for (const std::uint64_t length : shape)
    if (length == 0) return 0;
  std::optional<std::uint64_t> count = 1;
  for (const std::uint64_t length : shape) {
    count = checked_mul(*count, length);
    if (!count) break;
  }
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d == 0 ? "" : ", ") + std::to_string(shape[d]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Selection::Selection(const Box& box) {
  // An invalid box cannot be selected: step 0 makes check() refuse it.
  const bool whole = box.origin.size() == box.shape.size();
  axes_.reserve(box.shape.size());
  for (std::size_t d = 0; d < box.shape.size(); ++d)
    axes_.emplace_back(whole ? Range{box.origin[d], box.shape[d], 1} : Range{0, box.shape[d], 0});
}

Selection Selection::orthogonal(std::vector<Axis> axes) {
  Selection selection;
  selection.axes_ = std::move(axes);
  return selection;
}

Selection Selection::points(std::vector<Indices> coordinates) {
  Selection selection;
  selection.axes_.reserve(coordinates.size());
  for (Indices& indices : coordinates) selection.axes_.emplace_back(std::move(indices));
  selection.points_ = true;
  return selection;
}

Shape Selection::shape() const {
  Shape shape;
  for (const Axis& axis : axes_) {
    const auto* range = std::get_if<Range>(&axis);
    shape.push_back(range ? range->count : std::get<Indices>(axis).size());
    if (points_) break;
  }
  return shape;
}

Result<void> Selection::check(const Shape& array_shape) const {
  if (axes_.size() != array_shape.size())
    return invalid_argument("the selection has " + std::to_string(axes_.size()) + " dimensions, the array " +
                            std::to_string(array_shape.size()));
  if (points_ && axes_.empty()) return invalid_argument("points need at least one dimension");
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const auto* range = std::get_if<Range>(&axes_[d]);
    auto checked =
        range ? check_range(*range, d, array_shape[d]) : check_indices(std::get<Indices>(axes_[d]), d, array_shape[d]);
    if (!checked) return checked;
    if (points_ && std::get<Indices>(axes_[d]).size() != std::get<Indices>(axes_[0]).size())
      return invalid_argument(dimension(d) + ": " + std::to_string(std::get<Indices>(axes_[d]).size()) +
                              " coordinates, but dimension 0 has " +
                              std::to_string(std::get<Indices>(axes_[0]).size()));
  }
  return {};
}

}  // namespace sherd
