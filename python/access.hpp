// Reading and writing through Python objects: NumPy arrays, buffers, scalars, objects of str and bytes.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "python/indexing.hpp"
#include "sherd/array.hpp"

namespace sherd::python {

/// An engine's array and its NumPy type, which is looked up once.
class BoundArray {
 public:
  explicit BoundArray(Array bound) : array(std::move(bound)) {}
  Array array;
  /// Throws Unsupported if NumPy lacks the type.
  [[nodiscard]] const nanobind::object& numpy_dtype() const;

 private:
  mutable nanobind::object numpy_dtype_;
};

/// A new ndarray of the index's shape, or one element. Where `out` is not None it is read into and returned: an ndarray
/// of the index's shape and the array's dtype, or another writable buffer of as many bytes.
[[nodiscard]] nanobind::object read(const BoundArray& self, const Index& index,
                                    nanobind::handle out = nanobind::handle(Py_None));
/// The same for each of the selections, as array[...] accepts them, by one call of the engine; `out` is None or a
/// sequence of as many. Errors name the number of the selection.
[[nodiscard]] nanobind::list read_many(const BoundArray& self, nanobind::handle selections, nanobind::handle out);
/// Makes the index that a key selects in an array of this shape.
using MakeIndex = std::function<Index(const Shape&)>;
/// Writes what broadcasts to the index's shape, as NumPy assigns it. The index is that of the array's present shape:
/// negative indices and open slices depend on it, and another handle may have changed it.
void write(const BoundArray& self, const MakeIndex& index, nanobind::handle value);
/// Array.append; returns the new shape.
[[nodiscard]] Shape append(const BoundArray& self, nanobind::handle data, std::size_t axis);

/// One element as NumPy's scalar, a str or a bytes.
[[nodiscard]] nanobind::object element_to(std::span<const std::byte> element, const DType& dtype,
                                          nanobind::handle numpy_dtype);

}  // namespace sherd::python
