// Some releases of netcdf-c store data differently than their metadata say. The metadata are corrected here before the
// array is made from them, so everything above and below sees an ordinary array.
#include "netcdf/variables.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <ranges>
#include <utility>

#include "array/nodes.hpp"
#include "base/base64.hpp"
#include "base/try.hpp"
#include "format/zarr2.hpp"
#include "format/zarr_common.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/type.hpp"
#include "node/document.hpp"
#include "node/path.hpp"

namespace sherd::netcdf {

namespace {

bool is_text(std::string_view dtype) { return dtype.size() > 2 && dtype[1] == 'S'; }

/// The exact value of fill values that netcdf-c prints with only six digits.
Json exact_fill(Json fill, std::string_view dtype) {
  if (!fill.is_number() || (dtype != "<f4" && dtype != ">f4" && dtype != "<f8" && dtype != ">f8")) return fill;
  return fill.text() == "9.96921e+36" ? Json::number("9.969209968386869e+36") : std::move(fill);
}

/// The fill value of an array of text is that text here, where Zarr has base64.
Json text_fill(const Json& fill, std::string_view dtype) {
  if (!fill.is_string() || fill.text().empty()) return fill;
  std::uint64_t size = 0;
  for (const char c : dtype.substr(2)) size = size * 10 + static_cast<std::uint64_t>(c - '0');
  if (fill.text().size() > size || size > 4096) return fill;
  return encode_base64(fill.text() + std::string(size - fill.text().size(), '\0'));
}

/// Makes the document `.zarray` express what the writer meant. Returns whether the element type was different.
bool repair_array(const Reading& reading, Json& array) {
  const Json* stored = array.find("dtype");
  if (stored == nullptr || !stored->is_string()) return false;
  std::string dtype = stored->text();
  const bool early = reading.generation == Generation::v1 || reading.generation == Generation::v2a ||
                     (reading.release && *reading.release < std::array{4, 9, 1});
  if (early && (dtype == "<U1" || dtype == ">U1" || dtype == "|U1")) dtype = "|S1";  // actually one byte each
  const bool swapped = reading.release && *reading.release < std::array{4, 9, 3};
  if (swapped && dtype.starts_with('>') && !is_text(dtype)) dtype.front() = '<';  // never swapped before 4.9.3
  if (Json* fill = array.find("fill_value")) {
    // The first generation has lists of one value.
    if (fill->is_array() && fill->size() == 1) *fill = Json(fill->elements()[0]);
    *fill = exact_fill(std::move(*fill), dtype);
    if (is_text(dtype)) *fill = text_fill(*fill, dtype);
  }
  if (dtype == stored->text()) return false;
  array.set("dtype", std::move(dtype));
  return true;
}

struct Lowered {
  NodeDocument document;
  bool no_fill = false;
  bool characters = false;     ///< of single bytes
  bool reinterpreted = false;  ///< the type of the elements differs from the stored one
  bool looked = false;         ///< at the store: the document does not say everything
};

bool lacks_separator(const Json& array) {
  const Json* separator = array.find("dimension_separator");
  const Json* shape = array.find("shape");
  return (separator == nullptr || separator->is_null()) && shape != nullptr && shape->size() > 1;
}

/// Corrects the document `.zarray` of a dataset that netcdf-c wrote.
void repair(const Reading& reading, Json& stored, Lowered& lowered) {
  const std::string dtype = stored.find("dtype") != nullptr ? stored.find("dtype")->text() : "";
  // A writer compares the document with the stored one, and keeps fill values unchanged.
  Json copy = reading.location.writable ? stored : Json();
  lowered.reinterpreted = repair_array(reading, reading.location.writable ? copy : stored);
  if (reading.location.writable && lowered.reinterpreted) stored = std::move(copy);
  const Json* now = stored.find("dtype");
  const bool renamed = now != nullptr && is_text(now->text()) && dtype != now->text();
  lowered.characters = reading.noted() && (renamed || (now != nullptr && now->text() == ">S1"));
}

/// Moves the node's document into the result, unless it was read again.
Result<Lowered> lower(const Reading& reading, StoredNode& node, const std::optional<ArrayNote>& note) {
  const NodeLocation& location = reading.location;
  Lowered lowered;
  lowered.characters = note && note->characters;
  lowered.no_fill = note && note->no_fill;
  if (Json* const stored = node.document.find(zarr2::kArray);
      stored != nullptr && node.part(zarr2::kArray) != nullptr) {
    if (const Json* fill = stored->find("fill_value")) lowered.no_fill = fill->is_null();
    if (reading.by_netcdf()) {
      repair(reading, *stored, lowered);
    } else if (lacks_separator(*stored)) {
      // The location of the chunks is determined by looking at the store.
      SHERD_TRY(found, location.format->open(*location.store, node.path, location.config.limits));
      if (!found || !found->array) return corrupt("the array no longer exists");
      return Lowered{.document = *std::move(found), .no_fill = lowered.no_fill, .looked = true};
    }
  }
  auto document = location.format->lower(std::exchange(node.document, Json()), location.config.limits);
  if (!document) return stored_error(std::move(document).error());
  if (!document->array) return corrupt("not an array");
  lowered.document = *std::move(document);
  lowered.document.versions = node.versions;
  if (node.versions.empty() && !location.writable)  // of consolidated metadata
    lowered.document.versions.push_back({location.format->document_key(node.path, NodeType::array), {}});
  return lowered;
}

struct ChunkedArray {
  LazyArray array;
  Shape chunks = {};
  std::optional<Shape> shards = {};
};

/// An array for reading is not made yet if one like it was: then it has the same chunks, and no errors.
Result<ChunkedArray> open_array(const Reading& reading, const StoredNode& node, Lowered lowered) {
  NodeDocument& document = lowered.document;
  const bool may_wait = !reading.location.writable && !lowered.looked;
  const auto is_like = [&](const OpenedArray& each) { return each.spec.stores_like(*document.array); };
  if (const auto like = may_wait ? reading.opened->find(is_like) : nullptr)
    return ChunkedArray{
        LazyArray(reading.shared_location, node.path, std::move(document.document), std::move(document.versions)),
        like->array.chunks(), like->array.shards()};
  NodeLocation location = variable_location(at_path(reading.location, node.path), reading.mode, document);
  const std::optional<ArraySpec> spec = may_wait ? document.array : std::nullopt;
  SHERD_TRY(made, make_node(std::move(location), std::move(document)));
  const Array* array = std::get_if<Array>(&made);
  if (array == nullptr) return corrupt("not an array");
  if (spec) reading.opened->add({*spec, *array});
  return ChunkedArray{LazyArray(*array), array->chunks(), array->shards()};
}

/// Without the prefix of numcodecs.
std::string_view name_of(const Json& codec) {
  constexpr std::string_view kPrefix = "numcodecs.";
  const Json* found = codec.find("name");
  std::string_view name = found != nullptr ? std::string_view(found->text()) : std::string_view();
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return name;
}

void describe_codecs(const Json& codecs, Storage& storage) {
  for (const Json& codec : codecs.elements()) {
    const std::string_view name = name_of(codec);
    const Json* configuration = codec.find("configuration");
    const Json* level = configuration != nullptr ? configuration->find("level") : nullptr;
    if (name == "zlib" || name == "gzip")
      storage.deflate_level = level != nullptr ? static_cast<int>(level->as_int().value_or(1)) : 1;
    if (name == "shuffle") storage.shuffle = true;
    if (name == "fletcher32") storage.fletcher32 = true;
    const Json* endian = configuration != nullptr ? configuration->find("endian") : nullptr;
    if (name == "bytes" && endian != nullptr) storage.big_endian = endian->text() == "big";
    const Json* inner = configuration != nullptr ? configuration->find("codecs") : nullptr;
    if (name == "sharding_indexed" && inner != nullptr) describe_codecs(*inner, storage);
  }
}

/// CF's units for counts of a NumPy unit.
std::optional<std::string> cf_units(const DType& dtype) {
  constexpr std::pair<std::string_view, std::string_view> units[] = {
      {"W", "weeks"},         {"D", "days"},          {"h", "hours"},        {"m", "minutes"}, {"s", "seconds"},
      {"ms", "milliseconds"}, {"us", "microseconds"}, {"ns", "nanoseconds"}, {"M", "months"},  {"Y", "years"}};
  for (const auto& [unit, name] : units)
    if (unit == dtype.unit() && dtype.scale_factor() == 1)
      return std::string(name) + (dtype.kind() == DType::Kind::datetime64 ? " since 1970-01-01" : "");
  return std::nullopt;
}

bool is_time(const DType& dtype) {
  return dtype.kind() == DType::Kind::datetime64 || dtype.kind() == DType::Kind::timedelta64;
}

/// Makes int64 a time for readers of CF. NaT is the smallest number, and `_FillValue` marks it as missing.
void describe_time(const DType& dtype, std::vector<Attribute>& attributes) {
  const auto add = [&](std::string_view name, Values values) {
    if (find_values(attributes, name) == nullptr) attributes.push_back({std::string(name), std::move(values)});
  };
  add(kFillValue, std::vector{std::numeric_limits<std::int64_t>::min()});
  add("units", cf_units(dtype).value_or(""));
}

Result<void> check_supported(const DType& dtype) {
  if (is_time(dtype)) {
    if (cf_units(dtype)) return {};
    if (dtype.unit() == "generic") return unsupported("its elements are " + dtype.name() + " without a unit of time");
    const std::string step = std::to_string(dtype.scale_factor()) + std::string(dtype.unit());
    return unsupported("its elements are " + dtype.name() + " in steps of " + step +
                       ", a unit that netCDF does not have; store them in one from nanoseconds to weeks");
  }
  if (variable_type(dtype, false)) return {};
  return unsupported("netCDF has no type for elements of the type " + dtype.name());
}

/// `_FillValue` of a variable as xarray stores it in Zarr v3: a float as the base64 of a double, and a character, in an
/// array of uint8, as a number.
std::optional<Values> encoded_fill(const Json& json, Type type, bool is_v3) {
  if (type == Type::character) {
    if (!is_v3 && json.is_string() && json.text().empty()) return Values(std::string(1, '\0'));
    const auto code = is_v3 ? json.as_uint() : std::nullopt;
    if (!code || *code > 0xFF) return std::nullopt;
    return Values(std::string(1, static_cast<char>(*code)));
  }
  const auto value = float_of_xarray(json);
  if (value && type == Type::float32) return Values(std::vector{static_cast<float>(*value)});
  if (value && type == Type::float64) return Values(std::vector{*value});
  return std::nullopt;
}

Values values_of(const Json& json, const std::string* noted, std::optional<Type> fill, std::string_view name,
                 const StoredNode& node, Warnings& warnings) {
  auto type = noted != nullptr ? attribute_type(*noted) : std::nullopt;
  if (fill && name == kFillValue) {
    if (auto values = encoded_fill(json, *fill, node.part(zarr2::kArray) == nullptr)) return *std::move(values);
    if (!type) type = fill;
  }
  if (type) {
    auto values = values_of_type(json, *type);
    if (values) return *std::move(values);
    warn(warnings, node,
         "the attribute '" + std::string(name.substr(0, 80)) +
             "' does not have the type that the metadata record for it: " + values.error().message());
  } else if (noted != nullptr && *noted != "|J0") {
    warn(warnings, node,
         "the attribute '" + std::string(name.substr(0, 80)) + "' has the unknown type '" + noted->substr(0, 40) + "'");
  }
  return inferred_values(json);
}

/// `_FillValue` of a string in Zarr v3 is the fill value of its array, not an attribute. An empty one, the default of
/// arrays, counts only if its type is noted; it has the position of its type among the others.
void add_text_fill(const StoredNode& node, const AttributeNotes& notes, std::vector<Attribute>& attributes) {
  const Json *type = node.document.find("data_type"), *text = node.document.find("fill_value");
  const bool has_text = type != nullptr && type->text() == "string" && text != nullptr && text->is_string();
  const bool noted = notes.type_of(kFillValue) != nullptr;
  if (!has_text || (text->text().empty() && !noted) || find_values(attributes, kFillValue) != nullptr) return;
  auto before = attributes.begin();
  if (noted)
    for (const auto& [name, each] : notes.stored->members()) {
      if (name == kFillValue) break;
      if (before != attributes.end() && before->name == name) ++before;
    }
  attributes.insert(before, {std::string(kFillValue), std::vector{text->text()}});
}

/// In Zarr v2 xarray writes no attribute `_FillValue`: elements equal to the fill value of the array, if it has
/// one, are missing. Fill values of other writers, whose arrays have no `_ARRAY_DIMENSIONS`, do not have this
/// meaning. Nullopt if the array has none, or the attribute exists.
std::optional<Json> fill_of_xarray(const Reading& reading, const StoredNode& node,
                                   const std::vector<Attribute>& attributes) {
  const Json* array = reading.by_netcdf() ? nullptr : node.part(zarr2::kArray);
  const Json* fill = array != nullptr ? array->find("fill_value") : nullptr;
  if (fill == nullptr || fill->is_null() || node.attributes().find(kNamesAttribute) == nullptr ||
      find_values(attributes, kFillValue) != nullptr)
    return std::nullopt;
  return *fill;
}

/// `stored`: the fill value in the document of the array.
void add_fill(const Json& stored, const ArraySpec& array, Type type, std::vector<Attribute>& attributes) {
  const auto bytes = array.fill_value.bytes();
  std::optional<Values> fill = number_of(type, bytes);
  if (type == Type::string && array.dtype.kind() == DType::Kind::null_terminated_bytes) {
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    fill = Values(std::vector{std::string(text, strnlen(text, bytes.size()))});
  } else if (type == Type::string && stored.is_string()) {
    fill = Values(std::vector{stored.text()});
  }
  const bool is_text = type == Type::string || type == Type::character;
  if (!fill && !is_text)  // elements that netCDF shows in a wider type
    if (auto wider = values_of_type(stored, type)) fill = *std::move(wider);
  if (fill) attributes.push_back({std::string(kFillValue), *std::move(fill)});
}

}  // namespace

NodeLocation variable_location(NodeLocation location, const Mode& mode, const NodeDocument& node) {
  if (!location.writable || location.format->name() != "zarr2") return location;
  const auto is_big_endian = [](const CodecSpec& spec) {
    const Json* endian = spec.name == "bytes" ? spec.configuration.find("endian") : nullptr;
    return endian != nullptr && endian->text() == "big";
  };
  const auto fill = node.array->fill_value.bytes();
  const bool is_swapped = !mode.pure && std::ranges::any_of(node.array->codecs, is_big_endian) &&
                          !std::ranges::equal(fill, fill | std::views::reverse);
  const Json* array = node.document.find(zarr2::kArray);
  const Json* stored = array != nullptr ? array->find("fill_value") : nullptr;
  const bool is_undefined = stored != nullptr && stored->is_null();
  location.config.write_empty_chunks = location.config.write_empty_chunks || is_swapped || is_undefined;
  return location;
}

void describe_codecs(const Array& array, Storage& storage) {
  storage.codecs = array.codecs();
  describe_codecs(storage.codecs, storage);
}

std::vector<Attribute> attributes_of(const Reading& reading, const StoredNode& node, std::optional<Type> fill,
                                     Warnings& warnings) {
  const AttributeNotes notes = reading.noted() ? attribute_notes(node) : AttributeNotes();
  std::vector<Attribute> attributes;
  for (const auto& [name, json] : node.attributes().members())
    if (!is_hidden_attribute(name))
      cut_final_nuls(
          attributes.emplace_back(Attribute{name, values_of(json, notes.type_of(name), fill, name, node, warnings)}));
  if (fill == Type::string) add_text_fill(node, notes, attributes);
  return attributes;
}

Result<MadeVariable> make_variable(const Reading& reading, StoredNode& node, const std::optional<ArrayNote>& note,
                                   Warnings& warnings, std::vector<Array>& others) {
  SHERD_TRY(lowered, lower(reading, node, note));
  const ArraySpec& spec = *lowered.document.array;
  const DType dtype = spec.dtype;
  const auto supported = check_supported(dtype);
  std::vector<Attribute> attributes;
  std::optional<Type> type;
  if (supported) {
    type = variable_type(dtype, lowered.characters);
    // The node has its document while its attributes are read; afterwards the array has it.
    const bool taken = node.document.is_null();
    if (taken) std::swap(node.document, lowered.document.document);
    attributes = attributes_of(reading, node, type, warnings);
    const std::optional<Json> fill = fill_of_xarray(reading, node, attributes);
    if (taken) std::swap(node.document, lowered.document.document);
    if (fill && !is_time(dtype)) add_fill(*fill, spec, *type, attributes);
  }
  if (is_time(dtype) && supported) describe_time(dtype, attributes);
  MadeVariable made{.shape = spec.shape, .dimension_names = spec.dimension_names};
  Storage storage;
  storage.no_fill = lowered.no_fill && type != Type::string;  // strings always have a fill value in netCDF
  const bool reinterpreted = lowered.reinterpreted;
  SHERD_TRY(opened, open_array(reading, node, std::move(lowered)));
  if (!supported) {
    others.push_back(*opened.array);
    return supported.error();
  }
  const bool scalar = made.shape.empty() || (note && note->scalar && made.shape == Shape{1});
  if (!scalar) storage.chunks = std::move(opened.chunks);
  storage.shards = std::move(opened.shards);
  made.state.reset(new Variable::State{.name = node.name,
                                       .group = {},
                                       .type = *type,
                                       .dimensions = {},
                                       .attributes = std::move(attributes),
                                       .storage = std::move(storage),
                                       .scalar = scalar,
                                       .reinterpreted = reinterpreted,
                                       .array = std::move(opened.array)});
  return made;
}

}  // namespace sherd::netcdf
