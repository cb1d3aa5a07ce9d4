// The module sherd._sherd: the engine for Python. sherd/*.py puts the public names on top of it.
#include "python/bindings.hpp"
#include "python/numpy.hpp"
#include "sherd/version.hpp"

NB_MODULE(_sherd, module) {
  namespace python = sherd::python;
  nanobind::set_leak_warnings(false);  // a daemon thread that stops when the interpreter ends keeps its objects
  module.doc() = "The engine of Sherd for Python; import sherd, not this.";
  module.attr("version") = sherd::version();
  static_cast<void>(python::numpy());
  python::bind_errors();
  python::bind_config(module);
  python::bind_memory(module);
  python::bind_store(module);
  python::bind_recorder(module);
  python::bind_appender(module);
  python::bind_array(module);
  python::bind_group(module);
  python::bind_scalar(module);
  python::bind_tools(module);
  python::bind_files(module);
  python::bind_draft2022(module);
  python::bind_skeleton(module);
  python::bind_mesh(module);
  python::bind_object_files(module);
  python::bind_annotation(module);
  python::bind_segment_properties(module);
  python::bind_sharded_build(module);
  python::bind_sharded_store(module);
  python::bind_collection(module);
  python::bind_netcdf(module);
  python::bind_netcdf_writer(module);
  python::bind_netcdf_copy(module);
}
