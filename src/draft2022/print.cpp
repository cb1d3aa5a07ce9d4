// Prints an array as a document of the draft, with members in zarr-python's order, and refuses what the draft
// cannot express: codecs around a shard, indexes other than little-endian ones at the end, orders other than C and
// F, dimension names. Codecs after the elements' codec that are not compressors become zarr-python's hidden
// filters.
#include <algorithm>

#include "base/try.hpp"
#include "codec/byte_order.hpp"
#include "codec/chain.hpp"
#include "draft2022/format.hpp"
#include "format/numcodecs.hpp"
#include "format/zarr_common.hpp"
#include "node/extension.hpp"

namespace sherd::draft2022 {

namespace {

Json print_compressor(Json numcodecs) {
  const std::string name = numcodecs.find("id")->text();
  numcodecs.erase("id");
  if (name == "zstd") numcodecs.erase("checksum");  // no release that reads the draft knows it, and frames say it, too
  return Json::Object{{"codec", std::string(codec_uri) + name + "/1.0"}, {"configuration", std::move(numcodecs)}};
}

/// The document's transformers, and the chunks inside them.
struct Stack {
  Json::Array transformers;
  Shape chunk;
  std::vector<CodecSpec> codecs;
};

Result<void> check_index(const Json& configuration) {
  const Json* location = configuration.find("index_location");
  if (location != nullptr && location->text() != "end")
    return unsupported("the draft requires the index at the end of a shard").in_member("index_location");
  const Json* codecs = configuration.find("index_codecs");
  if (codecs == nullptr) return invalid_argument("missing").in_member("index_codecs");
  SHERD_TRY(specs, parse_codec_list(*codecs).in_member("index_codecs"));
  const bool plain = specs.size() == 1 && specs[0].name == "bytes" &&
                     specs[0].configuration.find("endian") != nullptr &&
                     specs[0].configuration.find("endian")->text() == "little";
  if (plain) return {};
  return unsupported("the draft's index is little-endian and has no checksum: only [\"bytes\"]")
      .in_member("index_codecs");
}

Result<Stack> print_shards(const ArraySpec& spec, std::string_view uri) {
  const auto* grid = std::get_if<RegularGrid>(&spec.grid);
  if (grid == nullptr) return unsupported("the draft supports only regular grids").in_member("chunk_grid");
  Stack stack{.transformers = {}, .chunk = grid->chunk_shape, .codecs = spec.codecs};
  while (!stack.codecs.empty() && stack.codecs[0].name == sharding_name) {
    if (stack.codecs.size() > 1)
      return unsupported("the draft does not support codecs around a shard").in_member("codecs");
    const Json configuration = std::move(stack.codecs[0].configuration);
    SHERD_TRY(check_index(configuration));
    const Json* inner = configuration.find("chunk_shape");
    const Json* codecs = configuration.find("codecs");
    if (inner == nullptr || codecs == nullptr || inner->elements().size() != stack.chunk.size())
      return invalid_argument("a shard needs codecs and a chunk_shape of its own rank").in_member("codecs");
    Shape counts;
    for (std::size_t d = 0; d < stack.chunk.size(); ++d) {
      const std::uint64_t length = inner->elements()[d].as_uint().value_or(0);
      if (length == 0 || stack.chunk[d] % length != 0)
        return invalid_argument("must divide the shard").in_member("chunk_shape").in_member("codecs");
      counts.push_back(stack.chunk[d] / length);
      stack.chunk[d] = length;
    }
    if (counts.empty() && uri == zarr_python_uri) counts.push_back(1);
    stack.transformers.insert(
        stack.transformers.begin(),
        Json::Object{{"extension", uri},
                     {"type", "indexed"},
                     {"configuration", Json::Object{{"chunks_per_shard", Json::numbers(counts)}}}});
    SHERD_TRY(next, parse_codec_list(*codecs).in_member("codecs"));
    stack.codecs = std::move(next);
  }
  return stack;
}

Result<std::string_view> wanted_uri(const Json& options) {
  std::string_view uri = zarr_python_uri;
  for (const auto& [key, value] : options.members()) {
    if (key != "uri") return invalid_argument("the only option of the format draft2022 is 'uri'").in_member(key);
    if (value.text() == "seed")
      uri = seed_uri;
    else if (value.text() != "zarr-python")
      return wrong_value(value, "\"zarr-python\" or \"seed\"").in_member(key);
  }
  return uri;
}

Result<Json> print_with_uri(const ArraySpec& spec, std::string_view uri, CodecTable codecs) {
  if (spec.keys.kind == KeyEncoding::Kind::v2)
    return unsupported("the draft's keys begin with 'c'").in_member("chunk_key_encoding");
  SHERD_TRY(names, names_attribute_of(spec).in_member("dimension_names"));
  SHERD_TRY(stack, print_shards(spec, uri));
  SHERD_TRY(chunks, numcodecs_words(stack.codecs, spec.dtype, {"the draft", codecs}));
  SHERD_TRY(check_byte_orders(chunks.mixed, spec.dtype).in_member("codecs"));
  const NumpyType type{spec.dtype, chunks.big_endian, chunks.mixed};
  SHERD_TRY(name, print_type(type).in_member("dtype"));
  Json attributes = spec.attributes.is_null() ? Json(Json::Object{}) : spec.attributes;
  if (!chunks.filters.empty()) attributes.set("filters", std::move(chunks.filters));
  if (names.size() > 0) attributes.set(kNamesAttribute, std::move(names));
  Json document;  // in zarr-python's order
  document.set("attributes", std::move(attributes));
  document.set("chunk_grid", Json::Object{{"chunk_shape", Json::numbers(stack.chunk)},
                                          {"separator", std::string(1, spec.keys.separator)},
                                          {"type", "regular"}});
  document.set("chunk_memory_layout", chunks.fortran ? "F" : "C");
  if (chunks.compressor) document.set("compressor", print_compressor(*std::move(chunks.compressor)));
  document.set("data_type", std::move(name));
  document.set("extensions", Json::Array{});
  document.set("fill_value", print_numpy_fill(spec.fill_value, type));
  document.set("shape", Json::numbers(spec.shape));
  // An empty list also means that the keys are the draft's own.
  if (!stack.transformers.empty() || uri == seed_uri)
    document.set("storage_transformers", std::move(stack.transformers));
  return document;
}

}  // namespace

Result<Json> print_array(const ArraySpec& spec, CodecTable codecs) {
  SHERD_TRY(uri, wanted_uri(spec.format_options).in_member("format_options"));
  return print_with_uri(spec, uri, codecs);
}

Result<Json> with_chunks(Json document, const ArraySpec& spec, CodecTable codecs) {
  const Json* list = document.find("storage_transformers");
  const bool seed = list != nullptr && std::all_of(list->elements().begin(), list->elements().end(), is_seed_uri);
  SHERD_TRY(fresh, print_with_uri(spec, seed ? seed_uri : zarr_python_uri, codecs));
  document.erase("codecs");
  for (const char* member : {"chunk_grid", "chunk_memory_layout", "compressor", "data_type", "storage_transformers"}) {
    if (const Json* value = fresh.find(member))
      document.set(member, *value);
    else
      document.erase(member);
  }
  Json attributes = document.find("attributes") != nullptr ? *document.find("attributes") : Json(Json::Object{});
  if (hidden_filters(document) != nullptr) attributes.erase("filters");
  if (const Json* filters = hidden_filters(fresh)) attributes.set("filters", *filters);
  document.set("attributes", std::move(attributes));
  return document;
}

}  // namespace sherd::draft2022
