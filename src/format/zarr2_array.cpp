// Converts the members of `.zarray` (Zarr v2 specification) to the engine's form: order "F" is a transpose, the byte
// order of `dtype` belongs to the codec `bytes`, filters and compressor are a chain of codecs. Nonstandard values of
// zarr-python, netcdf-c and others are read with a remark.
#include <algorithm>
#include <charconv>

#include "base/base64.hpp"
#include "base/float_format.hpp"
#include "base/try.hpp"
#include "codec/byte_order.hpp"
#include "codec/chain.hpp"
#include "codec/configuration.hpp"
#include "format/numcodecs.hpp"
#include "format/zarr2.hpp"
#include "format/zarr_common.hpp"
#include "node/extension.hpp"

namespace sherd::zarr2 {

namespace {

using Kind = DType::Kind;

std::string at(std::size_t index) { return "[" + std::to_string(index) + "]"; }

Result<const Json*> required(const Json& document, std::string_view member) {
  const Json* value = document.find(member);
  if (value == nullptr) return invalid_argument("missing; every Zarr v2 array must have it").in_member(member);
  return value;
}

/// The number in a text; null for other values.
Json number_of(const Json& json) {
  if (!json.is_string()) return {};
  auto number = Json::number(json.text());
  return number;
}

/// A codec's parameters in numcodecs' form. GDAL writes the distance of xz's delta filter. netcdf-c writes numbers as
/// strings, and 0 for the element size of the array.
Json repaired(Json configuration, std::string_view id, const DType& dtype, std::vector<std::string>& remarks) {
  constexpr std::string_view numbers[] = {"level", "clevel", "shuffle", "blocksize", "elementsize", "acceleration"};
  for (auto& [key, value] : configuration.members()) {
    Json number = std::ranges::find(numbers, key) != std::end(numbers) ? number_of(value) : Json();
    if (!number.is_number()) continue;
    remarks.push_back("'" + key + "' of the codec '" + std::string(id) + "' is a string, as netcdf-c writes it");
    value = std::move(number);
  }
  if (id == "lzma" && configuration.erase("delta"))
    remarks.emplace_back(
        "'delta' of the codec 'lzma' is a member that GDAL writes; each chunk says by itself what it means");
  const Json* size = configuration.find("elementsize");
  if (size == nullptr || size->as_int() != 0) return configuration;
  remarks.push_back("'elementsize' of the codec '" + std::string(id) +
                    "' is 0, by which netcdf-c means the size of an element; zarr-python does not decode such chunks");
  configuration.set("elementsize", element_bytes(dtype));
  return configuration;
}

/// In numcodecs, -1 means zlib's own default.
Json without_default_level(Json configuration) {
  if (const Json* level = configuration.find("level"); level != nullptr && level->as_int() == -1)
    configuration.set("level", 6);
  return configuration;
}

/// What a codec's parameters may depend on. The grid is regular.
struct Encoded {
  const NumpyType& type;
  ArraySpec& array;

  [[nodiscard]] const Shape& chunk_shape() const { return std::get<RegularGrid>(array.grid).chunk_shape; }
};

Result<CodecSpec> parse_codec(const Json& json, const Encoded& encoded) {
  if (!json.is_object()) return wrong_value(json, "an object with the id of a codec");
  const Json* id = json.find("id");
  if (id == nullptr || !id->is_string()) return invalid_argument("must be the id of a codec").in_member("id");
  const std::string name = id->text();
  if (name == "pickle")
    return unsupported("decoding 'pickle' executes code from the stored data, so it is never decoded").in_member("id");
  Json configuration = json;
  configuration.erase("id");
  configuration = repaired(std::move(configuration), name, encoded.type.dtype, encoded.array.remarks);
  if (name == "gzip") configuration = without_default_level(std::move(configuration));
  if (name == "gzip" && configuration.find("level") == nullptr) configuration.set("level", 1);
  if (name == "szip")
    return numcodecs_szip(std::move(configuration), encoded.type, encoded.array.shape, encoded.chunk_shape());
  return numcodecs_codec(name, configuration, encoded.type.dtype);
}

Result<std::vector<CodecSpec>> parse_filters(const Json& list, const Encoded& encoded) {
  std::vector<CodecSpec> filters;
  if (list.is_null()) return filters;
  if (!list.is_array()) return wrong_value(list, "a list of codecs, or null");
  for (std::size_t i = 0; i < list.size(); ++i) {
    SHERD_TRY(filter, parse_codec(list.elements()[i], encoded).in_member(at(i)));
    filters.push_back(std::move(filter));
  }
  return filters;
}

Result<std::vector<CodecSpec>> parse_chain(const Json& document, const NumpyType& type, ArraySpec& array,
                                           CodecTable table) {
  SHERD_TRY(order, required(document, "order"));
  if (!order->is_string() || (order->text() != "C" && order->text() != "F"))
    return wrong_value(*order, "\"C\" or \"F\"").in_member("order");
  SHERD_TRY(compressor, required(document, "compressor"));
  SHERD_TRY(list, required(document, "filters"));
  SHERD_TRY(filters, parse_filters(*list, {type, array}).in_member("filters"));
  std::vector<CodecSpec> compressors;
  if (!compressor->is_null()) {
    SHERD_TRY(codec, parse_codec(*compressor, {type, array}).in_member("compressor"));
    compressors.push_back(std::move(codec));
  }
  const bool fortran = order->text() == "F" && array.shape.size() > 1;
  SHERD_TRY(chain,
            numcodecs_chain({type, array.shape.size(), fortran}, std::move(filters), std::move(compressors), table));
  if (fortran && chain.front().name != "transpose")
    array.remarks.push_back("'order' is \"F\", but '" + chain.front().name +
                            "' stores rows, from which zarr-python makes columns");
  return chain;
}

/// ml_dtypes types that tensorstore writes with their names in Zarr v3. Words are little-endian.
constexpr std::string_view kTensorstoreTypes[] = {"bfloat16",
                                                  "int2",
                                                  "int4",
                                                  "float4_e2m1fn",
                                                  "float8_e3m4",
                                                  "float8_e4m3fn",
                                                  "float8_e4m3fnuz",
                                                  "float8_e4m3b11fnuz",
                                                  "float8_e5m2",
                                                  "float8_e5m2fnuz",
                                                  "float8_e8m0fnu"};

Result<NumpyType> parse_other_name(std::string_view name) {
  if (std::ranges::find(kTensorstoreTypes, name) == std::end(kTensorstoreTypes)) return unknown_numpy_type(name);
  SHERD_TRY(dtype, DType::parse(name));
  return NumpyType{std::move(dtype)};
}
std::string other_name(const DType& dtype) {
  std::string name = dtype.name();
  return std::ranges::find(kTensorstoreTypes, name) == std::end(kTensorstoreTypes) ? std::string() : name;
}

/// The type of objects whose first filter is this one.
DType object_type(const Json& filter) {
  const Json* id = filter.find("id");
  const bool is_bytes = id != nullptr && (id->text() == "vlen-bytes" || id->text() == "vlen-array");
  return is_bytes ? DType::bytes : DType::string;
}

/// Readers derive the type of objects from the codec.
Result<void> check_object_codec(const Json& filter, const DType& dtype) {
  const DType encoded = object_type(filter);
  if (encoded == dtype) return {};
  return invalid_argument(filter.find("id")->text() + ": encodes elements of type " + encoded.name() + ", not " +
                          dtype.name());
}

/// The type of objects is given by their first filter.
Result<NumpyType> parse_type(const Json& document) {
  SHERD_TRY(dtype, required(document, "dtype"));
  SHERD_TRY(type, parse_numpy_type(*dtype, parse_other_name).in_member("dtype"));
  if (!type.dtype.is_variable()) return type;
  const Json* filters = document.find("filters");
  const Json* first = filters != nullptr && !filters->elements().empty() ? &filters->elements()[0] : nullptr;
  if (first == nullptr || first->find("id") == nullptr)
    return invalid_argument("objects need a codec, such as {\"id\": \"vlen-utf8\"}, as the first of the filters")
        .in_member("filters");
  type.dtype = object_type(*first);
  return type;
}

Result<Shape> parse_chunks(const Json& json, ArraySpec& array, const Limits& limits) {
  SHERD_TRY(chunks, parse_lengths(json, 0, limits));
  SHERD_TRY(check_rank(chunks.size(), array.shape.size(), "lengths"));
  for (std::size_t d = 0; d < chunks.size(); ++d) {
    if (chunks[d] > 0) continue;
    if (array.shape[d] > 0) return wrong_value(json.elements()[d], "1 or more").in_member(at(d));
    chunks[d] = 1;
    array.remarks.push_back("'chunks' has a length of 0 along an axis without elements, as zarr-python writes it");
  }
  SHERD_TRY(check_bytes(chunks, array.dtype));
  return chunks;
}

/// Whether a float, or a part of a complex number, is spelled like Zarr v3's NaNs other than "NaN".
bool is_hexadecimal(const Json& fill, const DType& dtype) {
  const auto is_one = [](const Json& part) { return part.is_string() && part.text().starts_with("0x"); };
  if (part_of_complex(dtype.kind())) return std::ranges::any_of(fill.elements(), is_one);
  return float_format(dtype.kind()) && is_one(fill);
}

/// The number in a text, also in Python's spelling; null for other values.
Json fill_in_text(const Json& json, bool is_float) {
  constexpr std::pair<std::string_view, const char*> names[] = {
      {"nan", "NaN"}, {"inf", "Infinity"}, {"-inf", "-Infinity"}};
  for (const auto& [python, name] : names)
    if (is_float && json.is_string() && json.text() == python) return name;
  return number_of(json);
}

Result<Scalar> parse_fill(const Json& json, const NumpyType& type, std::vector<std::string>& remarks) {
  const Kind kind = type.dtype.kind();
  SHERD_TRY(check_bare_fill(json, type.dtype, remarks));
  const auto number = json.is_number() ? json.as_double() : std::nullopt;
  if (kind == Kind::boolean && (number == 0.0 || number == 1.0)) {
    remarks.emplace_back("'fill_value' of a bool is a number");
    return parse_numpy_fill(*number != 0, type);
  }
  const bool integer = type.dtype.word_size() > 0 && kind >= Kind::int8 && kind <= Kind::uint64;
  if (integer && json.is_number() && json.text().ends_with(".0")) {
    remarks.emplace_back("'fill_value' of an integer is written as a float");
    return parse_numpy_fill(Json::number(json.text().substr(0, json.text().size() - 2)), type);
  }
  const bool is_float = float_format(kind).has_value();
  if (const Json in_text = fill_in_text(json, is_float); (integer || is_float) && !in_text.is_null()) {
    remarks.emplace_back("'fill_value' is a number in a text, as zarr-python reads it");
    return parse_numpy_fill(in_text, type);
  }
  if (is_hexadecimal(json, type.dtype))
    remarks.emplace_back("'fill_value' is a number in hexadecimal, which only Zarr v3 has; other readers refuse it");
  if (kind == Kind::raw && json.is_string() && decode_base64(json.text()).value_or("").size() < type.dtype.size())
    remarks.emplace_back("'fill_value' has fewer bytes than an element, which ends with zeros then");
  if ((kind == Kind::null_terminated_bytes || kind == Kind::utf32) && json.as_int() == 0)
    remarks.emplace_back("'fill_value' of texts is the number 0, which zarr-python reads as the text \"0\"");
  if (kind == Kind::null_terminated_bytes && json.is_string() && !decode_base64(json.text()) &&
      json.text().size() <= type.dtype.size()) {
    remarks.emplace_back("'fill_value' is text, as netcdf-c writes it, where base64 is meant");
    return parse_numpy_fill(encode_base64(json.text()), type);
  }
  return parse_numpy_fill(json, type);
}

Result<char> parse_separator(const Json& document) {
  const Json* separator = document.find("dimension_separator");
  if (separator == nullptr || separator->is_null()) return '.';
  if (!separator->is_string() || (separator->text() != "/" && separator->text() != "."))
    return wrong_value(*separator, "\"/\" or \".\"").in_member("dimension_separator");
  return separator->text().front();
}

/// The members that describe how chunks are encoded.
struct Words {
  Json chunks, dtype, fill_value;
  NumcodecsWords codecs;
};

Result<Words> words_of(const ArraySpec& spec, CodecTable table) {
  const auto* grid = std::get_if<RegularGrid>(&spec.grid);
  if (grid == nullptr) return unsupported("Zarr v2 has regular grids only").in_member("chunk_grid");
  for (const CodecSpec& codec : spec.codecs)
    if (codec.name == "sharding_indexed")
      return unsupported(
                 "Zarr v2 has no shards; store chunks instead, in a copy by `--shards none` (Python: shards=())")
          .in_member("shards");
  Words words;
  SHERD_TRY(codecs, numcodecs_words(spec.codecs, spec.dtype, {"Zarr v2", table}));
  words.codecs = std::move(codecs);
  SHERD_TRY(check_byte_orders(words.codecs.mixed, spec.dtype).in_member("codecs"));
  const NumpyType type{spec.dtype, words.codecs.big_endian, words.codecs.mixed};
  if (spec.dtype.is_variable() && !words.codecs.filters.empty())
    SHERD_TRY(check_object_codec(words.codecs.filters.front(), spec.dtype).in_member("codecs"));
  SHERD_TRY(dtype, print_numpy_type(type, other_name).in_member("dtype"));
  words.dtype = std::move(dtype);
  words.fill_value = print_numpy_fill(spec.fill_value, type);
  words.chunks = Json::numbers(grid->chunk_shape);
  return words;
}

Json or_null(std::optional<Json> json) { return json ? *std::move(json) : Json(); }
Json list_or_null(Json::Array list) { return list.empty() ? Json() : Json(std::move(list)); }

}  // namespace

Result<void> check_version(const Json& document) {
  if (!document.is_object()) return invalid_argument("a metadata document must be a JSON object");
  const Json* version = document.find("zarr_format");
  if (version == nullptr || version->as_int() != 2)
    return invalid_argument("must be the number 2").in_member("zarr_format");
  return {};
}

bool lacks_separator(const Json& document) {
  const Json* separator = document.find("dimension_separator");
  return (separator == nullptr || separator->is_null()) && document.find("shape")->size() > 1;
}

Result<ArraySpec> parse_array(const Json& document, const Limits& limits, CodecTable table) {
  SHERD_TRY(check_version(document));
  ArraySpec spec;
  SHERD_TRY(shape, required(document, "shape"));
  SHERD_TRY(lengths, parse_lengths(*shape, 0, limits).in_member("shape"));
  spec.shape = std::move(lengths);
  SHERD_TRY(type, parse_type(document));
  spec.dtype = type.dtype;
  SHERD_TRY(check_element(spec.dtype, limits).in_member("dtype"));
  SHERD_TRY(check_bytes(spec.shape, spec.dtype).in_member("shape"));
  SHERD_TRY(chunks, required(document, "chunks"));
  SHERD_TRY(grid, parse_chunks(*chunks, spec, limits).in_member("chunks"));
  spec.grid = RegularGrid{std::move(grid)};
  SHERD_TRY(separator, parse_separator(document));
  spec.keys = {.kind = KeyEncoding::Kind::v2, .separator = separator};
  SHERD_TRY(chain, parse_chain(document, type, spec, table));
  spec.codecs = std::move(chain);
  SHERD_TRY(fill, required(document, "fill_value"));
  SHERD_TRY(value, parse_fill(*fill, type, spec.remarks).in_member("fill_value"));
  spec.fill_value = std::move(value);
  return spec;
}

std::string stored_member(const Json& document, std::span<const CodecSpec> chain, std::string_view member) {
  constexpr std::string_view first = "codecs[", configuration = ".configuration", name = ".name";
  const std::size_t end = member.find(']');
  std::size_t index = 0;
  if (!member.starts_with(first) || end == member.npos ||
      std::from_chars(member.data() + first.size(), member.data() + end, index).ec != std::errc() ||
      index >= chain.size())
    return "filters";
  const auto is_member = [](const CodecSpec& codec) { return codec.name != "transpose" && codec.name != "bytes"; };
  if (!is_member(chain[index])) return chain[index].name == "bytes" ? "dtype" : "order";
  const auto position = static_cast<std::size_t>(std::ranges::count_if(chain.first(index), is_member));
  const std::string codec =
      position < document.find("filters")->size() ? "filters" + at(position) : std::string("compressor");
  const std::string_view rest = member.substr(end + 1);
  if (rest == name) return codec + ".id";
  return codec + std::string(rest.starts_with(configuration) ? rest.substr(configuration.size()) : rest);
}

Result<Json> print_array(const ArraySpec& spec, CodecTable table) {
  SHERD_TRY(words, words_of(spec, table));
  if (is_hexadecimal(words.fill_value, spec.dtype))
    return unsupported("Zarr v2 has only one NaN, \"NaN\"; its readers cannot read another one, " +
                       words.fill_value.dump())
        .in_member("fill_value");
  Json document;  // in the order of zarr-python
  document.set("chunks", std::move(words.chunks));
  document.set("compressor", or_null(std::move(words.codecs.compressor)));
  document.set("dimension_separator", std::string(1, spec.keys.separator));
  document.set("dtype", std::move(words.dtype));
  document.set("fill_value", std::move(words.fill_value));
  document.set("filters", list_or_null(std::move(words.codecs.filters)));
  document.set("order", words.codecs.fortran ? "F" : "C");
  document.set("shape", Json::numbers(spec.shape));
  document.set("zarr_format", 2);
  return document;
}

Result<Json> with_chunks(Json document, const ArraySpec& spec, CodecTable table) {
  SHERD_TRY(words, words_of(spec, table));
  SHERD_TRY(old, parse_type(document));
  // The name of the type is unchanged unless its byte order changes.
  if (has_byte_order(spec.dtype) && (old.big_endian != words.codecs.big_endian || !(old.mixed == words.codecs.mixed))) {
    document.set("dtype", std::move(words.dtype));
    document.set("fill_value", std::move(words.fill_value));
  }
  document.set("chunks", std::move(words.chunks));
  document.set("compressor", or_null(std::move(words.codecs.compressor)));
  document.set("filters", list_or_null(std::move(words.codecs.filters)));
  document.set("order", words.codecs.fortran ? "F" : "C");
  return document;
}

Json with_shape(Json document, const Shape& shape) {
  document.set("shape", Json::numbers(shape));
  Json* chunks = document.find("chunks");
  for (Json& length : chunks->elements())
    if (length.as_uint() == 0) length = 1;
  return document;
}

}  // namespace sherd::zarr2
