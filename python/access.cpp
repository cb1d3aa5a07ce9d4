// Knows how elements move between the engine and Python's memory: without a copy where the memory is an ndarray of the
// array's type with any strides, through NumPy's own conversion otherwise. The GIL is released in every engine call.
#include "python/access.hpp"

#include <string>

#include "python/bindings.hpp"
#include "python/numpy.hpp"
#include "python/objects.hpp"

namespace sherd::python {
namespace {

// The engine sees points as one dimension.
Shape engine_shape(const Index& index) {
  return index.selection.is_points() ? Shape{*element_count(index.shape)} : index.shape;
}

void read_view(const BoundArray& self, const Index& index, AnyView view) {
  if (index.selection.is_points() && index.shape.size() != 1)
    view = AnyView::dense(view.data, view.dtype, engine_shape(index));
  call(*self.array.store(), [&] { return self.array.read(index.selection, view); });
}

nb::object new_objects(const Shape& shape, Order order) {
  return numpy().module.attr("empty")(to_tuple(shape), numpy().object_dtype, order == Order::f ? "F" : "C");
}

nb::object read_objects(const BoundArray& self, const Index& index) {
  const DType& dtype = self.array.dtype();
  const Order order = index.selection.is_points() ? Order::c : self.array.config().order;
  std::vector<VarBytes> elements(byte_count(index.shape, dtype) / sizeof(VarBytes));
  VarBytesArena arena;
  const auto view = AnyView::dense(reinterpret_cast<std::byte*>(elements.data()), dtype, engine_shape(index), order);
  call(*self.array.store(), [&] { return self.array.read(index.selection, view, &arena); });
  if (index.scalar) return object_from(elements[0], dtype);
  nb::object result = new_objects(index.shape, order);
  objects_from(elements, dtype, reinterpret_cast<PyObject**>(view_of(result, dtype).data));
  return result;
}

/// `out` as an ndarray over the same memory, of the index's shape and the array's type.
nb::object out_array(const BoundArray& self, const Index& index, nb::handle out) {
  const bool is_array = PyObject_TypeCheck(out.ptr(), reinterpret_cast<PyTypeObject*>(numpy().ndarray.ptr()));
  const nb::object& dtype = self.numpy_dtype();
  nb::object array = nb::borrow(out);
  if (!is_array) {
    const nb::object buffer = nb::steal(PyMemoryView_FromObject(out.ptr()));
    if (!buffer.is_valid()) throw nb::python_error();
    array = numpy().asarray(buffer);
  }
  // A buffer of plain bytes takes elements of any type.
  if (!is_array && nb::cast<int>(array.attr("itemsize")) == 1 && nb::cast<int>(array.attr("ndim")) == 1 &&
      !self.array.dtype().is_variable())
    array = array.attr("view")(dtype).attr("reshape")(to_tuple(index.shape));
  if (!array.attr("dtype").equal(dtype))
    throw Exception(invalid_argument("out has dtype " + shown(array.attr("dtype")) + ", the array " + shown(dtype))
                        .in_member("out"));
  return array;
}

nb::object broadcast(nb::handle array, const Shape& shape) {
  return numpy().module.attr("broadcast_to")(array, to_tuple(shape));
}

/// Makes the view's shape `shape`, by NumPy's rules of assignment.
void broadcast_view(AnyView& view, const Shape& shape) {
  const auto misfit = [&] {
    return Exception(invalid_argument("a value of shape " + to_string(view.shape) +
                                      " does not fit a selection of shape " + to_string(shape)));
  };
  std::size_t extra = view.shape.size() > shape.size() ? view.shape.size() - shape.size() : 0;
  for (std::size_t d = 0; d < extra; ++d)
    if (view.shape[d] != 1) throw misfit();
  std::vector<std::int64_t> strides(shape.size(), 0);
  const std::size_t missing = shape.size() - (view.shape.size() - extra);
  for (std::size_t d = missing; d < shape.size(); ++d) {
    const std::size_t from = d - missing + extra;
    if (view.shape[from] == shape[d])
      strides[d] = view.strides[from];
    else if (view.shape[from] != 1)
      throw misfit();
  }
  view.shape = shape;
  view.strides = std::move(strides);
}

/// Runs `use` with a view of the value, broadcast to `shape` where there is one.
template <class F>
auto with_view(const BoundArray& self, nb::handle value, const Shape* shape, F&& use) {
  const DType& dtype = self.array.dtype();
  nb::object array = as_array(value, self.numpy_dtype());
  if (!dtype.is_variable()) {
    AnyView view = view_of(array, dtype);
    if (shape != nullptr && view.shape != *shape) broadcast_view(view, *shape);
    return use(std::as_const(view));
  }
  // A copy of the references: another thread may change the value's while the engine reads the text.
  array = numpy().module.attr("array")(array, nb::arg("order") = "C", nb::arg("copy") = true);
  AnyView view = view_of(array, dtype);
  const auto objects = std::span(reinterpret_cast<PyObject* const*>(view.data), *element_count(view.shape));
  std::vector<VarBytes> elements = elements_from(objects, dtype);
  view = AnyView::dense(reinterpret_cast<std::byte*>(elements.data()), dtype, view.shape);
  if (shape != nullptr && view.shape != *shape) broadcast_view(view, *shape);
  return use(std::as_const(view));
}

ConstAnyView constant(const AnyView& view) { return {view.data, view.dtype, view.shape, view.strides}; }

}  // namespace

const nb::object& BoundArray::numpy_dtype() const {
  if (!numpy_dtype_.is_valid()) numpy_dtype_ = python::numpy_dtype(array.dtype());
  return numpy_dtype_;
}

nb::object element_to(std::span<const std::byte> element, const DType& dtype, nb::handle numpy_type) {
  if (dtype.is_variable()) return object_from(*reinterpret_cast<const VarBytes*>(element.data()), dtype);
  const NewArray copy = new_array({}, dtype, numpy_type, Order::c);
  std::copy(element.begin(), element.end(), copy.data);
  return copy.array[nb::tuple()];
}

nb::object read(const BoundArray& self, const Index& index) {
  const DType& dtype = self.array.dtype();
  if (dtype.is_variable()) return read_objects(self, index);
  const Order order = index.selection.is_points() ? Order::c : self.array.config().order;
  NewArray result = new_array(index.shape, dtype, self.numpy_dtype(), order);
  read_view(self, index, AnyView::dense(result.data, dtype, index.shape, order));
  return index.scalar ? nb::object(result.array[nb::tuple()]) : std::move(result.array);
}

void read_into(const BoundArray& self, const Index& index, nb::handle out) {
  const DType& dtype = self.array.dtype();
  const nb::object array = out_array(self, index, out);
  const AnyView view = view_of(array, dtype);
  const nb::object flags = array.attr("flags");
  if (!nb::cast<bool>(flags.attr("writeable"))) throw Exception(invalid_argument("out is read-only").in_member("out"));
  if (view.shape != index.shape)
    throw Exception(
        invalid_argument("out has shape " + to_string(view.shape) + ", the selection " + to_string(index.shape))
            .in_member("out"));
  const bool scattered =
      index.selection.is_points() && index.shape.size() != 1 && !nb::cast<bool>(flags.attr("c_contiguous"));
  if (dtype.is_variable() || scattered)
    array[nb::ellipsis()] = read(self, index);
  else
    read_view(self, index, view);
}

void write(const BoundArray& self, const Index& index, nb::handle value) {
  const bool flattened = index.selection.is_points() && index.shape.size() != 1;
  const nb::object flat =
      flattened ? broadcast(as_array(value, self.numpy_dtype()), index.shape).attr("reshape")(-1) : nb::borrow(value);
  const Shape shape = engine_shape(index);
  with_view(self, flat, &shape, [&](const AnyView& view) {
    call(*self.array.store(), [&] { return self.array.write(index.selection, constant(view)); });
  });
}

Shape append(const BoundArray& self, nb::handle data, std::size_t axis) {
  with_view(self, data, nullptr, [&](const AnyView& view) {
    Array array = self.array;
    call(*array.store(), [&] { return array.append(constant(view), axis); });
  });
  return self.array.shape();
}

}  // namespace sherd::python
