// The members of a Zarr v3 array document (core specification 3.1, "Array metadata"): which are required, which are
// optional, in which order they are written, and which others must be refused or ignored. Data types, fill values,
// grids, key encodings and codec lists have their own readers; whether a codec chain is valid for its chunks is checked
// when the chain is built.
#include <algorithm>
#include <functional>

#include "base/float_format.hpp"
#include "base/scalar_dtype.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "format/zarr3.hpp"
#include "format/zarr_common.hpp"
#include "node/extension.hpp"

namespace sherd::zarr3 {

namespace {

Result<const Json*> required(const Json& document, std::string_view member) {
  const Json* value = document.find(member);
  if (value == nullptr) return invalid_argument("missing; every Zarr v3 array document must have it").in_member(member);
  return value;
}

/// zarrita of 2023 wrote the fill value of a bool as a number, and in some releases as the text "0".
std::optional<bool> other_bool(const Json& fill) {
  if (fill.is_string() ? fill.text() == "0" : fill.is_number() && fill.as_int() == 0) return false;
  if (fill.is_number() && fill.as_int() == 1) return true;
  return std::nullopt;
}

Result<Scalar> parse_fill(const Json& json, const DType& dtype, std::vector<std::string>& remarks) {
  if (json.is_null() && dtype.kind() != DType::Kind::optional)
    return invalid_argument("null is not a fill value in Zarr v3: put a value of type " + dtype.name() +
                            " there, such as " + print_scalar(default_scalar(dtype).bytes(), dtype).dump() +
                            " (GDAL 3.10 writes null)");
  SHERD_TRY(check_bare_fill(json, dtype, remarks));
  const bool is_bool = dtype.kind() == DType::Kind::boolean;
  if (const auto value = is_bool ? other_bool(json) : std::nullopt) {
    remarks.push_back("'fill_value' of a bool is " + json.dump() + "; other readers want true or false");
    return parse_scalar(*value, dtype);
  }
  if (dtype.kind() == DType::Kind::raw && json.is_string())
    remarks.emplace_back("'fill_value' of raw bytes is base64; other readers want a list of numbers");
  const auto format = float_format(dtype.kind());
  if (format && format->specials == FloatFormat::Specials::scale && json.as_double().value_or(1) <= 0)
    remarks.push_back("'fill_value' " + json.dump() + " is not a number of " + dtype.name() + "; read as " +
                      print_scalar(default_scalar(dtype).bytes(), dtype).dump());
  return parse_scalar(json, dtype);
}

/// Notes what only the older `structured` has.
void remark_struct(const Json& dtype, const Json& fill, std::vector<std::string>& remarks) {
  const Json* name = dtype.find("name");
  const Json* configuration = dtype.find("configuration");
  if (name == nullptr || name->text() != "struct" || configuration == nullptr) return;
  for (const Json& field : configuration->find("fields")->elements())
    if (field.is_array()) {
      remarks.emplace_back("the fields of a 'struct' are pairs, as 'structured' has them; other readers want objects");
      break;
    }
  if (fill.is_string())
    remarks.emplace_back("'fill_value' of a 'struct' is base64, as 'structured' has it; other readers want an object");
}

/// The names of a type and of the types in it. The JSON must have been parsed as a type.
void collect_names(const Json& dtype, std::vector<std::string>& names) {
  if (dtype.is_string()) return names.push_back(dtype.text());
  names.push_back(dtype.find("name")->text());
  const Json* configuration = dtype.find("configuration");
  if (configuration == nullptr || !configuration->is_object()) return;
  if (configuration->find("name") != nullptr) return collect_names(*configuration, names);
  const Json* fields = configuration->find("fields");
  if (fields == nullptr) return;
  for (const Json& field : fields->elements())
    collect_names(field.is_array() ? field.elements()[1] : *field.find("data_type"), names);
}

/// zarr-python named types before there was a registry: raw_bytes, structured and others.
void remark_names(const Json& given, const DType& dtype, std::vector<std::string>& remarks) {
  std::vector<std::string> names, registered;
  collect_names(given, names);
  collect_names(print_dtype(dtype), registered);
  for (std::size_t i = 0; i < names.size() && i < registered.size(); ++i)
    if (names[i] != registered[i])
      remarks.push_back("the data type '" + names[i] + "' is read as '" + registered[i] + "', its registered name");
}

/// Notes what no specification of a codec has, in a list and in the lists of shards in it.
void remark_codecs(const Json& codecs, std::vector<std::string>& remarks) {
  for (const Json& codec : codecs.elements()) {
    if (!codec.is_object()) continue;
    const std::string name = "the codec '" + codec.find("name")->text() + "'";
    if (codec.find("must_understand") != nullptr)
      remarks.push_back(name + " has 'must_understand', which readers ignore: a codec cannot be skipped");
    const Json* configuration = codec.find("configuration");
    if (configuration == nullptr) continue;
    if (configuration->is_null()) remarks.push_back(name + " has null as its configuration; other readers refuse it");
    for (const char* member : {"codecs", "index_codecs"})
      if (const Json* inner = configuration->find(member); inner != nullptr && parse_codec_list(*inner))
        remark_codecs(*inner, remarks);
  }
}

/// Visits the configurations of `bytes` in a list and in the lists of shards in it.
Result<void> visit_byte_orders(Json& codecs, const std::function<Result<void>(Json& configuration)>& visit) {
  for (std::size_t i = 0; codecs.is_array() && i < codecs.size(); ++i) {
    Json& codec = codecs.elements()[i];
    Json* configuration = codec.is_object() ? codec.find("configuration") : nullptr;
    if (configuration == nullptr || !configuration->is_object()) continue;
    const Json* name = codec.find("name");
    const Json* endian = name != nullptr && name->text() == "bytes" ? configuration->find("endian") : nullptr;
    if (endian != nullptr && endian->is_array())
      SHERD_TRY(visit(*configuration).in_member("[" + std::to_string(i) + "].configuration.endian"));
    if (Json* inner = configuration->find("codecs")) SHERD_TRY(visit_byte_orders(*inner, visit));
  }
  return {};
}

/// In Zarr v3 structs have a single byte order; a list with those of the fields belongs to Zarr v2.
Result<void> refuse_mixed_orders(Json codecs) {
  return visit_byte_orders(
      codecs, [](Json&) -> Result<void> { return invalid_argument("bytes: 'endian' must be \"little\" or \"big\""); });
}
Json with_one_order(Json codecs) {
  (void)visit_byte_orders(codecs, [](Json& configuration) -> Result<void> {
    configuration.set("endian", "little");
    return {};
  });
  return codecs;
}

Result<std::vector<std::optional<std::string>>> parse_names(const Json& json, std::size_t rank) {
  std::vector<std::optional<std::string>> names;
  if (json.is_null()) return names;  // zarr-python 3.0 writes null where there are no names
  if (!json.is_array()) return wrong_value(json, "a list of strings and nulls");
  SHERD_TRY(check_rank(json.size(), rank, "names"));
  for (std::size_t i = 0; i < rank; ++i) {
    const Json& name = json.elements()[i];
    if (!name.is_null() && !name.is_string())
      return wrong_value(name, "a string or null").in_member("[" + std::to_string(i) + "]");
    names.push_back(name.is_null() ? std::nullopt : std::optional(name.text()));
  }
  return names;
}

// VirtualiZarr wrote null for none. No transformer is registered, and chunks that went through one cannot be read
// without it, whatever its must_understand says.
Result<void> refuse_transformers(const Json& json) {
  if (json.is_null()) return {};
  if (!json.is_array()) return wrong_value(json, "a list");
  if (json.size() == 0) return {};
  SHERD_TRY(transformer, parse_extension(json.elements()[0]).in_member("[0]"));
  return unsupported("'" + transformer.name + "' is not a known storage transformer").in_member("[0]");
}

Json print_names(const std::vector<std::optional<std::string>>& names) {
  Json::Array json;
  for (const auto& name : names) json.push_back(name ? Json(*name) : Json());
  return json;
}

}  // namespace

Result<void> refuse_unknown(const Json& document, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : document.members()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const Json* flag = value.is_object() ? value.find("must_understand") : nullptr;
    if (flag != nullptr && flag->as_bool() == false) continue;
    return unsupported("unknown member; only an object with \"must_understand\": false may be ignored").in_member(key);
  }
  return {};
}

void remark_nulls(const Json& document, std::vector<std::string>& remarks) {
  for (const std::string_view member : {"dimension_names", "storage_transformers"})
    if (const Json* value = document.find(member); value != nullptr && value->is_null())
      remarks.push_back("'" + std::string(member) + "' is null; the specification wants a list, or no such member");
}

Result<ArraySpec> parse_array(const Json& document, const Limits& limits) {
  SHERD_TRY(
      refuse_unknown(document, {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
                                "fill_value", "codecs", "attributes", "storage_transformers", "dimension_names"}));
  SHERD_TRY(shape, required(document, "shape"));
  SHERD_TRY(dtype, required(document, "data_type"));
  SHERD_TRY(grid, required(document, "chunk_grid"));
  SHERD_TRY(keys, required(document, "chunk_key_encoding"));
  SHERD_TRY(fill, required(document, "fill_value"));
  SHERD_TRY(codecs, required(document, "codecs"));

  ArraySpec spec;
  SHERD_TRY(lengths, parse_lengths(*shape, 0, limits).in_member("shape"));
  spec.shape = std::move(lengths);
  SHERD_TRY(element, parse_dtype(*dtype).in_member("data_type"));
  spec.dtype = element;
  SHERD_TRY(check_element(spec.dtype, limits).in_member("data_type"));
  SHERD_TRY(check_bytes(spec.shape, spec.dtype).in_member("shape"));
  SHERD_TRY(chunks, parse_chunk_grid(*grid, spec, limits).in_member("chunk_grid"));
  spec.grid = std::move(chunks);
  SHERD_TRY(encoding, parse_key_encoding(*keys).in_member("chunk_key_encoding"));
  spec.keys = encoding;
  remark_names(*dtype, spec.dtype, spec.remarks);
  SHERD_TRY(value, parse_fill(*fill, spec.dtype, spec.remarks).in_member("fill_value"));
  spec.fill_value = std::move(value);
  remark_struct(*dtype, *fill, spec.remarks);
  SHERD_TRY(chain, parse_codec_list(*codecs).in_member("codecs"));
  SHERD_TRY(refuse_mixed_orders(*codecs).in_member("codecs"));
  spec.codecs = std::move(chain);
  remark_codecs(*codecs, spec.remarks);
  remark_nulls(document, spec.remarks);
  if (const Json* names = document.find("dimension_names")) {
    SHERD_TRY(parsed, parse_names(*names, spec.shape.size()).in_member("dimension_names"));
    spec.dimension_names = std::move(parsed);
  }
  if (const Json* transformers = document.find("storage_transformers"))
    SHERD_TRY(refuse_transformers(*transformers).in_member("storage_transformers"));
  return spec;
}

Json print_array(const ArraySpec& spec) {
  Json document;
  document.set("shape", Json::numbers(spec.shape));
  document.set("data_type", print_dtype(spec.dtype));
  document.set("chunk_grid", print_chunk_grid(spec.grid));
  document.set("chunk_key_encoding", print_key_encoding(spec.keys));
  document.set("fill_value", print_scalar(spec.fill_value.bytes(), spec.dtype));
  document.set("codecs", with_one_order(codec_list_json(spec.codecs)));
  document.set("attributes", spec.attributes.is_null() ? Json(Json::Object{}) : spec.attributes);
  if (!spec.dimension_names.empty()) document.set("dimension_names", print_names(spec.dimension_names));
  document.set("zarr_format", 3);
  document.set("node_type", "array");
  return document;
}

}  // namespace sherd::zarr3
