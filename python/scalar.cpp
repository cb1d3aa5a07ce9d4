// Element types and single elements, as sherd._options and sherd._info ask for them.
#include "base/scalar.hpp"

#include "python/bindings.hpp"
#include "python/json.hpp"
#include "python/numpy.hpp"

namespace sherd::python {
namespace {

nb::object element_json(nb::handle element, nb::handle dtype) {
  const DType type = dtype_from(dtype);
  const nb::object array = as_array(element, numpy_dtype(type));
  const AnyView view = view_of(array, type);
  if (!view.shape.empty())
    throw Exception(invalid_argument("must be one element, not an array of shape " + to_string(view.shape)));
  return json_to(print_scalar({view.data, type.size()}, type));
}

nb::tuple describe_dtype(nb::handle dtype) {
  const DType type = dtype_from(dtype);
  return nb::make_tuple(json_to(print_dtype(type)), numpy_dtype(type));
}

}  // namespace

void bind_scalar(nb::module_& module) {
  module.def("element_json", element_json, nb::arg("element"), nb::arg("dtype"),
             "One element of a fixed-size type as metadata has it, bit for bit.");
  module.def("describe_dtype", describe_dtype, nb::arg("dtype"),
             nb::sig("def describe_dtype(dtype: object) -> tuple[typing.Any, numpy.dtype[typing.Any]]"),
             "A type as metadata has it, and as NumPy has it.");
}

}  // namespace sherd::python
