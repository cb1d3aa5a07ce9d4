// What is between the brackets: NumPy's indices as a selection of the engine.
#pragma once

#include <nanobind/nanobind.h>

#include "sherd/box.hpp"

namespace sherd::python {

/// A selection and the shape that the result has in NumPy: without the dimensions that integers index, and for points
/// the shape of the index arrays.
struct Index {
  Selection selection{Box{}};
  Shape shape;
  bool scalar = false;  ///< NumPy returns one element, not an array: integers for all dimensions and no `...`
};

// Each throws IndexError for what is out of bounds and for what is not an index.

/// array[key]: integers, slices, `...`; one list or 1-d array among slices and next to integers; integers and integer
/// arrays for all dimensions, point by point; a boolean mask of the array's shape.
[[nodiscard]] Index basic_index(nanobind::handle key, const Shape& array_shape);
/// array.oindex[key]: also a list, a 1-d array or a 1-d mask for any number of dimensions, each on its own.
[[nodiscard]] Index orthogonal_index(nanobind::handle key, const Shape& array_shape);
/// array.vindex[key]: a mask of the array's shape, or integer arrays for all dimensions that broadcast to one shape.
[[nodiscard]] Index point_index(nanobind::handle key, const Shape& array_shape);
/// Everything.
[[nodiscard]] Index whole_index(const Shape& array_shape);

}  // namespace sherd::python
