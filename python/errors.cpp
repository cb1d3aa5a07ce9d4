// Converts the engine's errors to Python exceptions. The classes are defined in Python (sherd/_errors.py), because
// several have a second base class from the standard library.
#include "python/bindings.hpp"

#include <new>

namespace sherd::python {
namespace {

nb::object text_or_none(std::string_view text) {
  return text.empty() ? nb::none() : nb::object(nb::str(text.data(), text.size()));
}

void set_error(const Error& error) {
  if (PyErr_Occurred() != nullptr) return;  // what interrupted the call, such as KeyboardInterrupt, is raised instead
  const nb::object make = nb::module_::import_("sherd._errors").attr("make");
  const nb::object slot = error.slot() ? nb::object(nb::int_(*error.slot())) : nb::none();
  const nb::object exception = make(text_or_none(to_string(error.code())), text_or_none(error.text()),
                                    text_or_none(error.key()), slot, text_or_none(error.member()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

void bind_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Exception& exception) {
      set_error(exception.error());
    } catch (const std::bad_alloc&) {
      set_error(unavailable("out of memory"));
    }
  });
}

void throw_pending() {
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
}

std::string shown(nb::handle value) {
  const nb::str text(value);
  return text_of(text, "str()");
}

std::string quoted(nb::handle value) { return text_of(nb::repr(value), "repr()"); }

void throw_unencodable(nb::handle text, const char* what) {
  if (PyErr_Occurred() == nullptr || PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) == 0) return;
  PyErr_Clear();
  throw Exception(
      invalid_argument(std::string(what) + " " + quoted(text) + " has surrogates, which are not characters"));
}

std::string text_of(nb::handle value, const char* what) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
  if (text == nullptr) {
    throw_unencodable(value, what);
    throw_pending();
    throw nb::type_error((std::string(what) + " must be a str, not " + Py_TYPE(value.ptr())->tp_name).c_str());
  }
  return {text, static_cast<std::size_t>(size)};
}

nb::list strings_to(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(nb::str(text.data(), text.size()));
  return list;
}

}  // namespace sherd::python
