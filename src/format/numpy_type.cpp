// NumPy's names of element types ("<i4", "|S5", "<M8[ns]"), which include the byte order, and lists of fields ([["a",
// "<i4"], …]); and fill values as in its writers: those of raw elements and structs are base64. A field that is
// an array (["a", "<i4", [3]]) is a struct of its elements, named by their numbers: Zarr v3 can express that too, and
// a copy back restores the array.
#include "format/numpy_type.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/base64.hpp"
#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "node/extension.hpp"

namespace sherd {

namespace {

using Kind = DType::Kind;

constexpr unsigned kMaxDepth = 16;  // as in DType::structure(), but checked before recursing
// For all array fields of a type: the elements of nested arrays are multiplied, and each field of structs counts.
// Codecs have a row for each.
constexpr std::uint64_t kMaxArrayElements = 65536;

std::optional<DType> number_type(char kind, std::string_view size) {
  struct Row {
    char kind;
    std::string_view size;
    DType dtype;
  };
  const Row rows[] = {{'b', "1", DType::bool_},     {'i', "1", DType::int8},       {'i', "2", DType::int16},
                      {'i', "4", DType::int32},     {'i', "8", DType::int64},      {'u', "1", DType::uint8},
                      {'u', "2", DType::uint16},    {'u', "4", DType::uint32},     {'u', "8", DType::uint64},
                      {'f', "2", DType::float16},   {'f', "4", DType::float32},    {'f', "8", DType::float64},
                      {'c', "8", DType::complex64}, {'c', "16", DType::complex128}};
  for (const Row& row : rows)
    if (row.kind == kind && row.size == size) return row.dtype;
  return std::nullopt;
}

/// NumPy names it by its size on the writer's machine; its content is 10, 12 or 16 of these bytes.
bool is_long_double(char kind, std::string_view size) {
  return (kind == 'f' && (size == "12" || size == "16")) || (kind == 'c' && (size == "24" || size == "32"));
}

/// "8[25us]", or "8" for a count without a unit.
Result<DType> time_type(char kind, std::string_view rest) {
  std::string_view unit = "generic";
  std::int32_t scale = 1;
  if (rest != "8") {
    if (!rest.starts_with("8[") || !rest.ends_with(']')) return unknown_numpy_type(rest);
    unit = rest.substr(2, rest.size() - 3);
    const auto parsed = std::from_chars(unit.data(), unit.data() + unit.size(), scale);
    if (parsed.ec == std::errc::result_out_of_range) return unknown_numpy_type(rest);
    unit.remove_prefix(static_cast<std::size_t>(parsed.ptr - unit.data()));
  }
  return kind == 'M' ? DType::datetime64(unit, scale) : DType::timedelta64(unit, scale);
}

Result<DType> sized_type(char kind, std::string_view digits) {
  constexpr std::uint64_t most = std::uint64_t{1} << 56;
  std::uint64_t count = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || count == 0 || count > most)
    return invalid_argument("'" + std::string(1, kind) + std::string(digits) + "' does not have a valid size");
  if (kind == 'U') return DType::fixed_length_utf32(count * 4);
  return kind == 'S' ? DType::null_terminated_bytes(count) : DType::raw(count * 8);
}

/// "<i4", "|S5", "<M8[ns]", …
Result<NumpyType> parse_short(std::string_view name, OtherNames other) {
  if (name == "|O") return NumpyType{DType::string};  // the filter gives the type
  std::string_view rest = name;
  char order = '|';
  if (!rest.empty() && std::string_view("<>|").find(rest.front()) != rest.npos) {
    order = rest.front();
    rest.remove_prefix(1);
  }
  if (rest.size() < 2) return other(name);
  const char kind = rest.front();
  rest.remove_prefix(1);
  NumpyType type;
  if (const auto number = number_type(kind, rest)) {
    type.dtype = *number;
  } else if (is_long_double(kind, rest)) {
    return unsupported("'" + std::string(name) + "' is the C compiler's long double, " +
                       "whose bytes differ between machines; store float64 or complex128");
  } else if (kind == 'M' || kind == 'm') {
    SHERD_TRY(time, time_type(kind, rest));
    type.dtype = time;
  } else if (kind == 'S' || kind == 'U' || kind == 'V') {
    SHERD_TRY(sized, sized_type(kind, rest));
    type.dtype = sized;
  } else {
    return other(name);
  }
  if (order == '|' && has_byte_order(type.dtype))
    return invalid_argument("'" + std::string(name) + "' lacks a byte order; begin it with '<' or '>'");
  type.big_endian = order == '>';
  return type;
}

Error too_many_elements() {
  return unsupported("fields that are arrays have more than " + std::to_string(kMaxArrayElements) +
                     " elements, the maximum");
}

/// The position of a parser in a type.
struct Level {
  OtherNames other;
  unsigned depth;
  std::uint64_t& array_elements;  ///< of array fields so far
};

Result<NumpyType> parse_at(const Json& json, Level level);

/// Fields that are not structs, including those of inner structs.
std::uint64_t count_fields(const DType& dtype) {
  if (dtype.fields().empty()) return 1;
  std::uint64_t count = 0;
  for (const DTypeField& field : dtype.fields()) count += count_fields(field.dtype);
  return count;
}

/// The type of a field [name, type, shape]; `before` array elements precede its type.
Result<NumpyType> parse_array_field(NumpyType type, const Json& json, Level level, std::uint64_t before) {
  const Json one{Json::Array{json}};
  Shape shape;
  for (const Json& length : (json.is_array() ? json : one).elements()) {
    const auto count = length.as_uint();
    if (!count) return wrong_value(json, "the lengths of an array");
    shape.push_back(*count);
  }
  SHERD_TRY(array, array_field(type.dtype, shape));
  type.dtype = std::move(array);
  if (shape.empty()) return type;
  level.array_elements = before + count_fields(type.dtype);
  if (level.array_elements > kMaxArrayElements) return too_many_elements();
  for (std::size_t d = shape.size(); d-- > 0 && !type.mixed.is_null();)
    type.mixed = Json(Json::Array(shape[d], type.mixed));
  return type;
}

/// Whether all fields with a byte order have the same one.
bool has_one_order(std::span<const NumpyType> fields) {
  const NumpyType* first = nullptr;
  for (const NumpyType& field : fields) {
    if (!has_byte_order(field.dtype)) continue;
    if (first == nullptr) first = &field;
    if (!field.mixed.is_null() || field.big_endian != first->big_endian) return false;
  }
  return true;
}

/// The struct of these fields.
Result<NumpyType> structure_of(std::span<const NumpyType> types, std::vector<DTypeField> fields) {
  SHERD_TRY(dtype, DType::structure(std::move(fields)));
  NumpyType structure{std::move(dtype)};
  if (has_one_order(types)) {
    structure.big_endian =
        std::ranges::any_of(types, [](const NumpyType& type) { return has_byte_order(type.dtype) && type.big_endian; });
    return structure;
  }
  Json::Array orders;
  for (const NumpyType& type : types) orders.push_back(type.endian());
  structure.mixed = Json(std::move(orders));
  return structure;
}

/// A NumPy structure: a list of [name, type].
Result<NumpyType> parse_structure(const Json& json, Level level) {
  std::vector<DTypeField> fields;
  std::vector<NumpyType> types;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const Json& field = json.elements()[i];
    const std::string location = "[" + std::to_string(i) + "]";
    if (!field.is_array() || field.size() < 2 || field.size() > 3 || !field.elements()[0].is_string())
      return invalid_argument("a field is a list [name, type] or [name, type, shape]").in_member(location);
    const std::uint64_t before = level.array_elements;
    SHERD_TRY(type, parse_at(field.elements()[1], {level.other, level.depth + 1, level.array_elements})
                        .in_member(location + "[1]"));
    if (type.dtype.is_variable())
      return unsupported("fields that are objects are not supported").in_member(location + "[1]");
    if (field.size() == 3) {
      SHERD_TRY(array,
                parse_array_field(std::move(type), field.elements()[2], level, before).in_member(location + "[2]"));
      type = std::move(array);
    }
    // NumPy numbers fields without names, which are the padding of aligned structures.
    const std::string& name = field.elements()[0].text();
    fields.push_back({name.empty() ? "f" + std::to_string(i) : name, type.dtype});
    types.push_back(std::move(type));
  }
  return structure_of(types, std::move(fields));
}

Result<NumpyType> parse_at(const Json& json, Level level) {
  if (level.depth > kMaxDepth)
    return unsupported("structs are nested deeper than " + std::to_string(kMaxDepth) + ", the maximum");
  if (json.is_string()) return parse_short(json.text(), level.other);
  if (json.is_array()) return parse_structure(json, level);
  return wrong_value(json, "a data type, such as \"<f8\"");
}

/// A field in NumPy's form, as an array if it is one.
Result<Json> print_field(const std::string& name, NumpyType field, OtherPrinter other) {
  const ArrayField array = as_array_field(field.dtype);
  for (std::size_t d = 0; d < array.shape.size() && !field.mixed.is_null(); ++d) {
    const auto orders = field.mixed.elements();
    if (std::ranges::any_of(orders, [&](const Json& order) { return !(order == orders[0]); }))
      return unsupported("NumPy cannot mix byte orders in a field that is an array");
    field = field.field(0);
  }
  field.dtype = array.element;
  SHERD_TRY(type, print_numpy_type(field, other));
  Json::Array list{name, std::move(type)};
  if (!array.shape.empty()) list.push_back(Json::numbers(array.shape));
  return Json(std::move(list));
}

/// NumPy's short name, with its byte order; empty if NumPy has none.
std::string short_name(const NumpyType& type) {
  const DType& dtype = type.dtype;
  const std::string order = has_byte_order(dtype) ? (type.big_endian ? ">" : "<") : "|";
  const auto name = [&](char kind, std::size_t unit = 1) { return order + kind + std::to_string(dtype.size() / unit); };
  switch (dtype.kind()) {
    case Kind::boolean:
      return "|b1";
    case Kind::int8:
    case Kind::int16:
    case Kind::int32:
    case Kind::int64:
      return name('i');
    case Kind::uint8:
    case Kind::uint16:
    case Kind::uint32:
    case Kind::uint64:
      return name('u');
    case Kind::float16:
    case Kind::float32:
    case Kind::float64:
      return name('f');
    case Kind::complex64:
    case Kind::complex128:
      return name('c');
    case Kind::raw:
      return name('V');
    case Kind::null_terminated_bytes:
      return name('S');
    case Kind::utf32:
      return name('U', 4);
    case Kind::string:
    case Kind::bytes:
      return "|O";
    case Kind::datetime64:
    case Kind::timedelta64: {
      std::string text = name(dtype.kind() == Kind::datetime64 ? 'M' : 'm');
      if (dtype.unit() == "generic") return text;
      const std::string scale = dtype.scale_factor() == 1 ? "" : std::to_string(dtype.scale_factor());
      return text + "[" + scale + std::string(dtype.unit()) + "]";
    }
    default:
      return {};
  }
}

/// Swaps those words of one element that are not in native order.
void to_machine_order(std::span<std::byte> element, const NumpyType& type) {
  if (type.dtype.kind() != Kind::structure) {
    const bool big_machine = std::endian::native == std::endian::big;
    return type.big_endian != big_machine ? swap_words(element, type.dtype.word_size()) : void();
  }
  for (std::size_t i = 0; i < type.dtype.fields().size(); ++i) {
    const NumpyType field = type.field(i);
    to_machine_order(element.first(field.dtype.size()), field);
    element = element.subspan(field.dtype.size());
  }
}

bool has_base64_fill(const DType& dtype) {
  return dtype.kind() == Kind::raw || dtype.kind() == Kind::null_terminated_bytes || dtype.kind() == Kind::structure;
}

/// The bytes of an element in base64; NumPy's byte strings have no trailing zeros.
Result<Scalar> parse_bytes(const Json& json, const NumpyType& type) {
  std::vector<std::byte> element(type.dtype.size());
  if (json.as_int() == 0) return Scalar(std::move(element));
  const auto bytes = json.is_string() ? decode_base64(json.text()) : std::nullopt;
  const bool shorter = type.dtype.kind() != Kind::structure;
  if (!bytes || bytes->size() > element.size() || (!shorter && bytes->size() != element.size()))
    return wrong_value(json, std::to_string(element.size()) + " bytes in base64");
  std::transform(bytes->begin(), bytes->end(), element.begin(), [](char c) { return static_cast<std::byte>(c); });
  to_machine_order(element, type);
  return Scalar(std::move(element));
}

}  // namespace

Error unknown_numpy_type(std::string_view name) {
  return unsupported("'" + std::string(name) + "' is not a known data type");
}

bool has_byte_order(const DType& dtype) {
  if (dtype.kind() != Kind::structure) return !dtype.is_variable() && dtype.word_size() > 1;
  const auto fields = dtype.fields();
  return std::any_of(fields.begin(), fields.end(), [](const DTypeField& field) { return has_byte_order(field.dtype); });
}

Result<DType> array_field(DType element, const Shape& shape) {
  std::uint64_t elements = shape.empty() ? 1 : count_fields(element);
  for (const std::uint64_t length : shape) {
    if (length == 0) return invalid_argument("a field that is an array must have elements");
    elements = checked_mul(elements, length).value_or(kMaxArrayElements + 1);
    if (elements > kMaxArrayElements) return too_many_elements();
  }
  for (std::size_t d = shape.size(); d-- > 0;) {
    std::vector<DTypeField> fields;
    fields.reserve(shape[d]);
    for (std::uint64_t i = 0; i < shape[d]; ++i) fields.push_back({std::to_string(i), element});
    SHERD_TRY(array, DType::structure(std::move(fields)));
    element = std::move(array);
  }
  return element;
}

ArrayField as_array_field(DType dtype) {
  ArrayField array{std::move(dtype), {}};
  const auto is_array = [](std::span<const DTypeField> fields) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (fields[i].name != std::to_string(i) || !(fields[i].dtype == fields[0].dtype)) return false;
    return !fields.empty();
  };
  while (is_array(array.element.fields())) {
    array.shape.push_back(array.element.fields().size());
    array.element = DType(array.element.fields()[0].dtype);
  }
  return array;
}

CodecSpec bytes_spec(const NumpyType& type) {
  if (!has_byte_order(type.dtype)) return {"bytes", {}};
  return {"bytes", Json::Object{{"endian", type.endian()}}};
}

Result<NumpyType> parse_numpy_type(const Json& json, OtherNames other) {
  std::uint64_t array_elements = 0;
  return parse_at(json, {other, 0, array_elements});
}

NumpyType NumpyType::field(std::size_t index) const {
  NumpyType of{dtype.fields()[index].dtype, big_endian, {}};
  if (mixed.is_null()) return of;
  const Json& order = mixed.elements()[index];
  if (order.is_array())
    of.mixed = order;
  else
    of.big_endian = order.text() == "big";
  return of;
}

Result<Json> print_numpy_type(const NumpyType& type, OtherPrinter other) {
  if (type.dtype.kind() == Kind::structure) {
    Json::Array fields;
    for (std::size_t i = 0; i < type.dtype.fields().size(); ++i) {
      SHERD_TRY(list, print_field(type.dtype.fields()[i].name, type.field(i), other));
      fields.push_back(std::move(list));
    }
    return Json(std::move(fields));
  }
  std::string name = short_name(type);
  if (name.empty() && other != nullptr) {
    name = other(type.dtype);
    if (!name.empty() && type.big_endian && has_byte_order(type.dtype))
      return unsupported("'" + name + "' is always little-endian");
  }
  if (name.empty()) return unsupported("NumPy has no data type " + type.dtype.name());
  return Json(std::move(name));
}

Result<Scalar> parse_numpy_fill(const Json& json, const NumpyType& type) {
  const DType& dtype = type.dtype;
  // numcodecs encodes an object that is 0 as an empty text.
  if (json.is_null() || (dtype.is_variable() && json.as_int() == 0)) return default_scalar(dtype);
  // Stored by zarr-python before 2.2; all of its versions read it as the text "0".
  if (dtype.kind() == Kind::utf32 && json.as_int() == 0) return parse_scalar("0", dtype);
  if (dtype.kind() == Kind::null_terminated_bytes && json.as_int() == 0) return parse_bytes(encode_base64("0"), type);
  const bool is_float4 = dtype == DType::float4_e2m1fn && json.is_string();
  return has_base64_fill(dtype) || is_float4 ? parse_bytes(json, type) : parse_scalar(json, dtype);
}

Json print_numpy_fill(const Scalar& fill, const NumpyType& type) {
  const Kind kind = type.dtype.kind();
  if (kind == Kind::datetime64 || kind == Kind::timedelta64) {
    std::int64_t count = 0;
    std::memcpy(&count, fill.bytes().data(), sizeof count);
    return count;
  }
  // Also base64 for null_terminated_bytes and float4_e2m1fn, because tensorstore requires it.
  if (!has_base64_fill(type.dtype) && type.dtype != DType::float4_e2m1fn) return print_scalar(fill.bytes(), type.dtype);
  std::vector<std::byte> element(fill.bytes().begin(), fill.bytes().end());
  to_machine_order(element, type);
  return encode_base64({reinterpret_cast<const char*>(element.data()), element.size()});
}

}  // namespace sherd
