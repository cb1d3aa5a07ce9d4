// Converts between JSON values and Python objects. Integers keep all their digits in both directions.
#include "python/json.hpp"

#include <cmath>
#include <string>

#include "base/lenient.hpp"
#include "python/bindings.hpp"

namespace sherd::python {
namespace {

/// Python's own guard against lists that contain themselves.
class Deeper {
 public:
  Deeper() {
    if (Py_EnterRecursiveCall(" while making JSON") != 0) throw nb::python_error();
  }
  ~Deeper() { Py_LeaveRecursiveCall(); }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
};

Json from_integer(nb::handle value) { return Json::number(shown(value)); }

Json from_float(double value, NonFinite others) {
  if (std::isfinite(value)) return value;
  if (others == NonFinite::bare) return bare_number_of(value);
  throw Exception(invalid_argument("JSON has no NaN and no infinity"));
}

Json from_sequence(nb::handle value, NonFinite others) {
  Json::Array elements;
  for (const nb::handle element : value) elements.push_back(json_from(element, others));
  return elements;
}

Json from_dict(nb::handle value, NonFinite others) {
  Json::Object members;
  for (const auto& [key, member] : nb::borrow<nb::dict>(value)) {
    if (!PyUnicode_Check(key.ptr()))
      throw Exception(
          invalid_argument("the keys of a JSON object must be str, not " + std::string(Py_TYPE(key.ptr())->tp_name)));
    members.emplace_back(text_of(key, "a key"), json_from(member, others));
  }
  return members;
}

}  // namespace

Json json_from(nb::handle value, NonFinite others) {
  const Deeper guard;
  PyObject* const object = value.ptr();
  if (value.is_none()) return nullptr;
  if (PyBool_Check(object)) return object == Py_True;
  if (PyUnicode_Check(object)) return text_of(value, "a value");
  if (PyLong_Check(object)) return from_integer(nb::steal(PyNumber_Long(object)));
  if (PyFloat_Check(object)) return from_float(PyFloat_AS_DOUBLE(object), others);
  if (PyDict_Check(object)) return from_dict(value, others);
  if (PyList_Check(object) || PyTuple_Check(object)) return from_sequence(value, others);
  if (nb::hasattr(value, "tolist")) return json_from(value.attr("tolist")(), others);
  throw Exception(invalid_argument("JSON has no value of type " + std::string(Py_TYPE(object)->tp_name)));
}

nb::object json_to(const Json& json) {
  switch (json.type()) {
    case Json::Type::null:
      return nb::none();
    case Json::Type::boolean:
      return nb::bool_(*json.as_bool());
    case Json::Type::string:
      if (!bare_number(json).empty()) return nb::steal(PyFloat_FromString(nb::str(json.text().c_str()).ptr()));
      return nb::str(json.text().data(), json.text().size());
    case Json::Type::number: {
      if (json.text().find_first_of(".eE") != std::string::npos) return nb::float_(*json.as_double());
      PyObject* const integer = PyLong_FromString(json.text().c_str(), nullptr, 10);
      if (integer == nullptr) throw nb::python_error();
      return nb::steal(integer);
    }
    case Json::Type::array: {
      nb::list elements;
      for (const Json& element : json.elements()) elements.append(json_to(element));
      return elements;
    }
    case Json::Type::object: {
      nb::dict members;
      for (const auto& [key, member] : json.members()) members[nb::str(key.data(), key.size())] = json_to(member);
      return members;
    }
  }
  return nb::none();
}

}  // namespace sherd::python
