// Elements of variable length: the engine's VarBytes and Python's str and bytes.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <vector>

#include "sherd/dtype.hpp"

namespace sherd::python {

[[nodiscard]] nanobind::object object_from(const VarBytes& element, const DType& dtype);
/// Stores references to new objects in `to`. Releases the references that are there; null ones are skipped.
void objects_from(std::span<const VarBytes> elements, const DType& dtype, PyObject** to);
/// The contents of the objects, valid as long as they live. InvalidArgument if one has another type.
[[nodiscard]] std::vector<VarBytes> elements_from(std::span<PyObject* const> objects, const DType& dtype);

}  // namespace sherd::python
