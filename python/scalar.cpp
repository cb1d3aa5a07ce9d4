// Element types and single elements, for sherd._options and sherd._info.
#include "base/scalar.hpp"

#include "api/registry.hpp"
#include "base/scalar_dtype.hpp"
#include "python/bindings.hpp"
#include "python/json.hpp"
#include "python/numpy.hpp"

namespace sherd::python {
namespace {

nb::object element_json(nb::handle element, nb::handle dtype) {
  const DType type = dtype_from(dtype);
  const nb::object array = as_elements(element, type, numpy_dtype(type));
  const AnyView view = view_of(array, type);
  if (!view.shape.empty())
    throw Exception(invalid_argument("must be one element, not an array of shape " + to_string(view.shape)));
  return json_to(print_scalar({view.data, type.size()}, type));
}

nb::tuple describe_dtype(nb::handle dtype) {
  const DType type = dtype_from(dtype);
  return nb::make_tuple(json_to(print_dtype(type)), numpy_dtype(type));
}

nb::list codec_table() {
  nb::list table;
  for (const CodecEntry* codec : tables().codecs) {
    nb::list aliases;
    for (const std::string_view alias : codec->aliases) aliases.append(nb::str(alias.data(), alias.size()));
    const char* kind = codec->array_codec != nullptr         ? "array -> array"
                       : codec->array_bytes_codec != nullptr ? "array -> bytes"
                                                             : "bytes -> bytes";
    table.append(
        nb::make_tuple(nb::str(codec->name.data(), codec->name.size()), nb::tuple(aliases), kind, codec->reads_only));
  }
  return table;
}

}  // namespace

void bind_scalar(nb::module_& module) {
  module.def("element_json", element_json, nb::arg("element"), nb::arg("dtype"),
             "One element of a fixed-size type as metadata has it, bit for bit.");
  module.def("describe_dtype", describe_dtype, nb::arg("dtype"),
             nb::sig("def describe_dtype(dtype: object) -> tuple[typing.Any, numpy.dtype[typing.Any]]"),
             "A type as metadata has it, and as NumPy has it.");
  module.def("codec_table", codec_table, nb::sig("def codec_table() -> list[tuple[str, tuple[str, ...], str, bool]]"),
             "Every codec of the engine: the name that is written, others that are read, its kind, and whether it only "
             "reads.");
}

}  // namespace sherd::python
