// Converts between NumPy dtypes and element types.
#include <iterator>
#include <optional>
#include <utility>

#include "base/float_format.hpp"
#include "base/scalar_dtype.hpp"
#include "format/numpy_type.hpp"
#include "python/bindings.hpp"
#include "python/json.hpp"
#include "python/numpy.hpp"

namespace sherd::python {
namespace {

using Kind = DType::Kind;

nb::object make_dtype(const std::string& text) { return numpy().dtype(nb::str(text.c_str())); }

constexpr const char* kTypeKey = "data_type";  // in a dtype's metadata

/// The ml_dtypes types whose names differ from ours.
constexpr std::pair<const char*, DType::Kind> kOtherNames[] = {{"complex32", Kind::complex_float16},
                                                               {"bcomplex32", Kind::complex_bfloat16}};

/// An ml_dtypes type; invalid if the package is not installed or lacks it.
nb::object extension_dtype(const std::string& name) {
  try {
    return numpy().dtype(nb::module_::import_("ml_dtypes").attr(name.c_str()));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ImportError) && !error.matches(PyExc_AttributeError)) throw;
  }
  return {};
}

/// For numbers without a NumPy type: the ml_dtypes type; for complex numbers that it lacks, a struct of two; without
/// the package, opaque bytes with the name in dtype.metadata.
nb::object number_dtype(const DType& dtype) {
  const std::string stored = dtype.name();
  std::string name = stored;
  for (const auto& [other, kind] : kOtherNames)
    if (kind == dtype.kind()) name = other;
  if (nb::object found = extension_dtype(name); found.is_valid()) return found;
  if (const auto part = part_of_complex(dtype.kind())) {
    if (nb::object found = extension_dtype(kind_name(*part)); found.is_valid()) {
      nb::list fields;
      for (const char* field : {"real", "imag"}) fields.append(nb::make_tuple(field, found));
      return numpy().dtype(fields);
    }
  }
  nb::dict metadata;
  metadata[kTypeKey] = stored;
  return numpy().dtype("V" + std::to_string(dtype.size()), nb::arg("metadata") = metadata);
}

/// The name in the metadata of a dtype of opaque bytes, if any.
std::optional<std::string> named_by_metadata(nb::handle dtype) {
  const nb::object metadata = dtype.attr("metadata");
  if (metadata.is_none() || !nb::cast<bool>(metadata.attr("__contains__")(kTypeKey))) return std::nullopt;
  return text_of(metadata[kTypeKey], "a data type's name");
}

nb::object time_dtype(const DType& dtype, char letter) {
  if (dtype.unit() == "generic") return make_dtype(std::string(1, letter) + "8");
  const std::string_view unit = dtype.unit() == "μs" ? "us" : dtype.unit();
  const std::string factor = dtype.scale_factor() == 1 ? "" : std::to_string(dtype.scale_factor());
  return make_dtype(std::string(1, letter) + "8[" + factor + std::string(unit) + "]");
}

nb::object struct_dtype(const DType& dtype) {
  nb::list fields;
  for (const DTypeField& field : dtype.fields()) {
    const ArrayField array = as_array_field(field.dtype);
    const nb::str name(field.name.data(), field.name.size());
    nb::list shape;
    for (const std::uint64_t length : array.shape) shape.append(length);
    fields.append(array.shape.empty() ? nb::make_tuple(name, numpy_dtype(array.element))
                                      : nb::make_tuple(name, numpy_dtype(array.element), nb::tuple(shape)));
  }
  return numpy().dtype(fields);
}

DType field_from(nb::handle dtype) {
  const nb::object array = dtype.attr("subdtype");
  if (array.is_none()) return dtype_from(dtype);
  Shape shape;
  for (const nb::handle length : array[1]) shape.push_back(nb::cast<std::uint64_t>(length));
  return array_field(field_from(array[0]), shape).value();
}

DType struct_from(nb::handle dtype) {
  std::vector<DTypeField> fields;
  const nb::object types = dtype.attr("fields");
  for (const nb::handle name : dtype.attr("names"))
    fields.push_back({text_of(name, "a field's name"), field_from(types[name][0])});
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
        unsupported("NumPy's subarray type " + text + " is not an element type; add dimensions to the array"));
  const auto size = nb::cast<std::uint64_t>(dtype.attr("itemsize"));
  const char kind = nb::cast<const char*>(dtype.attr("kind"))[0];
  const std::string name = text_of(dtype.attr("name"), "a dtype's name");
  for (const auto& [other, other_kind] : kOtherNames)
    if (name == other) return DType::parse(kind_name(other_kind)).value();
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
      if (const auto named = named_by_metadata(dtype)) return DType::parse(*named).value();
      if (!dtype.attr("names").is_none()) return struct_from(dtype);
      if (name.starts_with("void") && size != 0) return DType::raw(size * 8).value();
      return DType::parse(name).value();  // an ml_dtypes type
    case 'O':
      throw Exception(invalid_argument("dtype object does not say what the elements are: use \"string\" or \"bytes\""));
    case 'S':
      if (size == 0)
        throw Exception(invalid_argument("dtype S does not say how long the elements are: use \"bytes\", or \"S8\""));
      return DType::null_terminated_bytes(size).value();
    default:
      break;
  }
  throw Exception(unsupported("no element type for NumPy's " + text));
}

}  // namespace

nb::object numpy_dtype(const DType& dtype) {
  if (is_opaque_to_numpy(dtype.kind())) return number_dtype(dtype);
  switch (dtype.kind()) {
    case Kind::raw:
      return make_dtype("V" + std::to_string(dtype.size()));
    case Kind::null_terminated_bytes:
      return make_dtype("S" + std::to_string(dtype.size()));
    case Kind::utf32:
      return make_dtype("U" + std::to_string(dtype.size() / 4));
    case Kind::datetime64:
      return time_dtype(dtype, 'M');
    case Kind::timedelta64:
      return time_dtype(dtype, 'm');
    case Kind::structure:
    case Kind::optional:
      return struct_dtype(dtype);
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
