// Converts NumPy indices to selections of the engine.
#pragma once

#include <nanobind/nanobind.h>

#include "sherd/box.hpp"

namespace sherd::python {

/// A selection, and the shape of its result in NumPy: without dimensions that are indexed by integers; for points, the
/// shape of the index arrays.
struct Index {
  Selection selection{Box{}};
  Shape shape;
  bool scalar = false;  ///< NumPy returns one element, not an array: an integer for every dimension and no `...`
};

// All of these raise IndexError if the index is out of bounds or not an index.

/// array[key]: integers, slices, `...`; one list or 1-d array next to slices and integers; integers and integer arrays
/// for all dimensions, which select points; a boolean mask of the array's shape.
[[nodiscard]] Index basic_index(nanobind::handle key, const Shape& array_shape);
/// array.oindex[key]: also a list, a 1-d array or a 1-d mask for any number of dimensions, applied independently.
[[nodiscard]] Index orthogonal_index(nanobind::handle key, const Shape& array_shape);
/// array.vindex[key]: a mask of the array's shape, or integer arrays for all dimensions that broadcast to one shape.
[[nodiscard]] Index point_index(nanobind::handle key, const Shape& array_shape);
/// The whole array.
[[nodiscard]] Index whole_index(const Shape& array_shape);

}  // namespace sherd::python
