// Splits a selection that is too large for memory into slabs.
#pragma once

#include <vector>

#include "io/files.hpp"
#include "sherd/array.hpp"

namespace sherd::cli {

/// A selection as typed, and the shape of the result after integers have removed their dimensions.
struct TypedSelection {
  Selection selection;
  Shape shape;
};
[[nodiscard]] Result<TypedSelection> parse_selection(const std::string& text, const Shape& array_shape);

/// How to cut the selection into slabs of at most `bytes`, along shard and chunk borders where possible.
[[nodiscard]] BlockRequest slabs(const Array& array, const Selection& selection, std::uint64_t bytes);
/// The part of the selection inside a box of its shape.
[[nodiscard]] Selection part_of(const Selection& selection, const Box& box);

}  // namespace sherd::cli
