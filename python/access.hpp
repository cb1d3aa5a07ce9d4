// Reads and writes Python objects: NumPy arrays, buffers, scalars, objects of str and bytes.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <vector>

#include "python/indexing.hpp"
#include "sherd/array.hpp"

namespace sherd::python {

/// An array of the engine, with its NumPy type, which is looked up only once.
class BoundArray {
 public:
  explicit BoundArray(Array bound) : array(std::move(bound)) {}
  Array array;
  /// Throws Unsupported if NumPy lacks the type.
  [[nodiscard]] const nanobind::object& numpy_dtype() const;

 private:
  mutable nanobind::object numpy_dtype_;
};

/// Returns a new ndarray of the index's shape, or one element. If `out` is not None, reads into it and returns it: an
/// ndarray of the index's shape and the array's dtype, or another writable buffer with the same number of bytes.
[[nodiscard]] nanobind::object read(const BoundArray& self, const Index& index,
                                    nanobind::handle out = nanobind::handle(Py_None));
/// Reads several selections, as array[...] accepts them, in one engine call; `out` is None or a sequence with what
/// read() accepts for each. Errors name the number of the selection.
[[nodiscard]] nanobind::list read_many(const BoundArray& self, nanobind::handle selections, nanobind::handle out);
/// A function that makes the index that a key selects in an array of a given shape.
using MakeIndex = std::function<Index(const Shape&)>;
/// Writes a value that can be broadcast to the index's shape, as in NumPy assignment. The index is made for the array's
/// current shape: negative indices and open slices depend on it. If another handle changes the shape meanwhile, it is
/// made again, until Config::lock_timeout has passed.
void write(const BoundArray& self, const MakeIndex& make, nanobind::handle value);
/// A value as elements of the array's type. It refers to the value's memory if that has them; texts are those that the
/// value had when this was made.
class Elements {
 public:
  Elements(const BoundArray& self, nanobind::handle value);
  [[nodiscard]] const AnyView& view() const noexcept { return view_; }

 private:
  nanobind::object array_;
  std::vector<VarBytes> texts_;
  AnyView view_;
};
[[nodiscard]] ConstAnyView constant(const AnyView& view);
/// Array.append; returns the new shape.
[[nodiscard]] Shape append(const BoundArray& self, nanobind::handle data, std::size_t axis);

/// One element as a NumPy scalar, a str or a bytes.
[[nodiscard]] nanobind::object element_to(std::span<const std::byte> element, const DType& dtype,
                                          nanobind::handle numpy_dtype);

}  // namespace sherd::python
