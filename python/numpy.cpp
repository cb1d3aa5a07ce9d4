// Passes the memory of arrays between NumPy and the engine without NumPy's headers: results are ndarrays over a Memory
// object; existing arrays are accessed through __array_struct__, which supports every dtype (the buffer protocol does
// not support dates and bfloat16).
#include "python/numpy.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/buffer.hpp"
#include "python/bindings.hpp"

namespace sherd::python {
namespace {

/// A block of engine memory owned by a Python object.
class Memory {
 public:
  explicit Memory(std::size_t size) : data_(allocate_result(size)), size_(size) {
    if (data_ == nullptr)
      throw Exception(unavailable("out of memory for a result of " + std::to_string(size) + " bytes"));
  }
  ~Memory() { free_bytes(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_;
  std::size_t size_;
};

int get_buffer(PyObject* object, Py_buffer* buffer, int flags) {
  const auto* memory = nb::inst_ptr<Memory>(object);
  return PyBuffer_FillInfo(buffer, object, memory->data(), static_cast<Py_ssize_t>(memory->size()), 0, flags);
}

nb::object new_memory(std::size_t size) {
  nb::object memory = nb::inst_alloc(nb::type<Memory>());
  new (nb::inst_ptr<Memory>(memory)) Memory(size);
  nb::inst_mark_ready(memory);
  return memory;
}

/// NumPy's array interface, C side, version 3. The flags are ignored: NumPy clears them for structured types.
struct ArrayInterface {
  int two;
  int nd;
  char typekind;
  int itemsize;
  int flags;
  Py_intptr_t* shape;
  Py_intptr_t* strides;
  void* data;
  PyObject* descr;
};

}  // namespace

const Numpy& numpy() {
  static const Numpy* const names = [] {
    nb::object module = nb::module_::import_("numpy");
    nb::object dtype = module.attr("dtype");
    return new Numpy{
        module, module.attr("ndarray"), dtype, module.attr("asarray"), dtype("O"), module.attr("ma").attr("is_masked")};
  }();
  return *names;
}

nb::tuple to_tuple(const Shape& shape) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(shape.size())));
  for (std::size_t d = 0; d < shape.size(); ++d)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(d), PyLong_FromUnsignedLongLong(shape[d]));
  return nb::borrow<nb::tuple>(tuple);
}

Shape shape_from(nb::handle value, const char* what) {
  const auto length = [what](nb::handle item) -> std::uint64_t {
    const nb::object integer = nb::steal(PyNumber_Index(item.ptr()));
    if (!integer.is_valid()) throw nb::python_error();
    const long long number = PyLong_AsLongLong(integer.ptr());
    if (number < 0) {
      PyErr_Clear();
      throw Exception(invalid_argument("a length must be from 0 to 2^63-1, not " + shown(integer)).in_member(what));
    }
    return static_cast<std::uint64_t>(number);
  };
  if (PyIndex_Check(value.ptr()) && !PySequence_Check(value.ptr())) return {length(value)};
  Shape shape;
  for (const nb::handle item : value) shape.push_back(length(item));
  return shape;
}

std::size_t byte_count(const Shape& shape, const DType& dtype) {
  const auto count = element_count(shape);
  if (!count || *count > std::numeric_limits<std::int64_t>::max() / dtype.size())
    throw Exception(
        unavailable("out of memory: a result of shape " + to_string(shape) + " has more bytes than can be addressed"));
  return static_cast<std::size_t>(*count) * dtype.size();
}

SharedMemory::Part SharedMemory::take(std::size_t bytes) {
  constexpr std::size_t kBlockBytes = std::size_t{4} << 20;
  constexpr std::size_t kAlignment = 64;
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (!block_.is_valid() || rounded > size_ - used_) {
    size_ = std::max(rounded, std::min(kBlockBytes, expected_));
    used_ = 0;
    block_ = new_memory(size_);
  }
  expected_ -= std::min(expected_, rounded);
  return {block_, std::exchange(used_, used_ + rounded)};
}

NewArray new_array(const Shape& shape, const DType& dtype, nb::handle numpy_type, Order order, SharedMemory* shared) {
  const std::size_t bytes = byte_count(shape, dtype);
  const auto [memory, offset] =
      shared != nullptr && SharedMemory::suits(bytes) ? shared->take(bytes) : SharedMemory::Part{new_memory(bytes), 0};
  nb::object array =
      numpy().ndarray(to_tuple(shape), numpy_type, memory, offset, nb::none(), order == Order::f ? "F" : "C");
  return {std::move(array), nb::inst_ptr<Memory>(memory)->data() + offset};
}

AnyView view_of(nb::handle ndarray, const DType& dtype) {
  const nb::object capsule = ndarray.attr("__array_struct__");
  const auto* found = static_cast<const ArrayInterface*>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (found == nullptr) throw nb::python_error();
  AnyView view{static_cast<std::byte*>(found->data), dtype, {}, {}};
  view.shape.assign(found->shape, found->shape + found->nd);
  view.strides.assign(found->strides, found->strides + found->nd);
  return view;
}

nb::object as_array(nb::handle value, nb::handle numpy_type) {
  const bool is_array = value.type().is(numpy().ndarray);
  if (is_array && value.attr("dtype").is(numpy_type)) return nb::borrow(value);
  if (!is_array && nb::cast<bool>(nb::bool_(numpy().is_masked(value))))
    throw Exception(invalid_argument("masked elements have no value to store; set one with filled()"));
  return numpy().asarray(value, numpy_type);
}

nb::object as_elements(nb::handle value, const DType& dtype, nb::handle numpy_type) {
  if (dtype.kind() == DType::Kind::string || dtype.kind() == DType::Kind::utf32)
    return as_array(nb::module_::import_("sherd._texts").attr("decoded")(value), numpy_type);
  if (dtype.kind() != DType::Kind::optional) return as_array(value, numpy_type);
  return nb::module_::import_("sherd._optional").attr("stored")(value, numpy_type);
}

nb::object masked_array(nb::handle elements) {
  return nb::module_::import_("sherd._optional").attr("masked")(elements);
}

void bind_memory(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};
  nb::class_<Memory>(module, "Memory", nb::type_slots(slots),
                     "The engine's memory behind a result: aligned, and on huge pages when large.");
}

}  // namespace sherd::python
