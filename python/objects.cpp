// Converts `string` elements from and to str, `bytes` elements from and to bytes. Text is not copied into the engine.
#include "python/objects.hpp"

#include <string>

#include "python/bindings.hpp"

namespace sherd::python {

nb::object object_from(const VarBytes& element, const DType& dtype) {
  const auto size = static_cast<Py_ssize_t>(element.size);
  PyObject* const object = dtype.kind() == DType::Kind::string ? PyUnicode_DecodeUTF8(element.data, size, nullptr)
                                                               : PyBytes_FromStringAndSize(element.data, size);
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

void objects_from(std::span<const VarBytes> elements, const DType& dtype, PyObject** to) {
  for (const VarBytes& element : elements) {
    PyObject* const old = *to;
    *to++ = object_from(element, dtype).release().ptr();
    Py_XDECREF(old);
  }
}

std::vector<VarBytes> elements_from(std::span<PyObject* const> objects, const DType& dtype) {
  const bool text = dtype.kind() == DType::Kind::string;
  std::vector<VarBytes> elements;
  elements.reserve(objects.size());
  for (PyObject* const object : objects) {
    if (object == nullptr || !(text ? PyUnicode_Check(object) : PyBytes_Check(object)))
      throw Exception(invalid_argument("the elements of a " + dtype.name() + " array are " + (text ? "str" : "bytes") +
                                       ", not " + (object == nullptr ? "None" : Py_TYPE(object)->tp_name)));
    Py_ssize_t size = text ? 0 : PyBytes_GET_SIZE(object);
    const char* const data = text ? PyUnicode_AsUTF8AndSize(object, &size) : PyBytes_AS_STRING(object);
    if (data == nullptr) {
      throw_unencodable(object, "the text");
      throw nb::python_error();
    }
    elements.push_back({data, static_cast<std::uint64_t>(size)});
  }
  return elements;
}

}  // namespace sherd::python
