// Strides of dense arrays. Zero-length dimensions count as length 1, so that the strides of an array without elements
// remain meaningful. Lengths are those of existing memory, or of no elements at all, in which case the products may
// wrap but are never used.
#include "sherd/view.hpp"

namespace sherd {

std::vector<std::int64_t> dense_strides(const Shape& shape, std::int64_t unit, Order order) {
  std::vector<std::int64_t> strides(shape.size());
  auto stride = static_cast<std::uint64_t>(unit);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t d = order == Order::c ? shape.size() - 1 - i : i;
    strides[d] = static_cast<std::int64_t>(stride);
    stride *= shape[d] == 0 ? 1 : shape[d];
  }
  return strides;
}

}  // namespace sherd
