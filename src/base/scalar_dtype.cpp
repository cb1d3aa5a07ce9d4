// Element types as named in metadata: a name, or an object {name, configuration}. Also reads `structured`, the older
// spelling of `struct` with its fields as pairs, and names that zarr-python invented before there was a registry.
// Writes the registered name, with a configuration if it has one.
#include "base/scalar_dtype.hpp"

#include <algorithm>
#include <limits>

#include "base/try.hpp"

namespace sherd {

namespace {

using Kind = DType::Kind;

constexpr unsigned kMaxDepth = 16;  // as in DType::structure(), but checked before recursing

/// The nesting depth inside structs, and the error code for an unknown name.
struct Level {
  unsigned depth;
  ErrorCode unknown;
};

Result<DType> parse_at(const Json& json, Level level);

// Checks that the configuration of a type has exactly these members.
Result<void> check_configuration(const Json& configuration, std::string_view name,
                                 std::span<const std::string_view> members) {
  if (!configuration.is_object())
    return invalid_argument("data type '" + std::string(name) + "' needs a configuration object")
        .in_member("configuration");
  for (const Json::Member& member : configuration.members())
    if (std::find(members.begin(), members.end(), member.first) == members.end())
      return invalid_argument("data type '" + std::string(name) + "' has no member of this name")
          .in_member(member.first)
          .in_member("configuration");
  for (const std::string_view member : members)
    if (!configuration.find(member)) return invalid_argument("missing").in_member(member).in_member("configuration");
  return {};
}

Result<DType> parse_time(const Json& configuration, const std::string& name) {
  constexpr std::string_view kMembers[] = {"unit", "scale_factor"};
  SHERD_TRY(check_configuration(configuration, name, kMembers));
  const Json& unit = *configuration.find("unit");
  if (!unit.is_string()) return invalid_argument("must be a string such as \"s\"").in_member("configuration.unit");
  const auto scale = configuration.find("scale_factor")->as_int();
  if (!scale || *scale < 1 || *scale > std::numeric_limits<std::int32_t>::max())
    return invalid_argument("must be an integer from 1 to 2147483647").in_member("configuration.scale_factor");
  const auto factor = static_cast<std::int32_t>(*scale);
  auto dtype =
      name == "numpy.datetime64" ? DType::datetime64(unit.text(), factor) : DType::timedelta64(unit.text(), factor);
  return std::move(dtype).in_member("configuration.unit");
}

Result<DType> parse_length(const Json& configuration, const std::string& name) {
  constexpr std::string_view kMembers[] = {"length_bytes"};
  SHERD_TRY(check_configuration(configuration, name, kMembers));
  const auto length = configuration.find("length_bytes")->as_uint();
  if (!length || *length == 0)
    return invalid_argument("must be a positive integer").in_member("configuration.length_bytes");
  const std::uint64_t bits = *length > std::numeric_limits<std::uint64_t>::max() / 8 ? ~std::uint64_t{7} : *length * 8;
  auto dtype = name == "fixed_length_utf32"      ? DType::fixed_length_utf32(*length)
               : name == "null_terminated_bytes" ? DType::null_terminated_bytes(*length)
                                                 : DType::raw(bits);
  return std::move(dtype).in_member("configuration.length_bytes");
}

// {"name": …, "data_type": …}, or ["name", data type] as in `structured`.
Result<DTypeField> parse_field(const Json& json, Level level) {
  const bool pair = json.is_array() && json.size() == 2;
  if (!pair && !(json.is_object() && json.size() == 2))
    return invalid_argument("a field is an object with the members \"name\" and \"data_type\"");
  const Json* const name = pair ? &json.elements()[0] : json.find("name");
  const Json* const type = pair ? &json.elements()[1] : json.find("data_type");
  if (!name || !name->is_string()) return invalid_argument("must be a string").in_member(pair ? "[0]" : "name");
  if (!type) return invalid_argument("missing").in_member("data_type");
  auto dtype = parse_at(*type, {level.depth + 1, level.unknown});
  if (!dtype) return std::move(dtype).in_member(pair ? "[1]" : "data_type").error();
  return DTypeField{name->text(), *std::move(dtype)};
}

Result<DType> parse_structure(const Json& configuration, const std::string& name, Level level) {
  constexpr std::string_view kMembers[] = {"fields"};
  SHERD_TRY(check_configuration(configuration, name, kMembers));
  const Json& list = *configuration.find("fields");
  if (!list.is_array()) return invalid_argument("must be a list of fields").in_member("configuration.fields");
  std::vector<DTypeField> fields;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto field = parse_field(list.elements()[i], level);
    if (!field) return std::move(field).in_member("configuration.fields[" + std::to_string(i) + "]").error();
    fields.push_back(*std::move(field));
  }
  return DType::structure(std::move(fields)).in_member("configuration.fields");
}

// The configuration is the inner type, as in zarrs: its name, and its configuration if it needs one.
Result<DType> parse_optional(const Json& configuration, Level level) {
  if (!configuration.is_object())
    return invalid_argument("data type 'optional' needs the type of its values: {\"name\": …, \"configuration\": …}")
        .in_member("configuration");
  SHERD_TRY(value, parse_at(configuration, {level.depth + 1, level.unknown}).in_member("configuration"));
  return DType::optional(value).in_member("configuration");
}

Result<DType> parse_named(const std::string& name, const Json& configuration, Level level) {
  if (name == "numpy.datetime64" || name == "numpy.timedelta64") return parse_time(configuration, name);
  if (name == "struct" || name == "structured") return parse_structure(configuration, name, level);
  if (name == "optional" || name == "zarrs.optional") return parse_optional(configuration, level);
  if (name == "fixed_length_utf32" || name == "raw_bytes" || name == "null_terminated_bytes")
    return parse_length(configuration, name);
  // Without a configuration, an empty one is used. An unknown name is reported first.
  SHERD_TRY(dtype, parse_dtype_name(name, level.unknown));
  if (configuration.is_null()) return dtype;
  SHERD_TRY(check_configuration(configuration, name, {}));
  return dtype;
}

Result<DType> parse_at(const Json& json, Level level) {
  if (level.depth > kMaxDepth)
    return unsupported("structs and optional types are nested deeper than " + std::to_string(kMaxDepth) +
                       ", the maximum");
  if (json.is_string()) return parse_named(json.text(), Json(), level);
  if (!json.is_object())
    return invalid_argument("a data type is a name or an object {\"name\": …, \"configuration\": …}");
  for (const Json::Member& member : json.members())
    if (member.first != "name" && member.first != "configuration" && member.first != "must_understand")
      return invalid_argument("a data type has no member of this name").in_member(member.first);
  const Json* const name = json.find("name");
  if (!name || !name->is_string()) return invalid_argument("must be a string").in_member("name");
  if (const Json* flag = json.find("must_understand"); flag && !flag->is_bool())
    return invalid_argument("must be true or false").in_member("must_understand");
  const Json absent;
  const Json* const configuration = json.find("configuration");
  return parse_named(name->text(), configuration ? *configuration : absent, level);
}

Json configuration_of(const DType& dtype) {
  switch (dtype.kind()) {
    case Kind::datetime64:
    case Kind::timedelta64:
      return Json::Object{{"unit", dtype.unit()}, {"scale_factor", dtype.scale_factor()}};
    case Kind::utf32:
    case Kind::null_terminated_bytes:
      return Json::Object{{"length_bytes", static_cast<std::uint64_t>(dtype.size())}};
    case Kind::structure: {
      Json::Array fields;
      for (const DTypeField& field : dtype.fields())
        fields.push_back(Json::Object{{"name", field.name}, {"data_type", print_dtype(field.dtype)}});
      return Json::Object{{"fields", std::move(fields)}};
    }
    case Kind::optional: {
      // zarrs requires a `configuration` inside, even an empty one.
      const DType& value = dtype.fields().front().dtype;
      Json configuration = configuration_of(value);
      if (configuration.is_null()) configuration = Json::Object{};
      return Json::Object{{"name", value.name()}, {"configuration", std::move(configuration)}};
    }
    default:
      return nullptr;
  }
}

}  // namespace

Result<DType> parse_dtype(const Json& json, ErrorCode unknown) { return parse_at(json, {0, unknown}); }

Json print_dtype(const DType& dtype) {
  Json configuration = configuration_of(dtype);
  if (configuration.is_null()) return dtype.name();
  return Json::Object{{"name", dtype.name()}, {"configuration", std::move(configuration)}};
}

}  // namespace sherd
