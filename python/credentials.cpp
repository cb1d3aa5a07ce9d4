#include "python/credentials.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "remote/credential_cache.hpp"

namespace sherd::python {
namespace {

constexpr const char* kExpected =
    "the function for credentials must return a dict of key, secret and token, or bearer_token, and perhaps expires; "
    "or "
    "a tuple of key and secret";

std::string text_or_empty(nb::handle value) {
  if (value.is_none()) return {};
  if (!PyUnicode_Check(value.ptr())) throw Exception(invalid_argument(kExpected));
  return nb::cast<std::string>(value);
}

std::chrono::system_clock::time_point time_from(nb::handle value) {
  const nb::object seconds = nb::hasattr(value, "timestamp") ? value.attr("timestamp")() : nb::borrow(value);
  if (!PyFloat_Check(seconds.ptr()) && !PyLong_Check(seconds.ptr())) throw Exception(invalid_argument(kExpected));
  const std::chrono::duration<double> since(nb::cast<double>(nb::float_(seconds)));
  return std::chrono::system_clock::time_point(std::chrono::duration_cast<std::chrono::system_clock::duration>(since));
}

Credentials from_dict(const nb::dict& given) {
  Credentials credentials;
  for (const auto& [key, value] : given) {
    const std::string name = text_or_empty(key);
    if (name == "key")
      credentials.key_id = text_or_empty(value);
    else if (name == "secret")
      credentials.secret_key = text_or_empty(value);
    else if (name == "token")
      credentials.session_token = text_or_empty(value);
    else if (name == "bearer_token")
      credentials.bearer_token = text_or_empty(value);
    else if (name == "expires" && !value.is_none())
      credentials.expires = time_from(value);
    else if (name != "expires")
      throw Exception(invalid_argument(kExpected));
  }
  return credentials;
}

Credentials from_sequence(const nb::sequence& given) {
  const std::size_t size = nb::len(given);
  if (size != 2 && size != 3) throw Exception(invalid_argument(kExpected));
  Credentials credentials{.key_id = text_or_empty(given[0]), .secret_key = text_or_empty(given[1])};
  if (size == 3) credentials.session_token = text_or_empty(given[2]);
  return credentials;
}

/// An exception is not shown with its text, which may have a secret. What ends programs, such as KeyboardInterrupt,
/// stays pending on a thread that Python has called the engine on, and is raised when that call returns
/// (throw_pending()).
Result<Credentials> ask(const nb::object& function) {
  const bool is_called_by_python = Py_IsInitialized() != 0 && PyGILState_GetThisThreadState() != nullptr;
  const WithGil held;
  if (PyErr_Occurred() != nullptr) return unavailable("interrupted");  // in the same call, before
  try {
    const nb::object given = function();
    if (PyDict_Check(given.ptr())) return from_dict(nb::borrow<nb::dict>(given));
    if (PyTuple_Check(given.ptr()) || PyList_Check(given.ptr())) return from_sequence(nb::borrow<nb::sequence>(given));
    return invalid_argument(kExpected);
  } catch (const Exception& exception) {
    return Error(exception.error());
  } catch (nb::python_error& error) {
    const std::string kind = nb::cast<std::string>(error.type().attr("__name__"));
    const bool ends_programs = !error.matches(PyExc_Exception);
    error.restore();
    if (ends_programs && is_called_by_python) return unavailable("interrupted");
    PyErr_Clear();
    return io_error("the function for credentials raised " + kind);
  }
}

}  // namespace

std::function<Result<Credentials>()> credentials_from(nb::handle value) {
  if (value.is_none()) return {};
  if (PyCallable_Check(value.ptr()) == 0)
    throw Exception(invalid_argument("must be a function that returns credentials"));
  // The function may be dropped on any thread.
  const std::shared_ptr<nb::object> function(new nb::object(nb::borrow(value)), [](nb::object* object) {
    if (Py_IsInitialized() == 0) return;  // at the end of the process
    const WithGil held;
    delete object;
  });
  return remote::CredentialFunction{.ask = [function] { return ask(*function); }, .identity = value.ptr()};
}

}  // namespace sherd::python
