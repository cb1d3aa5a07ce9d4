// Knows which NumPy dtype stands for which element type, both ways.
#include <iterator>

#include "base/scalar.hpp"
#include "python/bindings.hpp"
#include "python/json.hpp"
#include "python/numpy.hpp"

namespace sherd::python {
namespace {

using Kind = DType::Kind;

nb::object make_dtype(const std::string& text) { return numpy().dtype(nb::str(text.c_str())); }

nb::object bfloat16_dtype() {
  try {
    return numpy().dtype(nb::module_::import_("ml_dtypes").attr("bfloat16"));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError)) throw;
  }
  throw Exception(unsupported("NumPy has no bfloat16; install the package ml_dtypes, which adds it"));
}

nb::object time_dtype(const DType& dtype, char letter) {
  if (dtype.unit() == "generic") return make_dtype(std::string(1, letter) + "8");
  const std::string_view unit = dtype.unit() == "μs" ? "us" : dtype.unit();
  const std::string factor = dtype.scale_factor() == 1 ? "" : std::to_string(dtype.scale_factor());
  return make_dtype(std::string(1, letter) + "8[" + factor + std::string(unit) + "]");
}

nb::object struct_dtype(const DType& dtype) {
  nb::list fields;
  for (const DTypeField& field : dtype.fields())
    fields.append(nb::make_tuple(nb::str(field.name.data(), field.name.size()), numpy_dtype(field.dtype)));
  return numpy().dtype(fields);
}

DType struct_from(nb::handle dtype) {
  std::vector<DTypeField> fields;
  const nb::object types = dtype.attr("fields");
  for (const nb::handle name : dtype.attr("names"))
    fields.push_back({text_of(name, "a field's name"), dtype_from(types[name][0])});
  return DType::structure(std::move(fields)).value();
}

DType time_from(nb::handle dtype, bool date) {
  const nb::object data = numpy().module.attr("datetime_data")(dtype);
  const std::string unit = text_of(data[0], "a unit");
  const auto factor = nb::cast<std::int32_t>(data[1]);
  return (date ? DType::datetime64(unit, factor) : DType::timedelta64(unit, factor)).value();
}

DType from_numpy(nb::handle dtype) {
  const std::string text = shown(dtype);
  if (!dtype.attr("subdtype").is_none())
    throw Exception(
        unsupported("NumPy's subarray type " + text + " is not an element type; give the array further dimensions"));
  const auto size = nb::cast<std::uint64_t>(dtype.attr("itemsize"));
  const char kind = nb::cast<const char*>(dtype.attr("kind"))[0];
  const std::string name = text_of(dtype.attr("name"), "a dtype's name");
  switch (kind) {
    case 'b':
      return DType::bool_;
    case 'i':
    case 'u':
    case 'f':
    case 'c':
      return DType::parse(name).value();
    case 'M':
      return time_from(dtype, true);
    case 'm':
      return time_from(dtype, false);
    case 'T':
      return DType::string;
    case 'U':
      return size == 0 ? DType::string : DType::fixed_length_utf32(size).value();
    case 'V':
      if (name == "bfloat16") return DType::bfloat16;
      if (!dtype.attr("names").is_none()) return struct_from(dtype);
      if (name.starts_with("void") && size != 0) return DType::raw(size * 8).value();
      return DType::parse(name).value();  // one of ml_dtypes; those that are not supported are so by name
    case 'O':
      throw Exception(
          invalid_argument("dtype object does not say what the elements are: give \"string\" or \"bytes\""));
    case 'S':
      throw Exception(unsupported("Zarr has no type for " + text + "; use \"bytes\" for bytes of any length, or V" +
                                  std::to_string(size) + " for bytes of this length"));
    default:
      break;
  }
  throw Exception(unsupported("there is no element type for NumPy's " + text));
}

}  // namespace

nb::object numpy_dtype(const DType& dtype) {
  switch (dtype.kind()) {
    case Kind::raw:
      return make_dtype("V" + std::to_string(dtype.size()));
    case Kind::utf32:
      return make_dtype("U" + std::to_string(dtype.size() / 4));
    case Kind::datetime64:
      return time_dtype(dtype, 'M');
    case Kind::timedelta64:
      return time_dtype(dtype, 'm');
    case Kind::structure:
      return struct_dtype(dtype);
    case Kind::bfloat16:
      return bfloat16_dtype();
    case Kind::string:
    case Kind::bytes:
      return numpy().object_dtype;
    default:
      return make_dtype(dtype.name());
  }
}

DType dtype_from(nb::handle value) {
  PyObject* const object = value.ptr();
  if (PyDict_Check(object) && PyDict_GetItemString(object, "name") != nullptr)
    return parse_dtype(json_from(value), ErrorCode::invalid_argument).in_member("dtype").value();
  if (object == reinterpret_cast<PyObject*>(&PyUnicode_Type)) return DType::string;
  if (object == reinterpret_cast<PyObject*>(&PyBytes_Type)) return DType::bytes;
  if (!PyUnicode_Check(object)) return from_numpy(numpy().dtype(value));
  auto named = parse_dtype_name(text_of(value, "dtype"), ErrorCode::invalid_argument);
  if (named) return *std::move(named);
  nb::object native;
  try {
    native = numpy().dtype(value);
  } catch (nb::python_error&) {
    throw Exception(std::move(named).error().in_member("dtype"));
  }
  return from_numpy(native);
}

}  // namespace sherd::python
