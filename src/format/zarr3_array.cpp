// Knows the members of a Zarr v3 array document (core specification 3.1, "Array metadata"), the extension points
// chunk_grid (regular, rectilinear) and chunk_key_encoding (default, v2), and how both are written canonically.
// Data types, fill values and codec lists have readers of their own; whether a codec chain fits its chunks is
// found out when the chain is built.
#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "codec/configuration.hpp"
#include "format/zarr3.hpp"

namespace sherd::zarr3 {

namespace {

constexpr std::uint64_t max_length = std::numeric_limits<std::int64_t>::max();

std::string at(std::size_t index) { return "[" + std::to_string(index) + "]"; }

Error wrong(const Json& value, std::string_view expected) {
  std::string message = "must be " + std::string(expected);
  if (value.is_number() && value.text().size() < 32) message += ", not " + value.text();
  return invalid_argument(std::move(message));
}

Result<const Json*> required(const Json& document, std::string_view member) {
  const Json* value = document.find(member);
  if (value == nullptr)
    return invalid_argument("missing; every Zarr v3 array document must have it").in_member(member);
  return value;
}

Result<std::uint64_t> parse_length(const Json& json, std::uint64_t least) {
  const auto value = json.as_uint();
  if (!value || *value < least || *value > max_length)
    return wrong(json, "an integer from " + std::to_string(least) + " to 2^63-1");
  return *value;
}

Result<Shape> parse_lengths(const Json& json, std::uint64_t least, const Limits& limits) {
  if (!json.is_array()) return wrong(json, "a list of integers");
  if (json.size() > limits.dimensions)
    return unsupported(std::to_string(json.size()) + " dimensions are more than the limit dimensions = " +
                       std::to_string(limits.dimensions));
  Shape lengths;
  for (std::size_t i = 0; i < json.size(); ++i) {
    SHERD_TRY(length, parse_length(json.elements()[i], least).in_member(at(i)));
    lengths.push_back(length);
  }
  return lengths;
}

// Lengths of 0 are left out: strides and offsets are made of the other ones all the same.
Result<void> check_bytes(const Shape& shape, const DType& dtype) {
  std::optional<std::uint64_t> bytes = std::max<std::uint64_t>(dtype.size(), 1);
  for (const std::uint64_t length : shape) {
    if (bytes && length != 0) bytes = checked_mul(*bytes, length);
  }
  if (bytes && *bytes <= max_length) return {};
  return unsupported(to_string(shape) + " elements of " + dtype.name() + " are more than 2^63-1 bytes");
}

// An extension object {name, configuration, must_understand}, or its name alone. Whether it must be understood
// makes no difference to a grid, a key encoding or a transformer: without them no chunk is found.
Result<CodecSpec> parse_extension(const Json& json) {
  if (json.is_string()) return CodecSpec{json.text(), {}};
  if (!json.is_object()) return wrong(json, "an object with a name, or a name");
  CodecSpec extension;
  for (const auto& [key, value] : json.members()) {
    if (key == "name") {
      if (!value.is_string()) return wrong(value, "a string").in_member("name");
      extension.name = value.text();
    } else if (key == "configuration") {
      if (!value.is_object()) return wrong(value, "an object").in_member("configuration");
      extension.configuration = value;
    } else if (key == "must_understand") {
      if (!value.is_bool()) return wrong(value, "true or false").in_member("must_understand");
    } else {
      return unsupported("unknown member of an extension").in_member(key);
    }
  }
  if (extension.name.empty()) return invalid_argument("missing or empty").in_member("name");
  return extension;
}

Result<void> check_rank(std::size_t count, std::size_t rank, std::string_view what) {
  if (count == rank) return {};
  return invalid_argument(std::to_string(count) + " " + std::string(what) + " for an array of " +
                          std::to_string(rank) + " dimensions");
}

Result<RegularGrid> parse_regular(const CodecSpec& extension, const Limits& limits) {
  SHERD_TRY(configuration, Configuration::open(extension));
  const Json* lengths = configuration.find("chunk_shape");
  SHERD_TRY(configuration.done());
  if (lengths == nullptr) return configuration_error("chunk_shape", "missing");
  SHERD_TRY(chunk_shape, parse_lengths(*lengths, 1, limits).in_member("configuration.chunk_shape"));
  return RegularGrid{std::move(chunk_shape)};
}

/// One element of a rectilinear axis: an edge length, or [edge length, how often].
Result<std::pair<std::uint64_t, std::uint64_t>> parse_run(const Json& json) {
  if (!json.is_array()) {
    SHERD_TRY(edge, parse_length(json, 1));
    return std::pair{edge, std::uint64_t{1}};
  }
  if (json.size() != 2) return invalid_argument("a run is [edge length, count]");
  SHERD_TRY(edge, parse_length(json.elements()[0], 1).in_member("[0]"));
  SHERD_TRY(count, parse_length(json.elements()[1], 1).in_member("[1]"));
  return std::pair{edge, count};
}

Result<RectilinearGrid::Axis> parse_axis(const Json& json, std::uint64_t extent) {
  RectilinearGrid::Axis axis;
  if (!json.is_array()) {
    SHERD_TRY(edge, parse_length(json, 1));
    axis.regular = edge;
    return axis;
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    SHERD_TRY(run, parse_run(json.elements()[i]).in_member(at(i)));
    const auto length = checked_mul(run.first, run.second);
    const auto longer = length ? checked_add(sum, *length) : std::nullopt;
    if (!longer || *longer > max_length) return unsupported("the edge lengths add up to more than 2^63-1");
    sum = *longer;
    axis.runs.push_back(run);
  }
  if (sum < extent)
    return invalid_argument("the edge lengths add up to " + std::to_string(sum) + ", less than the array's " +
                            std::to_string(extent));
  return axis;
}

Result<RectilinearGrid> parse_rectilinear(const CodecSpec& extension, const Shape& shape) {
  SHERD_TRY(configuration, Configuration::open(extension));
  SHERD_TRY(kind, configuration.text("kind"));
  const Json* axes = configuration.find("chunk_shapes");
  SHERD_TRY(configuration.done());
  if (kind != "inline") return unsupported("'" + kind + "' is not a known kind").in_member("configuration.kind");
  if (axes == nullptr || !axes->is_array())
    return configuration_error("chunk_shapes", "must be a list with one entry a dimension");
  SHERD_TRY(check_rank(axes->size(), shape.size(), "entries").in_member("configuration.chunk_shapes"));
  RectilinearGrid grid;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    SHERD_TRY(axis, parse_axis(axes->elements()[i], shape[i]).in_member("configuration.chunk_shapes" + at(i)));
    grid.axes.push_back(std::move(axis));
  }
  return grid;
}

Shape largest_chunk(const RectilinearGrid& grid) {
  Shape largest;
  for (const auto& axis : grid.axes) {
    largest.push_back(axis.regular.value_or(0));
    for (const auto& [edge, count] : axis.runs) largest.back() = std::max(largest.back(), edge);
  }
  return largest;
}

Result<void> parse_grid(const Json& json, const Limits& limits, ArraySpec& spec) {
  SHERD_TRY(extension, parse_extension(json));
  if (extension.name == "regular") {
    SHERD_TRY(grid, parse_regular(extension, limits));
    SHERD_TRY(check_rank(grid.chunk_shape.size(), spec.shape.size(), "lengths").in_member("configuration.chunk_shape"));
    SHERD_TRY(check_bytes(grid.chunk_shape, spec.dtype).in_member("configuration.chunk_shape"));
    spec.grid = std::move(grid);
  } else if (extension.name == "rectilinear") {
    SHERD_TRY(grid, parse_rectilinear(extension, spec.shape));
    SHERD_TRY(check_bytes(largest_chunk(grid), spec.dtype).in_member("configuration.chunk_shapes"));
    spec.grid = std::move(grid);
  } else {
    return unsupported("'" + extension.name + "' is not a known chunk grid (regular, rectilinear)").in_member("name");
  }
  return {};
}

Result<KeyEncoding> parse_keys(const Json& json) {
  SHERD_TRY(extension, parse_extension(json));
  KeyEncoding keys;
  if (extension.name == "v2") {
    keys = {KeyEncoding::Kind::v2, '.'};
  } else if (extension.name != "default") {
    return unsupported("'" + extension.name + "' is not a known chunk key encoding (default, v2)").in_member("name");
  }
  SHERD_TRY(configuration, Configuration::open(extension));
  SHERD_TRY(separator, configuration.text("separator", std::string_view(&keys.separator, 1)));
  SHERD_TRY(configuration.done());
  if (separator != "/" && separator != ".") return configuration_error("separator", "must be \"/\" or \".\"");
  keys.separator = separator.front();
  return keys;
}

Result<Scalar> parse_fill(const Json& json, const DType& dtype) {
  if (json.is_null())
    return invalid_argument("null is no fill value in Zarr v3: put a value of type " + dtype.name() +
                            " there, such as " + print_scalar(default_scalar(dtype).bytes(), dtype).dump() +
                            " (GDAL 3.10 writes null)");
  return parse_scalar(json, dtype);
}

Result<std::vector<std::optional<std::string>>> parse_names(const Json& json, std::size_t rank) {
  std::vector<std::optional<std::string>> names;
  if (json.is_null()) return names;  // zarr-python 3.0 writes null where there are no names
  if (!json.is_array()) return wrong(json, "a list of strings and nulls");
  SHERD_TRY(check_rank(json.size(), rank, "names"));
  for (std::size_t i = 0; i < rank; ++i) {
    const Json& name = json.elements()[i];
    if (!name.is_null() && !name.is_string()) return wrong(name, "a string or null").in_member(at(i));
    names.push_back(name.is_null() ? std::nullopt : std::optional(name.text()));
  }
  return names;
}

// VirtualiZarr wrote null for none. No transformer is registered, and chunks that went through one cannot be read
// without it, whatever its must_understand says.
Result<void> refuse_transformers(const Json& json) {
  if (json.is_null()) return {};
  if (!json.is_array()) return wrong(json, "a list");
  if (json.size() == 0) return {};
  SHERD_TRY(transformer, parse_extension(json.elements()[0]).in_member("[0]"));
  return unsupported("'" + transformer.name + "' is not a known storage transformer").in_member("[0]");
}

Json extension(std::string_view name, std::string_view key, Json value) {
  Json configuration;
  configuration.set(key, std::move(value));
  Json json;
  json.set("name", name);
  json.set("configuration", std::move(configuration));
  return json;
}

Json print_grid(const RegularGrid& grid) { return extension("regular", "chunk_shape", Json::numbers(grid.chunk_shape)); }

Json print_grid(const RectilinearGrid& grid) {
  Json axes{Json::Array{}};
  for (const auto& axis : grid.axes) {
    if (axis.regular) {
      axes.push_back(*axis.regular);
      continue;
    }
    Json edges{Json::Array{}};
    for (const auto& [edge, count] : axis.runs) edges.push_back(count == 1 ? Json(edge) : Json::numbers({edge, count}));
    axes.push_back(std::move(edges));
  }
  Json json = extension("rectilinear", "kind", "inline");
  json.find("configuration")->set("chunk_shapes", std::move(axes));
  return json;
}

Json print_names(const std::vector<std::optional<std::string>>& names) {
  Json json{Json::Array{}};
  for (const auto& name : names) json.push_back(name ? Json(*name) : Json());
  return json;
}

}  // namespace

Result<void> refuse_unknown(const Json& document, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : document.members()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const Json* flag = value.is_object() ? value.find("must_understand") : nullptr;
    if (flag != nullptr && flag->as_bool() == false) continue;
    return unsupported("unknown member; only an object with \"must_understand\": false may be passed over")
        .in_member(key);
  }
  return {};
}

Result<Json> parse_attributes(const Json& document) {
  const Json* attributes = document.find("attributes");
  if (attributes == nullptr) return Json();
  if (!attributes->is_object()) return wrong(*attributes, "an object").in_member("attributes");
  return *attributes;
}

Result<ArraySpec> parse_array(const Json& document, const Limits& limits) {
  SHERD_TRY(refuse_unknown(document, {"zarr_format", "node_type", "shape", "data_type", "chunk_grid",
                                      "chunk_key_encoding", "fill_value", "codecs", "attributes",
                                      "storage_transformers", "dimension_names"}));
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
  SHERD_TRY(check_bytes(spec.shape, spec.dtype).in_member("shape"));
  SHERD_TRY(parse_grid(*grid, limits, spec).in_member("chunk_grid"));
  SHERD_TRY(encoding, parse_keys(*keys).in_member("chunk_key_encoding"));
  spec.keys = encoding;
  SHERD_TRY(value, parse_fill(*fill, spec.dtype).in_member("fill_value"));
  spec.fill_value = std::move(value);
  SHERD_TRY(chain, parse_codec_list(*codecs).in_member("codecs"));
  spec.codecs = std::move(chain);
  if (const Json* names = document.find("dimension_names")) {
    SHERD_TRY(parsed, parse_names(*names, spec.shape.size()).in_member("dimension_names"));
    spec.dimension_names = std::move(parsed);
  }
  if (const Json* transformers = document.find("storage_transformers"))
    SHERD_TRY(refuse_transformers(*transformers).in_member("storage_transformers"));
  SHERD_TRY(attributes, parse_attributes(document));
  spec.attributes = std::move(attributes);
  return spec;
}

Json print_array(const ArraySpec& spec) {
  Json document;
  document.set("shape", Json::numbers(spec.shape));
  document.set("data_type", print_dtype(spec.dtype));
  document.set("chunk_grid", std::visit([](const auto& grid) { return print_grid(grid); }, spec.grid));
  document.set("chunk_key_encoding", extension(spec.keys.kind == KeyEncoding::Kind::v2 ? "v2" : "default", "separator",
                                               std::string(1, spec.keys.separator)));
  document.set("fill_value", print_scalar(spec.fill_value.bytes(), spec.dtype));
  document.set("codecs", codec_list_json(spec.codecs));
  document.set("attributes", spec.attributes.is_null() ? Json(Json::Object{}) : spec.attributes);
  if (!spec.dimension_names.empty()) document.set("dimension_names", print_names(spec.dimension_names));
  document.set("zarr_format", 3);
  document.set("node_type", "array");
  return document;
}

}  // namespace sherd::zarr3
