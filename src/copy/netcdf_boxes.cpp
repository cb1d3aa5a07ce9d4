// Boxes that are whole objects of the destination and, as far as memory allows, whole chunks of the source. A source
// chunk that two boxes intersect is decoded twice, which makes rechunking slow elsewhere.
#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "copy/netcdf_copy.hpp"

namespace sherd::netcdf {

namespace {

std::uint64_t bytes_of(const Shape& box, std::uint64_t element) {
  std::optional<std::uint64_t> bytes = element;
  for (const std::uint64_t length : box)
    if (bytes) bytes = checked_mul(*bytes, std::max<std::uint64_t>(1, length));
  return bytes.value_or(~std::uint64_t{0});
}

/// The smallest length that is a whole number of both pieces, but at most `all`.
std::uint64_t common_length(std::uint64_t a, std::uint64_t b, std::uint64_t all) {
  const auto both = checked_mul(a / std::gcd(a, b), b);
  return both ? std::min(*both, all) : all;
}

/// How often a source chunk is read along a dimension, on average with the worst alignment.
double rereads(std::uint64_t box, std::uint64_t chunk) {
  return static_cast<double>(box + chunk - std::gcd(box, chunk)) / static_cast<double>(box);
}

/// Extends the box along the dimension where this saves most reads, as long as it stays within `most` bytes.
Shape grown_towards(const BoxPlan& plan, Shape box, const Shape& ideal, std::uint64_t most) {
  while (true) {
    std::optional<std::size_t> best;
    double gain = 1;
    for (std::size_t d = 0; d < box.size(); ++d) {
      if (box[d] >= ideal[d]) continue;
      Shape longer = box;
      longer[d] = std::min(ideal[d], 2 * box[d]);
      if (bytes_of(longer, plan.element_bytes) > most) continue;
      const double saved = rereads(box[d], plan.source_chunks[d]) / rereads(longer[d], plan.source_chunks[d]);
      if (best && saved <= gain) continue;
      best = d;
      gain = saved;
    }
    if (!best) return box;
    box[*best] = std::min(ideal[*best], 2 * box[*best]);
  }
}

}  // namespace

Shape box_shape(const BoxPlan& plan, std::uint64_t most, std::uint64_t enough) {
  Shape box, ideal;
  for (std::size_t d = 0; d < plan.shape.size(); ++d) {
    const std::uint64_t all = std::max<std::uint64_t>(1, plan.shape[d]);
    const std::uint64_t object = std::clamp<std::uint64_t>(d < plan.objects.size() ? plan.objects[d] : 1, 1, all);
    box.push_back(object);
    ideal.push_back(plan.source_chunks.empty()
                        ? object
                        : common_length(std::clamp<std::uint64_t>(plan.source_chunks[d], 1, all), object, all));
  }
  if (bytes_of(ideal, plan.element_bytes) > most) return grown_towards(plan, std::move(box), ideal, most);
  // The last dimensions first, because that is the order of consecutive elements.
  const Shape unit = ideal;
  for (std::size_t d = ideal.size(); d-- > 0;) {
    const std::uint64_t bytes = bytes_of(ideal, plan.element_bytes);
    const std::uint64_t times = std::max<std::uint64_t>(1, enough / std::max<std::uint64_t>(1, bytes));
    ideal[d] = std::min(checked_mul(unit[d], times).value_or(plan.shape[d]), std::max<std::uint64_t>(1, plan.shape[d]));
  }
  return ideal;
}

Box Boxes::at(std::uint64_t index) const {
  Box where{Shape(shape.size(), 0), shape};
  for (std::size_t d = shape.size(); d-- > 0;) {
    where.origin[d] = index % grid[d] * box[d];
    where.shape[d] = std::min(box[d], shape[d] - where.origin[d]);
    index /= grid[d];
  }
  return where;
}

Result<Boxes> boxes_of(const Shape& shape, const Shape& box) {
  Boxes boxes{.shape = shape, .box = box, .grid = {}};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    boxes.grid.push_back(ceil_div(shape[d], box[d]));
    const auto count = checked_mul(boxes.count, boxes.grid.back());
    if (!count || *count > std::uint64_t{1} << 48U) return unsupported("the variable has too many elements to copy");
    boxes.count = *count;
  }
  return boxes;
}

}  // namespace sherd::netcdf
