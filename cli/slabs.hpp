// A selection that is too large to be held at once, moved slab by slab.
#pragma once

#include <vector>

#include "io/files.hpp"
#include "sherd/array.hpp"

namespace sherd::cli {

/// A selection as it was typed, and the shape of its elements once integers have dropped their dimensions.
struct TypedSelection {
  Selection selection;
  Shape shape;
};
[[nodiscard]] Result<TypedSelection> parse_selection(const std::string& text, const Shape& array_shape);

/// How a selection of this array is cut into slabs of at most `bytes`, along shards and chunks where it can be.
[[nodiscard]] BlockRequest slabs(const Array& array, const Selection& selection, std::uint64_t bytes);
/// The elements of the selection in a box of its shape.
[[nodiscard]] Selection part_of(const Selection& selection, const Box& box);

}  // namespace sherd::cli
