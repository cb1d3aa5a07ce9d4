// Moves elements between the engine and Python's memory: without a copy if the memory is an ndarray of the array's type
// (any strides), otherwise through NumPy's own conversion. The GIL is released in every engine call.
#include "python/access.hpp"

#include <chrono>
#include <string>

#include "array/array_state.hpp"
#include "base/call.hpp"
#include "python/bindings.hpp"
#include "python/numpy.hpp"
#include "python/objects.hpp"
#include "store/retry.hpp"

namespace sherd::python {
namespace {

// The engine treats points as a single dimension.
Shape engine_shape(const Index& index) {
  return index.selection.is_points() ? Shape{*element_count(index.shape)} : index.shape;
}

nb::object new_objects(const Shape& shape, Order order) {
  return numpy().module.attr("empty")(to_tuple(shape), numpy().object_dtype, order == Order::f ? "F" : "C");
}

/// `out` as an ndarray over the same memory, with the index's shape and the array's type.
nb::object out_array(const BoundArray& self, const Index& index, nb::handle out) {
  const bool is_array = PyObject_TypeCheck(out.ptr(), reinterpret_cast<PyTypeObject*>(numpy().ndarray.ptr()));
  const nb::object& dtype = self.numpy_dtype();
  nb::object array = nb::borrow(out);
  if (!is_array) {
    const nb::object buffer = nb::steal(PyMemoryView_FromObject(out.ptr()));
    if (!buffer.is_valid()) throw nb::python_error();
    array = numpy().asarray(buffer);
  }
  // A buffer of plain bytes accepts elements of any type.
  if (!is_array && nb::cast<int>(array.attr("itemsize")) == 1 && nb::cast<int>(array.attr("ndim")) == 1 &&
      !self.array.dtype().is_variable())
    array = array.attr("view")(dtype).attr("reshape")(to_tuple(index.shape));
  if (!array.attr("dtype").equal(dtype))
    throw Exception(invalid_argument("out has dtype " + shown(array.attr("dtype")) + ", the array " + shown(dtype))
                        .in_member("out"));
  return array;
}

/// As out_array(), after checking that it is writable and has the index's shape.
nb::object checked_out(const BoundArray& self, const Index& index, nb::handle out) {
  nb::object array = out_array(self, index, out);
  if (!nb::cast<bool>(array.attr("flags").attr("writeable")))
    throw Exception(invalid_argument("out is read-only").in_member("out"));
  const Shape shape = view_of(array, self.array.dtype()).shape;
  if (shape != index.shape)
    throw Exception(invalid_argument("out has shape " + to_string(shape) + ", the selection " + to_string(index.shape))
                        .in_member("out"));
  return array;
}

/// The memory that a region is read into, and the Python object to return. The array and the index must outlive this.
class Reading {
 public:
  /// Reads into new memory (a part of `shared` if suitable), or into `out` unless it is None.
  Reading(const BoundArray& self, const Index& index, nb::handle out, SharedMemory* shared = nullptr)
      : self_(self), index_(index) {
    if (!out.is_none()) {
      given_ = nb::borrow(out);
      out_ = checked_out(self, index, out);
      if (set_view_of_out()) return;
    }
    const DType& dtype = self.array.dtype();
    order_ = index.selection.is_points() ? Order::c : self.array.config().order;
    std::byte* data = nullptr;
    if (dtype.is_variable()) {
      elements_.resize(byte_count(index.shape, dtype) / sizeof(VarBytes));
      data = reinterpret_cast<std::byte*>(elements_.data());
    } else {
      NewArray made = new_array(index.shape, dtype, self.numpy_dtype(), order_, shared);
      data = made.data;
      result_ = std::move(made.array);
    }
    view_ = AnyView::dense(data, dtype, engine_shape(index), order_);
  }

  [[nodiscard]] const AnyView& view() const noexcept { return view_; }

  /// Called when the elements have been read, while the memory they refer to is still alive.
  nb::object finish() {
    const DType& dtype = self_.array.dtype();
    if (dtype.kind() == DType::Kind::optional && !given_.is_valid()) result_ = masked_array(result_);
    if (!given_.is_valid() && index_.scalar)
      return dtype.is_variable() ? object_from(elements_[0], dtype) : nb::object(result_[nb::tuple()]);
    if (dtype.is_variable()) {
      result_ = new_objects(index_.shape, order_);
      objects_from(elements_, dtype, reinterpret_cast<PyObject**>(view_of(result_, dtype).data));
    }
    if (!given_.is_valid()) return std::move(result_);
    if (result_.is_valid()) out_[nb::ellipsis()] = result_;
    return std::move(given_);
  }

 private:
  /// False if the engine cannot write the elements there itself.
  bool set_view_of_out() {
    const bool flattened = index_.selection.is_points() && index_.shape.size() != 1;
    if (self_.array.dtype().is_variable()) return false;
    if (flattened && !nb::cast<bool>(out_.attr("flags").attr("c_contiguous"))) return false;
    view_ = view_of(out_, self_.array.dtype());
    if (flattened) view_ = AnyView::dense(view_.data, view_.dtype, engine_shape(index_));
    return true;
  }

  const BoundArray& self_;
  const Index& index_;
  Order order_ = Order::c;
  nb::object given_, out_;          // invalid without `out`
  nb::object result_;               // invalid if the engine writes to `out`
  std::vector<VarBytes> elements_;  // of variable-length types
  AnyView view_;
};

/// Runs `add`; errors name the number of the region.
template <class F>
void in_region(std::size_t number, F&& add) {
  const std::string region = "region " + std::to_string(number);
  try {
    add();
  } catch (const nb::builtin_exception& failed) {
    throw nb::builtin_exception(failed.type(), (region + ": " + failed.what()).c_str());
  } catch (const Exception& failed) {
    throw Exception(Error(failed.error()).in(region));
  }
}

nb::object broadcast(nb::handle array, const Shape& shape) {
  return numpy().module.attr("broadcast_to")(array, to_tuple(shape));
}

/// Broadcasts the view to `shape`, by NumPy's rules for assignment.
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

/// Runs `use` with a view of the value, broadcast to `shape`.
template <class F>
auto with_view(const BoundArray& self, nb::handle value, const Shape& shape, F&& use) {
  const Elements elements(self, value);
  AnyView view = elements.view();
  if (view.shape != shape) broadcast_view(view, shape);
  return use(std::as_const(view));
}

/// Writes with an index made for an array of this shape; nullptr: for any shape that contains it.
void write_for(const BoundArray& self, const Shape* shape, const Index& index, nb::handle value) {
  const bool flattened = index.selection.is_points() && index.shape.size() != 1;
  const nb::object flat =
      flattened ? broadcast(as_elements(value, self.array.dtype(), self.numpy_dtype()), index.shape).attr("reshape")(-1)
                : nb::borrow(value);
  const Shape selected = engine_shape(index);
  with_view(self, flat, selected, [&](const AnyView& view) {
    call(*self.array.store(), [&] { return write_selected(self.array, shape, index.selection, constant(view)); });
  });
}

/// Whether the array's shape is no longer `shape`. The handle may not have noticed yet if an error was raised before
/// anything was written.
bool was_resized(const Array& array, const Shape& shape) {
  if (array.shape() != shape || array.read_only()) return array.shape() != shape;
  const WithoutGil released;
  const auto now = as_call(array.config(), [&] { return array.state().confirm(); });
  return now && *now != shape;
}

/// Whether an index that was made for `shape` selects the same elements of an array that is larger.
bool fits_larger(const MakeIndex& make, const Index& index, Shape shape) {
  for (std::uint64_t& length : shape) ++length;
  try {
    const Index larger = make(shape);
    return larger.shape == index.shape && larger.selection.axes() == index.selection.axes();
  } catch (...) {
    return false;  // a mask
  }
}

}  // namespace

const nb::object& BoundArray::numpy_dtype() const {
  if (!numpy_dtype_.is_valid()) numpy_dtype_ = python::numpy_dtype(array.dtype());
  return numpy_dtype_;
}

nb::object element_to(std::span<const std::byte> element, const DType& dtype, nb::handle numpy_type) {
  if (dtype.is_variable()) return object_from(*reinterpret_cast<const VarBytes*>(element.data()), dtype);
  const NewArray copy = new_array({}, dtype, numpy_type, Order::c);
  std::copy(element.begin(), element.end(), copy.data);
  if (dtype.kind() == DType::Kind::optional) {
    const DType& value = dtype.fields().front().dtype;
    if (element.back() == std::byte{0}) return nb::none();
    return element_to(element.first(value.size()), value, numpy_type[nb::str("value")]);
  }
  return copy.array[nb::tuple()];
}

nb::object read(const BoundArray& self, const Index& index, nb::handle out) {
  Reading reading(self, index, out);
  VarBytesArena arena;
  VarBytesArena* const keep = self.array.dtype().is_variable() ? &arena : nullptr;
  call(*self.array.store(), [&] { return self.array.read(index.selection, reading.view(), keep); });
  return reading.finish();
}

nb::list read_many(const BoundArray& self, nb::handle selections, nb::handle out) {
  const nb::list keys(nb::borrow(selections));
  const nb::list outs = out.is_none() ? nb::list() : nb::list(nb::borrow(out));
  if (!out.is_none() && outs.size() != keys.size())
    throw Exception(invalid_argument("out has " + std::to_string(outs.size()) + " arrays for " +
                                     std::to_string(keys.size()) + " selections")
                        .in_member("out"));
  const Shape shape = self.array.shape();
  std::vector<Index> indices;
  std::vector<Reading> readings;
  std::vector<Array::Region> regions;
  indices.reserve(keys.size());
  readings.reserve(keys.size());
  regions.reserve(keys.size());
  std::size_t small = 0;  // bytes of results that share memory
  for (std::size_t i = 0; i < keys.size(); ++i)
    in_region(i, [&] {
      indices.push_back(basic_index(keys[i], shape));
      const std::size_t bytes = byte_count(indices[i].shape, self.array.dtype());
      if (SharedMemory::suits(bytes)) small += bytes;
    });
  SharedMemory shared(small);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    in_region(
        i, [&] { readings.emplace_back(self, indices[i], out.is_none() ? nb::none() : nb::object(outs[i]), &shared); });
    regions.push_back({std::move(indices[i].selection), readings.back().view()});
  }
  VarBytesArena arena;
  VarBytesArena* const keep = self.array.dtype().is_variable() ? &arena : nullptr;
  call(*self.array.store(), [&] { return self.array.read(regions, keep); });
  nb::list results;
  for (Reading& reading : readings) results.append(reading.finish());
  return results;
}

void write(const BoundArray& self, const MakeIndex& make, nb::handle value) {
  const auto since = std::chrono::steady_clock::now();
  for (bool is_first = true;; is_first = false) {
    const Shape shape = self.array.shape();
    try {
      const Index made = make(shape);
      return write_for(self, is_first || !fits_larger(make, made, shape) ? &shape : nullptr, made, value);
    } catch (const nb::python_error&) {
      throw;  // such as KeyboardInterrupt
    } catch (...) {
      if (!was_resized(self.array, shape) || !check_patience(self.array.config(), since)) throw;
    }
  }
}

Elements::Elements(const BoundArray& self, nb::handle value)
    : array_(as_elements(value, self.array.dtype(), self.numpy_dtype())) {
  const DType& dtype = self.array.dtype();
  // A copy of the references: another thread may change those of the value while the engine reads the text.
  if (dtype.is_variable())
    array_ = numpy().module.attr("array")(array_, nb::arg("order") = "C", nb::arg("copy") = true);
  view_ = view_of(array_, dtype);
  if (!dtype.is_variable()) return;
  const auto objects = std::span(reinterpret_cast<PyObject* const*>(view_.data), *element_count(view_.shape));
  texts_ = elements_from(objects, dtype);
  view_ = AnyView::dense(reinterpret_cast<std::byte*>(texts_.data()), dtype, view_.shape);
}

ConstAnyView constant(const AnyView& view) { return {view.data, view.dtype, view.shape, view.strides}; }

Shape append(const BoundArray& self, nb::handle data, std::size_t axis) {
  const Elements elements(self, data);
  Array array = self.array;
  const Shape origin = call(*array.store(), [&] { return array.append(constant(elements.view()), axis); });
  Shape shape = array.shape();
  shape[axis] = origin[axis] + elements.view().shape[axis];  // other writers may have appended behind it
  return shape;
}

}  // namespace sherd::python
