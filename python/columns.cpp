// Converts lists of numbers between NumPy and the engine: copies them, checks their shape, and never changes a value by
// a conversion between integer types.
#include "python/columns.hpp"

#include "python/bindings.hpp"

namespace sherd::python {

namespace {

/// `given` as integers of another type; invalid if an element does not fit or is not an integer.
nb::object integers(const nb::object& given, const nb::object& type) {
  const char kind = nb::cast<const char*>(given.attr("dtype").attr("kind"))[0];
  if (kind != 'i' && kind != 'u' && kind != 'O') return {};
  try {
    nb::object array = given.attr("astype")(type);
    if (nb::cast<bool>(numpy().module.attr("array_equal")(array, given))) return array;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_OverflowError) && !error.matches(PyExc_TypeError)) throw;
  }
  return {};
}

}  // namespace

BytesView::BytesView(nb::handle value) {
  if (PyObject_GetBuffer(value.ptr(), &buffer_, PyBUF_SIMPLE) != 0) throw nb::python_error();
}

nb::bytes bytes_to(const std::string& text) { return nb::bytes(text.data(), text.size()); }

nb::object array_to(const void* data, std::size_t size, const Shape& shape, const DType& dtype) {
  NewArray made = new_array(shape, dtype, numpy_dtype(dtype), Order::c);
  if (size != 0) std::memcpy(made.data, data, size);
  return std::move(made.array);
}

nb::object column_to(const neuroglancer::Column& column) {
  Shape shape{column.bytes.size() / column.element_bytes()};
  if (column.components > 1) shape.push_back(column.components);
  return array_to(column.bytes.data(), column.bytes.size(), shape, column.dtype);
}

nb::object array_from(nb::handle value, const DType& dtype, const Shape& row, const std::string& what) {
  const nb::object type = numpy_dtype(dtype);
  const bool to_integers = dtype.kind() < DType::Kind::float16;
  // Uses Python's integers directly: NumPy would convert large ones to floats.
  const bool is_list = !nb::isinstance(value, numpy().ndarray);
  const nb::object given =
      is_list && to_integers ? numpy().asarray(value, numpy().object_dtype) : numpy().asarray(value);
  const bool empty = nb::cast<std::size_t>(given.attr("size")) == 0;
  nb::object array = to_integers && !empty ? integers(given, type) : given.attr("astype")(type);
  if (!array.is_valid())
    throw Exception(invalid_argument("must hold values of type " + dtype.name() + " only").in_member(what));
  array = numpy().module.attr("ascontiguousarray")(array);
  if (empty && nb::cast<std::size_t>(given.attr("ndim")) == 1 && !row.empty())
    array = array.attr("reshape")(to_tuple([&] {
      Shape shape = row;
      shape.insert(shape.begin(), 0);
      return shape;
    }()));
  const AnyView view = view_of(array, dtype);
  bool fits = view.shape.size() == row.size() + 1;
  for (std::size_t d = 0; fits && d < row.size(); ++d) fits = view.shape[d + 1] == row[d];
  if (fits) return array;
  std::string expected = "(n";
  for (const std::uint64_t length : row) expected += ", " + std::to_string(length);
  throw Exception(invalid_argument("must be of shape " + expected + (row.empty() ? ",)" : ")") + ", not " +
                                   shown(array.attr("shape")))
                      .in_member(what));
}

neuroglancer::Column column_from(nb::handle value, const DType& dtype, std::uint32_t components,
                                 const std::string& what) {
  const nb::object array = array_from(value, dtype, components > 1 ? Shape{components} : Shape{}, what);
  const AnyView view = view_of(array, dtype);
  neuroglancer::Column column{dtype, components, {}};
  column.bytes.resize(view.shape[0] * column.element_bytes());
  if (!column.bytes.empty()) std::memcpy(column.bytes.data(), view.data, column.bytes.size());
  return column;
}

}  // namespace sherd::python
