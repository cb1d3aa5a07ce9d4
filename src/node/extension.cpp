// The chunk grids regular (core specification 3.1) and rectilinear (registered 2026-03: kind "inline", a length or a
// list of lengths and [length, count] runs for each dimension), and the chunk key encodings default and v2.
// must_understand makes no difference for these extensions: without them no chunk can be found.
#include "node/extension.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {

namespace {

constexpr std::uint64_t max_length = std::numeric_limits<std::int64_t>::max();

std::string at(std::size_t index) { return "[" + std::to_string(index) + "]"; }

Result<std::uint64_t> parse_length(const Json& json, std::uint64_t least) {
  const auto value = json.as_uint();
  if (!value || *value < least || *value > max_length)
    return wrong_value(json, "an integer from " + std::to_string(least) + " to 2^63-1");
  return *value;
}

Result<RegularGrid> parse_regular(const CodecSpec& extension, const ArraySpec& array, const Limits& limits) {
  constexpr std::string_view member = "configuration.chunk_shape";
  SHERD_TRY(configuration, Configuration::open(extension));
  const Json* lengths = configuration.find("chunk_shape");
  SHERD_TRY(configuration.done());
  if (lengths == nullptr) return configuration_error("chunk_shape", "missing");
  SHERD_TRY(chunk_shape, parse_lengths(*lengths, 1, limits).in_member(member));
  SHERD_TRY(check_rank(chunk_shape.size(), array.shape.size(), "lengths").in_member(member));
  SHERD_TRY(check_bytes(chunk_shape, array.dtype).in_member(member));
  return RegularGrid{std::move(chunk_shape)};
}

// One element of a rectilinear axis: an edge length, or [edge length, count].
Result<std::pair<std::uint64_t, std::uint64_t>> parse_run(const Json& json) {
  if (!json.is_array()) {
    SHERD_TRY(edge, parse_length(json, 1));
    return std::pair{edge, std::uint64_t{1}};
  }
  if (json.size() != 2) return invalid_argument("a run must be [edge length, count]");
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

Shape largest_chunk(const RectilinearGrid& grid) {
  Shape largest;
  for (const auto& axis : grid.axes) {
    largest.push_back(axis.regular.value_or(0));
    for (const auto& [edge, count] : axis.runs) largest.back() = std::max(largest.back(), edge);
  }
  return largest;
}

Result<RectilinearGrid> parse_rectilinear(const CodecSpec& extension, const ArraySpec& array) {
  const std::string member = "configuration.chunk_shapes";
  const std::size_t rank = array.shape.size();
  SHERD_TRY(configuration, Configuration::open(extension));
  SHERD_TRY(kind, configuration.text("kind"));
  const Json* axes = configuration.find("chunk_shapes");
  SHERD_TRY(configuration.done());
  if (kind != "inline") return unsupported("'" + kind + "' is not a known kind").in_member("configuration.kind");
  if (axes == nullptr || !axes->is_array())
    return configuration_error("chunk_shapes", "must be a list with one entry per dimension");
  SHERD_TRY(check_rank(axes->size(), rank, "entries").in_member(member));
  RectilinearGrid grid;
  for (std::size_t i = 0; i < rank; ++i) {
    SHERD_TRY(axis, parse_axis(axes->elements()[i], array.shape[i]).in_member(member + at(i)));
    grid.axes.push_back(std::move(axis));
  }
  SHERD_TRY(check_bytes(largest_chunk(grid), array.dtype).in_member(member));
  return grid;
}

Json print_extension(std::string_view name, std::string_view key, Json value) {
  Json configuration;
  configuration.set(key, std::move(value));
  Json json;
  json.set("name", name);
  json.set("configuration", std::move(configuration));
  return json;
}

Json print_grid(const RegularGrid& grid) {
  return print_extension("regular", "chunk_shape", Json::numbers(grid.chunk_shape));
}

Json print_grid(const RectilinearGrid& grid) {
  Json::Array axes;
  for (const auto& axis : grid.axes) {
    if (axis.regular) {
      axes.emplace_back(*axis.regular);
      continue;
    }
    Json::Array edges;
    for (const auto& [edge, count] : axis.runs) edges.push_back(count == 1 ? Json(edge) : Json::numbers({edge, count}));
    axes.emplace_back(std::move(edges));
  }
  Json json = print_extension("rectilinear", "kind", "inline");
  json.find("configuration")->set("chunk_shapes", std::move(axes));
  return json;
}

}  // namespace

Error wrong_value(const Json& value, std::string_view expected) {
  std::string message = "must be " + std::string(expected);
  if (value.is_number() && value.text().size() < 32) message += ", not " + value.text();
  return invalid_argument(std::move(message));
}

Result<Shape> parse_lengths(const Json& json, std::uint64_t least, const Limits& limits) {
  if (!json.is_array()) return wrong_value(json, "a list of integers");
  if (json.size() > limits.dimensions)
    return unsupported(std::to_string(json.size()) +
                       " dimensions are more than the limit dimensions = " + std::to_string(limits.dimensions));
  Shape lengths;
  lengths.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto length = parse_length(json.elements()[i], least);
    if (!length.has_value()) return Error(length.error()).in_member(at(i));
    lengths.push_back(*length);
  }
  return lengths;
}

// Lengths of 0 are skipped, because strides and offsets are still computed from the others.
Result<void> check_bytes(const Shape& shape, const DType& dtype) {
  std::optional<std::uint64_t> bytes = std::max<std::uint64_t>(dtype.size(), 1);
  for (const std::uint64_t length : shape) {
    if (bytes && length != 0) bytes = checked_mul(*bytes, length);
  }
  if (bytes && *bytes <= max_length) return {};
  return unsupported(to_string(shape) + " elements of " + dtype.name() + " are more than 2^63-1 bytes");
}

Result<void> check_element(const DType& dtype, const Limits& limits) {
  if (dtype.size() <= limits.element_bytes) return {};
  return unsupported("elements of " + std::to_string(dtype.size()) +
                     " bytes are larger than the limit element_bytes = " + std::to_string(limits.element_bytes));
}

Result<void> check_rank(std::size_t count, std::size_t rank, std::string_view things) {
  if (count == rank) return {};
  return invalid_argument(std::to_string(count) + " " + std::string(things) + " for an array of " +
                          std::to_string(rank) + " dimensions");
}

Result<CodecSpec> parse_extension(const Json& json) {
  if (json.is_string()) return CodecSpec{json.text(), {}};
  if (!json.is_object()) return wrong_value(json, "an object with a name, or a name");
  CodecSpec extension;
  for (const auto& [key, value] : json.members()) {
    if (key == "name") {
      if (!value.is_string()) return wrong_value(value, "a string").in_member("name");
      extension.name = value.text();
    } else if (key == "configuration") {
      if (!value.is_object()) return wrong_value(value, "an object").in_member("configuration");
      extension.configuration = value;
    } else if (key == "must_understand") {
      if (!value.is_bool()) return wrong_value(value, "true or false").in_member("must_understand");
    } else {
      return unsupported("unknown member of an extension").in_member(key);
    }
  }
  if (extension.name.empty()) return invalid_argument("missing or empty").in_member("name");
  return extension;
}

Result<GridSpec> parse_chunk_grid(const Json& json, const ArraySpec& array, const Limits& limits) {
  SHERD_TRY(extension, parse_extension(json));
  if (extension.name == "regular") {
    SHERD_TRY(grid, parse_regular(extension, array, limits));
    return grid;
  }
  if (extension.name == "rectilinear") {
    SHERD_TRY(grid, parse_rectilinear(extension, array));
    return grid;
  }
  return unsupported("'" + extension.name + "' is not a known chunk grid (regular, rectilinear)").in_member("name");
}

Json print_chunk_grid(const GridSpec& grid) {
  return std::visit([](const auto& kind) { return print_grid(kind); }, grid);
}

Result<KeyEncoding> parse_key_encoding(const Json& json) {
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

Json print_key_encoding(const KeyEncoding& keys) {
  return print_extension(keys.kind == KeyEncoding::Kind::v2 ? "v2" : "default", "separator",
                         std::string(1, keys.separator));
}

}  // namespace sherd
