// Without factors, an axis is halved if its spacing is less than twice that of the finest axis. An image whose planes
// are 40 nm apart and whose pixels are 4 nm wide is first halved along y and x, and along z once pixels are 32 nm wide.
#include "image/pyramid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/try.hpp"
#include "ome/units.hpp"

namespace sherd {
namespace {

Result<std::size_t> dimension_called(const Image& image, const std::string& name) {
  const auto found = std::ranges::find(image.axes, short_axis_name(name));
  if (found == image.axes.end())
    return invalid_argument("the image has no axis '" + name + "'; its axes are " + listed_names(image.axes));
  return static_cast<std::size_t>(found - image.axes.begin());
}

std::vector<std::size_t> spatial_dimensions(const Image& image) {
  std::vector<std::size_t> dimensions;
  for (std::size_t d = 0; d < image.axes.size(); ++d)
    if (image.is_spatial(d)) dimensions.push_back(d);
  return dimensions;
}

}  // namespace

void name_factors(Pyramid& pyramid, const std::vector<std::string>& axes) {
  const auto is_named = [](const Pyramid::Factor& each) { return !each.axis.empty(); };
  if (pyramid.factors.size() != axes.size() || std::ranges::any_of(pyramid.factors, is_named)) return;
  for (std::size_t d = 0; d < axes.size(); ++d) pyramid.factors[d].axis = axes[d];
}

bool PyramidPlan::shrinks_channels(const Image& image) const {
  const std::size_t c = dimension_of(image.axes, "c");
  return c < factors_.size() && factors_[c] > 1;
}

PyramidPlan::PyramidPlan(const Pyramid& pyramid, const Image& image)
    : pyramid_(pyramid), units_(image.axes.size(), 1.0) {
  for (std::size_t d = 0; d < units_.size() && d < image.units.size(); ++d)
    if (image.is_spatial(d)) units_[d] = nanometres(image.units[d]).value_or(1.0);
}

Result<PyramidPlan> PyramidPlan::make(const Pyramid& pyramid, const Image& image, const DType& dtype) {
  const Reduction reduction{.method = pyramid.method, .ignore_zero = pyramid.ignore_zero};
  SHERD_TRY(reduction.check(dtype).in_member("pyramid"));
  PyramidPlan plan(pyramid, image);
  SHERD_TRY(plan.take_factors(image).in_member("factors"));
  return plan;
}

Result<void> PyramidPlan::take_factors(const Image& image) {
  const auto& given = pyramid_.factors;
  if (given.empty()) return {};
  const bool named = !given.front().axis.empty();
  std::vector<std::size_t> in_order = spatial_dimensions(image);
  if (!named && given.size() != in_order.size()) {
    if (given.size() != image.axes.size())
      return invalid_argument(std::to_string(given.size()) + " factors for the axes " + listed_names(image.axes) +
                              "; write one per axis, or one each for x, y and z, or names as in z=1,y=2,x=2");
    in_order.resize(image.axes.size());
    for (std::size_t d = 0; d < in_order.size(); ++d) in_order[d] = d;
  }
  factors_.assign(image.axes.size(), 1);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& [axis, factor] = given[i];
    if (axis.empty() == named) return invalid_argument("name every axis, or none");
    if (factor == 0) return invalid_argument("a factor of 0; the smallest is 1, which keeps an axis as it is");
    std::size_t dimension = named ? 0 : in_order[i];
    if (named) {
      SHERD_TRY(found, dimension_called(image, axis));
      dimension = found;
    }
    factors_[dimension] = factor;
  }
  std::uint64_t all = 1;
  for (const std::uint64_t factor : factors_)
    if (factor > Reduction::kMost || (all *= factor) > Reduction::kMost)
      return invalid_argument("one element would be made of more than " + std::to_string(Reduction::kMost) +
                              "; choose smaller factors");
  if (std::ranges::count(factors_, 1) == std::ssize(factors_))
    return invalid_argument("every factor is 1, so that no level would be coarser");
  return {};
}

bool PyramidPlan::may_shrink(const Image& image, std::size_t dimension) const {
  return factors_.empty() ? image.is_spatial(dimension) : factors_[dimension] > 1;
}

bool PyramidPlan::wants_level(const Image& image, std::uint64_t made, const Shape& shape, const Shape& chunks) const {
  if (pyramid_.levels) return made < *pyramid_.levels;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (may_shrink(image, d) && d < chunks.size() && shape[d] > chunks[d]) return true;
  return false;
}

double PyramidPlan::finest_spacing(const Image& image, const Shape& shape) const {
  double finest = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (image.is_spatial(d) && shape[d] > 1)
      finest = std::min(finest, std::abs(image.levels.back().spacing[d]) * units_[d]);
  return finest;
}

std::optional<CoarserLevel> PyramidPlan::add_level(Image& image, const Shape& finer, bool whole) const {
  ImageLevel level = image.levels.back();
  const double finest = finest_spacing(image, finer);
  Reduction how{pyramid_.method, pyramid_.ignore_zero, Shape(finer.size(), 1), Shape(finer.size(), 0)};
  for (std::size_t d = 0; d < finer.size(); ++d) {
    if (!may_shrink(image, d) || finer[d] <= 1) continue;
    if (factors_.empty() && std::abs(level.spacing[d]) * units_[d] >= 2 * finest) continue;
    how.step[d] = factors_.empty() ? 2 : factors_[d];
    const auto step = static_cast<double>(how.step[d]);
    const double rest = whole ? std::fmod(level.offset[d], step) : 0;
    how.phase[d] = static_cast<std::uint64_t>(rest < 0 ? rest + step : rest);
    level.spacing[d] *= step;
    level.offset[d] = (level.offset[d] - static_cast<double>(how.phase[d])) / step;
  }
  if (how.most() == 1) return std::nullopt;
  image.levels.push_back(std::move(level));
  return CoarserLevel{how.shape_of(finer), std::move(how)};
}

}  // namespace sherd
