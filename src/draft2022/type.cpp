// Element types and fill values in the 2022 draft. Core types have NumPy's short names, which include the byte
// order. All others are objects with the URI of an extension; zarr-python, the only writer of these, used
// placeholders for most of them, so only the name under `type` is used. Names of the draft's later texts ("float64")
// can be read.
#include "base/try.hpp"
#include "draft2022/format.hpp"
#include "node/extension.hpp"

namespace sherd::draft2022 {

namespace {

using Kind = DType::Kind;

Result<NumpyType> later_name(std::string_view name) {
  const auto later = DType::parse(name);
  if (!later || later->is_variable())
    return unsupported("'" + std::string(name) + "' is not a known data type of the draft");
  return NumpyType{*later};
}

Result<ElementType> parse_plain(const Json& json) {
  SHERD_TRY(type, parse_numpy_type(json, later_name));
  return ElementType{std::move(type)};
}

Result<ElementType> parse_extension_type(const Json& json) {
  for (const auto& [key, value] : json.members()) {
    if (key != "extension" && key != "type" && key != "fallback" && key != "configuration")
      return unsupported("unknown member of a data type").in_member(key);
  }
  const Json* type = json.find("type");
  if (type == nullptr) return invalid_argument("missing").in_member("type");
  auto parsed = parse_plain(*type);
  if (parsed || parsed.error().code() != ErrorCode::unsupported) return std::move(parsed).in_member("type");
  const Json* fallback = json.find("fallback");
  if (fallback == nullptr || fallback->is_null()) return std::move(parsed).in_member("type");
  SHERD_TRY(instead, parse_plain(*fallback).in_member("fallback"));
  instead.is_fallback = true;
  return instead;
}

/// As written by zarr-python 2.18, which does not read any of them.
std::string_view extension_uri(const DType& dtype) {
  switch (dtype.kind()) {
    case Kind::complex64:
    case Kind::complex128:
      return "https://zarr-specs.readthedocs.io/en/core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html";
    case Kind::datetime64:
    case Kind::timedelta64:
      return "https://zarr-specs.readthedocs.io/en/latest/extensions/data-types/datetime/v1.0.html";
    case Kind::utf32:
      return "TODO: unicode array protocol URL";
    case Kind::string:
    case Kind::bytes:
      return "TODO: object array protocol URL";
    case Kind::raw:
    case Kind::null_terminated_bytes:
    case Kind::structure:
      return "TODO: structured array protocol URL";
    default:
      return {};
  }
}

/// The draft's text has "+Infinity" where its implementations write "Infinity".
Json with_plain_infinities(Json json) {
  if (json.is_string() && json.text() == "+Infinity") return "Infinity";
  for (Json& part : json.elements()) part = with_plain_infinities(std::move(part));
  return json;
}

}  // namespace

Result<ElementType> parse_type(const Json& json) {
  return json.is_object() ? parse_extension_type(json) : parse_plain(json);
}

Result<Json> print_type(const NumpyType& type) {
  SHERD_TRY(name, print_numpy_type(type));
  const std::string_view uri = extension_uri(type.dtype);
  if (!uri.empty()) return Json(Json::Object{{"extension", uri}, {"type", std::move(name)}, {"fallback", nullptr}});
  if (type.dtype.kind() == Kind::boolean) return Json("bool");
  return type.dtype.size() == 1 ? Json(name.text().substr(1)) : std::move(name);
}

Result<Scalar> parse_fill(const Json& json, const NumpyType& type) {
  const Kind kind = type.dtype.kind();
  const bool has_infinities = kind == Kind::complex64 || kind == Kind::complex128 || kind == Kind::float16 ||
                              kind == Kind::float32 || kind == Kind::float64;
  return parse_numpy_fill(has_infinities ? with_plain_infinities(json) : json, type);
}

}  // namespace sherd::draft2022
