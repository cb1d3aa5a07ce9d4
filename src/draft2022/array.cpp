// Converts the members of the draft's array documents to the engine's form: chunk_memory_layout "F" is a transpose,
// byte orders of types belong to the codec `bytes`, and a compressor's URI is a codec. Each `indexed` sharding
// transformer is one level of sharding_indexed without a checksum: the first of the list is nearest to the array, so
// its shards are the innermost, and the last one's are the stored objects.
// Also reads `codecs`, with which later texts of the draft replaced `compressor`, and the filters that zarr-python
// hides in the attributes.
#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/chain.hpp"
#include "draft2022/format.hpp"
#include "format/numcodecs.hpp"
#include "format/zarr_common.hpp"
#include "node/extension.hpp"

namespace sherd::draft2022 {

namespace {

constexpr std::string_view seed_uri_with_dash =
    "https://purl.org/zarr/spec/extensions/storage-transformers/sharding/1.0";
constexpr std::string_view uri_with_dash = "https://purl.org/zarr/spec/storage-transformers/sharding/1.0";

std::string at(std::size_t index) { return "[" + std::to_string(index) + "]"; }

Result<const Json*> required(const Json& document, std::string_view member) {
  const Json* value = document.find(member);
  if (value == nullptr) return invalid_argument("missing; every array document must have it").in_member(member);
  return value;
}

Result<void> only_members(const Json& object, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return wrong_value(object, "an object");
  for (const auto& [key, value] : object.members()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) return unsupported("unknown member").in_member(key);
  }
  return {};
}

struct Grid {
  Shape chunk;
  KeyEncoding keys;
};

Result<Grid> parse_grid(const Json& json, const ArraySpec& array, const Limits& limits) {
  SHERD_TRY(only_members(json, {"type", "chunk_shape", "separator"}));
  const Json* type = json.find("type");
  if (type == nullptr || type->text() != "regular")
    return unsupported("only the grid \"regular\" is known").in_member("type");
  const Json* lengths = json.find("chunk_shape");
  if (lengths == nullptr) return invalid_argument("missing").in_member("chunk_shape");
  Grid grid{.chunk = {}, .keys = {.kind = KeyEncoding::Kind::joined}};
  SHERD_TRY(chunk, parse_lengths(*lengths, 1, limits).in_member("chunk_shape"));
  SHERD_TRY(check_rank(chunk.size(), array.shape.size(), "lengths").in_member("chunk_shape"));
  SHERD_TRY(check_bytes(chunk, array.dtype).in_member("chunk_shape"));
  grid.chunk = std::move(chunk);
  const Json* separator = json.find("separator");
  if (separator == nullptr) return grid;
  if (!separator->is_string() || (separator->text() != "/" && separator->text() != "."))
    return wrong_value(*separator, "\"/\" or \".\"").in_member("separator");
  grid.keys.separator = separator->text().front();
  return grid;
}

/// "gzip" of "https://purl.org/zarr/spec/codec/gzip/1.0".
std::string_view codec_name(std::string_view uri) {
  std::string_view rest = without_scheme(uri);
  for (const std::string_view begin : {"purl.org/zarr/spec/codec/", "purl.org/zarr/spec/codecs/"}) {
    if (!rest.starts_with(begin)) continue;
    rest.remove_prefix(begin.size());
    const std::size_t slash = rest.find('/');
    return slash != rest.npos && rest.substr(slash).starts_with("/1.") ? rest.substr(0, slash) : std::string_view();
  }
  return {};
}

Result<CodecSpec> parse_compressor(const Json& json, const DType& dtype, CodecTable table) {
  SHERD_TRY(only_members(json, {"codec", "type", "configuration"}));
  const Json* uri = json.find("codec") != nullptr ? json.find("codec") : json.find("type");
  if (uri == nullptr || !uri->is_string()) return invalid_argument("must be the URI of a codec").in_member("codec");
  const std::string_view name = codec_name(uri->text());
  if (!is_compressor(name, table))
    return unsupported("'" + uri->text() + "' is not a known codec (gzip, zlib, blosc, bz2, lz4, lzma, zstd below " +
                       std::string(codec_uri) + ")")
        .in_member("codec");
  const Json* configuration = json.find("configuration");
  if (configuration == nullptr) return numcodecs_codec(name, Json(Json::Object{}), dtype);
  if (!configuration->is_object()) return wrong_value(*configuration, "an object").in_member("configuration");
  return numcodecs_codec(name, *configuration, dtype);
}

Result<std::vector<CodecSpec>> parse_compressors(const Json& document, const DType& dtype, CodecTable table) {
  const Json* compressor = document.find("compressor");
  const Json* codecs = document.find("codecs");
  std::vector<CodecSpec> specs;
  if (compressor != nullptr && codecs != nullptr)
    return invalid_argument("cannot be combined with 'compressor'").in_member("codecs");
  if (compressor != nullptr && !compressor->is_null()) {
    SHERD_TRY(spec, parse_compressor(*compressor, dtype, table).in_member("compressor"));
    specs.push_back(std::move(spec));
  }
  if (codecs == nullptr) return specs;
  if (!codecs->is_array()) return wrong_value(*codecs, "a list").in_member("codecs");
  for (std::size_t i = 0; i < codecs->size(); ++i) {
    SHERD_TRY(spec, parse_compressor(codecs->elements()[i], dtype, table).in_member("codecs" + at(i)));
    specs.push_back(std::move(spec));
  }
  return specs;
}

std::vector<CodecSpec> parse_filters(const Json* list, const DType& dtype) {
  std::vector<CodecSpec> filters;
  if (list == nullptr) return filters;
  for (Json configuration : list->elements()) {
    const std::string id = configuration.find("id")->text();
    configuration.erase("id");
    filters.push_back(numcodecs_codec(id, configuration, dtype));
  }
  return filters;
}

Result<std::vector<CodecSpec>> parse_chain(const Json& document, const ElementType& type, std::size_t rank,
                                           CodecTable table) {
  SHERD_TRY(layout, required(document, "chunk_memory_layout"));
  if (!layout->is_string() || (layout->text() != "C" && layout->text() != "F"))
    return wrong_value(*layout, "\"C\" or \"F\"").in_member("chunk_memory_layout");
  SHERD_TRY(compressors, parse_compressors(document, type.dtype, table));
  auto chain = numcodecs_chain({type, rank, layout->text() == "F"}, parse_filters(hidden_filters(document), type.dtype),
                               std::move(compressors), table);
  if (!chain && chain.error().member().starts_with("filters")) return std::move(chain).in_member("attributes");
  return chain;
}

/// nullopt if this is the sharding transformer; otherwise why its chunks cannot be accessed.
std::optional<Error> unknown_transformer(const Json& json) {
  const Json* uri = json.find("extension");
  const Json* type = json.find("type");
  const auto refuse = [](const std::string& what) {
    return unsupported(what + ", so the array's chunks cannot be read or written");
  };
  const std::string_view name = uri != nullptr ? without_scheme(uri->text()) : std::string_view();
  const std::string_view known[] = {zarr_python_uri, uri_with_dash, seed_uri, seed_uri_with_dash};
  if (std::none_of(std::begin(known), std::end(known), [&](auto each) { return without_scheme(each) == name; }))
    return refuse("'" + (uri != nullptr ? uri->text() : std::string()) + "' is not a known storage transformer")
        .in_member("extension");
  if (type == nullptr || type->text() != "indexed")
    return refuse("only shards of the type \"indexed\" are known").in_member("type");
  for (const auto& [key, value] : json.members()) {
    if (key != "extension" && key != "type" && key != "configuration")
      return refuse("unknown member of a storage transformer").in_member(key);
  }
  const Json* configuration = json.find("configuration");
  if (configuration == nullptr) return std::nullopt;
  for (const auto& [key, value] : configuration->members()) {
    if (key != "chunks_per_shard") return refuse("unknown member").in_member(key).in_member("configuration");
  }
  return std::nullopt;
}

// zarr-python treats an integer as a list of one, and pads short lists with ones; without dimensions it writes [1].
Result<Shape> parse_chunks_per_shard(const Json& transformer, const Limits& limits, ArraySpec& array) {
  const std::size_t rank = array.shape.size();
  const Json* configuration = transformer.find("configuration");
  const Json* value = configuration != nullptr ? configuration->find("chunks_per_shard") : nullptr;
  if (value == nullptr) return invalid_argument("missing");
  SHERD_TRY(counts, parse_lengths(value->is_number() ? Json(Json::Array{*value}) : *value, 1, limits));
  if (rank == 0 && counts == Shape{1}) counts.clear();
  if (counts.size() > rank) return check_rank(counts.size(), rank, "numbers").error();
  if (counts.size() < rank) {
    array.remarks.push_back("'chunks_per_shard' has " + std::to_string(counts.size()) + " of " + std::to_string(rank) +
                            " numbers; the missing ones are taken for 1, as zarr-python does");
    counts.resize(rank, 1);
  }
  return counts;
}

CodecSpec shard_of(const Shape& chunk, std::span<const CodecSpec> codecs) {
  return {std::string(sharding_name), Json::Object{{"chunk_shape", Json::numbers(chunk)},
                                                   {"codecs", codec_list_json(codecs)},
                                                   {"index_codecs", index_codecs()},
                                                   {"index_location", "end"}}};
}

/// Puts shards around the chunks; `stored` becomes the shape of the stored objects.
Result<void> add_shards(const Json& list, const Limits& limits, ArraySpec& array, Shape& stored) {
  if (!list.is_array()) return wrong_value(list, "a list");
  if (list.size() > limits.shard_nesting)
    return unsupported(std::to_string(list.size()) + " storage transformers are more than the limit shard_nesting = " +
                       std::to_string(limits.shard_nesting));
  array.keys.bare = std::all_of(list.elements().begin(), list.elements().end(), is_seed_uri);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json& transformer = list.elements()[i];
    if (!transformer.is_object()) return wrong_value(transformer, "an object").in_member(at(i));
    if (auto unknown = unknown_transformer(transformer)) {
      array.no_access = std::move(*unknown).in_member("storage_transformers" + at(i));
      return {};
    }
    SHERD_TRY(counts, parse_chunks_per_shard(transformer, limits, array)
                          .in_member("chunks_per_shard")
                          .in_member("configuration")
                          .in_member(at(i)));
    array.codecs = {shard_of(stored, array.codecs)};
    for (std::size_t d = 0; d < stored.size(); ++d) {
      const auto length = checked_mul(stored[d], counts[d]);
      if (!length) return unsupported("a shard has more than 2^63-1 elements").in_member(at(i));
      stored[d] = *length;
    }
    SHERD_TRY(check_bytes(stored, array.dtype).in_member(at(i)));
  }
  return {};
}

}  // namespace

bool is_seed_uri(const Json& transformer) {
  const Json* uri = transformer.find("extension");
  return uri != nullptr && without_scheme(uri->text()).starts_with("purl.org/zarr/spec/extensions/");
}

Json index_codecs() {
  const CodecSpec index = bytes_spec({DType::uint64});
  return codec_list_json(std::span(&index, 1));
}

const Json* hidden_filters(const Json& document) {
  const Json* attributes = document.find("attributes");
  const Json* filters = attributes != nullptr ? attributes->find("filters") : nullptr;
  if (filters == nullptr || !filters->is_array() || filters->size() == 0) return nullptr;
  const bool named = std::all_of(filters->elements().begin(), filters->elements().end(), [](const Json& filter) {
    return filter.find("id") != nullptr && filter.find("id")->is_string();
  });
  return named ? filters : nullptr;
}

Result<ArraySpec> parse_array(const Json& document, const Limits& limits, CodecTable codecs) {
  SHERD_TRY(check_members(
      document, {"shape", "data_type", "chunk_grid", "chunk_memory_layout", "compressor", "codecs", "fill_value",
                 "extensions", "attributes", "storage_transformers", "dimension_separator"}));
  SHERD_TRY(parse_attributes(document));
  SHERD_TRY(shape, required(document, "shape"));
  SHERD_TRY(dtype, required(document, "data_type"));
  SHERD_TRY(grid, required(document, "chunk_grid"));
  SHERD_TRY(fill, required(document, "fill_value"));

  ArraySpec spec;
  SHERD_TRY(lengths, parse_lengths(*shape, 0, limits).in_member("shape"));
  spec.shape = std::move(lengths);
  SHERD_TRY(type, parse_type(*dtype).in_member("data_type"));
  if (type.is_fallback)
    spec.remarks.emplace_back("'data_type' is not known; its fallback " + type.dtype.name() + " is used instead");
  const Json* filters = hidden_filters(document);
  if (type.dtype.is_variable() && filters != nullptr && filters->elements()[0].find("id")->text() == "vlen-bytes")
    type.dtype = DType::bytes;
  spec.dtype = type.dtype;
  SHERD_TRY(check_element(spec.dtype, limits).in_member("data_type"));
  SHERD_TRY(check_bytes(spec.shape, spec.dtype).in_member("shape"));
  SHERD_TRY(chunks, parse_grid(*grid, spec, limits).in_member("chunk_grid"));
  spec.keys = chunks.keys;
  SHERD_TRY(value, parse_fill(*fill, type).in_member("fill_value"));
  spec.fill_value = std::move(value);
  SHERD_TRY(chain, parse_chain(document, type, spec.shape.size(), codecs));
  spec.codecs = std::move(chain);
  if (const Json* list = document.find("storage_transformers"))
    SHERD_TRY(add_shards(*list, limits, spec, chunks.chunk).in_member("storage_transformers"));
  spec.grid = RegularGrid{std::move(chunks.chunk)};
  const Json* attributes = document.find("attributes");
  spec.dimension_names = names_in_attributes(attributes != nullptr ? *attributes : Json(), spec.shape.size());
  return spec;
}

}  // namespace sherd::draft2022
