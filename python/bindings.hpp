// Shared by all bindings: how to make an engine call from Python, and how to raise its error.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "base/url.hpp"
#include "sherd/result.hpp"
#include "sherd/store.hpp"

namespace sherd::python {

namespace nb = nanobind;

/// Adds the exception translator: Exception becomes the class of sherd._errors for its code.
void bind_errors();
void bind_config(nb::module_& module);
void bind_memory(nb::module_& module);
void bind_store(nb::module_& module);
void bind_recorder(nb::module_& module);
void bind_array(nb::module_& module);
void bind_appender(nb::module_& module);
void bind_group(nb::module_& module);
void bind_scalar(nb::module_& module);
void bind_tools(nb::module_& module);
void bind_files(nb::module_& module);
void bind_draft2022(nb::module_& module);
void bind_skeleton(nb::module_& module);
void bind_mesh(nb::module_& module);
void bind_object_files(nb::module_& module);
void bind_annotation(nb::module_& module);
void bind_segment_properties(nb::module_& module);
void bind_sharded_build(nb::module_& module);
void bind_sharded_store(nb::module_& module);
void bind_collection(nb::module_& module);
void bind_netcdf(nb::module_& module);
void bind_netcdf_writer(nb::module_& module);
void bind_netcdf_copy(nb::module_& module);

/// Holds or releases the GIL for a scope. Before Python 3.14, a daemon thread that requests the GIL while the
/// interpreter is shutting down is ended by pthread_exit(). This would unwind our stack like an exception, and end the
/// process in the first destructor. So the thread waits for the end of the process instead, as in later versions.
class WithGil {
 public:
  WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;
  ~WithGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};
class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil();

 private:
  PyThreadState* thread_;
};

/// Rethrows what a Python signal handler raised while the engine polled, such as KeyboardInterrupt.
void throw_pending();

/// Runs an engine call without the GIL and returns its value; throws its error.
template <class F>
auto call(F&& run) {
  auto result = [&] {
    const WithoutGil released;
    return run();
  }();
  throw_pending();
  return std::move(result).value();
}

/// Runs a call on a node of this store without the interpreter's lock; errors name the store.
template <class F>
auto call(const Store& store, F&& run) {
  return call([&] { return in_store(run(), store.url()); });
}

/// str(value) and repr(value), for messages.
[[nodiscard]] std::string shown(nb::handle value);
[[nodiscard]] std::string quoted(nb::handle value);
/// The text of a str; `what` names the argument in the error.
[[nodiscard]] std::string text_of(nb::handle value, const char* what);
/// After a text could not be converted to UTF-8: throws an error that shows the text if surrogates are the reason.
void throw_unencodable(nb::handle text, const char* what);
/// A list of str.
[[nodiscard]] nb::list strings_to(const std::vector<std::string>& texts);

}  // namespace sherd::python
