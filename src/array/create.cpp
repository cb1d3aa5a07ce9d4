// Interprets CreateOptions: which options exclude each other, which lengths must divide which, short forms of codecs,
// default codecs, and how the chain of a sharded array is built.
#include "array/create.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "codec/chain.hpp"
#include "node/extension.hpp"

namespace sherd {

namespace {

constexpr std::string_view sharding_name = "sharding_indexed";

std::string at(std::string_view member, std::size_t index) {
  return std::string(member) + "[" + std::to_string(index) + "]";
}

/// The shapes of stored objects and, if these are shards, of inner chunks.
struct ChunkShapes {
  Shape stored;
  std::optional<Shape> inner;
};

Result<void> refuse_together(bool both, std::string_view member, std::string_view other) {
  if (!both) return {};
  return invalid_argument("cannot be given together with " + std::string(other)).in_member(member);
}

Result<void> check_exclusive(const CreateOptions& options) {
  const bool shards = !options.shards.empty() || options.auto_shards;
  SHERD_TRY(refuse_together(!options.shards.empty() && options.auto_shards, "shards", "auto_shards"));
  if (options.raw_codecs) {
    SHERD_TRY(refuse_together(options.codecs.has_value(), "raw_codecs", "codecs"));
    SHERD_TRY(refuse_together(shards, "raw_codecs", "shards"));
    SHERD_TRY(refuse_together(options.index_codecs.has_value(), "raw_codecs", "index_codecs"));
    SHERD_TRY(refuse_together(options.index_location != IndexLocation::end, "raw_codecs", "index_location"));
  }
  if (options.chunk_grid) {
    SHERD_TRY(refuse_together(shards, "chunk_grid", "shards"));
    SHERD_TRY(refuse_together(options.raw_codecs && !options.chunks.empty(), "raw_codecs", "chunks"));
  }
  return {};
}

Result<void> check_lengths(const Shape& lengths, std::size_t rank, std::string_view member) {
  SHERD_TRY(check_rank(lengths.size(), rank, "lengths").in_member(member));
  for (std::size_t i = 0; i < rank; ++i) {
    if (lengths[i] == 0) return invalid_argument("must be 1 or more, not 0").in_member(at(member, i));
  }
  return {};
}

Result<ChunkShapes> explicit_shards(const CreateOptions& options) {
  SHERD_TRY(check_lengths(options.shards, options.shape.size(), "shards"));
  if (options.chunks.empty()) {
    const Shape near =
        auto_chunks(options.shards, options.dtype, chunk_bytes_target(options.shards, options.dtype, true));
    return ChunkShapes{options.shards, dividing_chunks(near, options.shards)};
  }
  for (std::size_t i = 0; i < options.shards.size(); ++i) {
    if (options.shards[i] % options.chunks[i] != 0)
      return invalid_argument(std::to_string(options.shards[i]) + " is not a multiple of the chunk length " +
                              std::to_string(options.chunks[i]) + "; every shard holds whole inner chunks")
          .in_member(at("shards", i));
  }
  return ChunkShapes{options.shards, options.chunks};
}

Result<ChunkShapes> chunk_shapes(const CreateOptions& options) {
  const Shape& shape = options.shape;
  if (!options.chunks.empty()) SHERD_TRY(check_lengths(options.chunks, shape.size(), "chunks"));
  if (!options.shards.empty()) return explicit_shards(options);
  const bool sharded = options.auto_shards && !shape.empty();
  const Shape chunks = options.chunks.empty()
                           ? auto_chunks(shape, options.dtype, chunk_bytes_target(shape, options.dtype, sharded))
                           : options.chunks;
  if (!sharded) return ChunkShapes{chunks, std::nullopt};
  return ChunkShapes{auto_shards(shape, options.dtype, chunks), chunks};
}

Result<CodecSpec> short_codec(std::string_view text, const DType& dtype, CodecTable table) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const CodecEntry* entry = find_codec(table, name);
  if (entry == nullptr) return no_such_codec(name, table, ErrorCode::invalid_argument);
  if (entry->reads_only) return only_decodes(entry->name);
  if (entry->short_form == nullptr)
    return invalid_argument("'" + std::string(name) +
                            "' has no short form; write it as a JSON object with a configuration");
  SHERD_TRY(configuration, entry->short_form(colon == text.npos ? "" : text.substr(colon + 1), dtype));
  return CodecSpec{std::string(entry->name), std::move(configuration)};
}

/// The codecs as objects, including those inside shards.
Result<Json> long_forms(Json::Array codecs, const DType& dtype, CodecTable table) {
  for (std::size_t i = 0; i < codecs.size(); ++i) {
    if (codecs[i].is_string()) {
      SHERD_TRY(spec, short_codec(codecs[i].text(), dtype, table).in_member(at("", i)));
      codecs[i] = codec_list_json(std::span(&spec, 1)).elements()[0];
      continue;
    }
    const Json* name = codecs[i].find("name");
    const Json* configuration = codecs[i].find("configuration");
    if (name == nullptr || configuration == nullptr || !name->is_string() || name->text() != sharding_name) continue;
    Json inside = *configuration;
    for (const auto& [member, of] : {std::pair("codecs", dtype), std::pair("index_codecs", DType(DType::uint64))}) {
      const Json* list = inside.find(member);
      if (list == nullptr || !list->is_array()) continue;
      SHERD_TRY(longer, long_forms(list->elements(), of, table).in_member(at("", i) + ".configuration." + member));
      inside.set(member, std::move(longer));
    }
    codecs[i].set("configuration", std::move(inside));
  }
  return Json(std::move(codecs));
}

/// A name that is not a codec's is an invalid argument here. In a stored document it is unsupported.
Result<void> check_names(std::span<const CodecSpec> specs, CodecTable table) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name != sharding_name) {
      if (find_codec(table, specs[i].name) != nullptr) continue;
      return no_such_codec(specs[i].name, table, ErrorCode::invalid_argument).in_member("name").in_member(at("", i));
    }
    for (const std::string_view member : {"codecs", "index_codecs"}) {
      const Json* list = specs[i].configuration.find(member);
      const auto inner = list != nullptr ? parse_codec_list(*list) : std::vector<CodecSpec>();
      if (!inner) continue;  // refused by the codec itself
      SHERD_TRY(check_names(*inner, table).in_member(member).in_member(at("", i) + ".configuration"));
    }
  }
  return {};
}

Result<std::vector<CodecSpec>> listed_codecs(const std::vector<Json>& list, const DType& dtype, CodecTable table) {
  SHERD_TRY(objects, long_forms(list, dtype, table));
  SHERD_TRY(specs, parse_codec_list(objects));
  SHERD_TRY(check_names(specs, table));
  // numcodecs' names have configurations of their own, so only old and bare names are updated.
  for (CodecSpec& spec : specs) {
    const CodecEntry* entry = find_codec(table, spec.name);
    if (entry != nullptr && !spec.name.starts_with("numcodecs.")) spec.name = entry->name;
  }
  return specs;
}

Result<CodecSpec> default_serializer(const DType& dtype, CodecTable table) {
  if (dtype.kind() == DType::Kind::string) return short_codec("vlen-utf8", dtype, table);
  if (dtype.kind() == DType::Kind::bytes) return short_codec("vlen-bytes", dtype, table);
  if (dtype.kind() == DType::Kind::optional) return short_codec("zarrs.optional", dtype, table);
  return short_codec("bytes", dtype, table);
}

/// Adds the default array->bytes codec after the array->array codecs if there is none; `bytes` with this byte order.
Result<void> complete(std::vector<CodecSpec>& specs, const DType& dtype, CodecTable table, bool big_endian = false) {
  const auto has_maker = [table](const CodecSpec& spec, auto maker) {
    const CodecEntry* entry = find_codec(table, spec.name);
    return entry != nullptr && entry->*maker != nullptr;
  };
  const bool complete = std::any_of(specs.begin(), specs.end(), [&](const CodecSpec& spec) {
    return spec.name == sharding_name || has_maker(spec, &CodecEntry::array_bytes_codec);
  });
  if (complete) return {};
  SHERD_TRY(serializer, default_serializer(dtype, table));
  const auto location = std::find_if_not(
      specs.begin(), specs.end(), [&](const CodecSpec& spec) { return has_maker(spec, &CodecEntry::array_codec); });
  // A filter may produce wider elements, and `endian` is allowed for one-byte elements.
  const bool may_widen =
      std::any_of(specs.begin(), location, [](const CodecSpec& spec) { return spec.name != "transpose"; });
  if (may_widen && serializer.name == "bytes" && serializer.configuration.find("endian") == nullptr)
    serializer.configuration = Json::Object{{"endian", "little"}};
  if (big_endian && serializer.configuration.find("endian") != nullptr) serializer.configuration.set("endian", "big");
  specs.insert(location, std::move(serializer));
  return {};
}

/// Adds codecs for the orders that the options request to a chain that lacks them.
Result<void> add_orders(const CreateOptions& options, std::vector<CodecSpec>& specs, CodecTable table) {
  if (options.big_endian) {
    for (const CodecSpec& spec : specs) {
      const CodecEntry* entry = find_codec(table, spec.name);
      if (entry != nullptr && entry->array_bytes_codec != nullptr && entry->name != "bytes")
        return unsupported("'" + spec.name + "' has no big-endian numbers; choose a type in the machine's byte order")
            .in_member("dtype");
    }
    SHERD_TRY(complete(specs, options.dtype, table, true));
  }
  const std::size_t rank = options.shape.size();
  if (!options.fortran_order || rank < 2 || (!specs.empty() && specs.front().name == "transpose")) return {};
  Shape order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = rank - 1 - d;
  specs.insert(specs.begin(), CodecSpec{"transpose", Json::Object{{"order", Json::numbers(order)}}});
  return {};
}

Result<CodecSpec> sharding_codec(const CreateOptions& options, const Shape& inner, std::span<const CodecSpec> chain,
                                 CodecTable table) {
  SHERD_TRY(index, listed_codecs(*options.index_codecs, DType::uint64, table).in_member("index_codecs"));
  SHERD_TRY(complete(index, DType::uint64, table));
  Json configuration;
  configuration.set("chunk_shape", Json::numbers(inner));
  configuration.set("codecs", codec_list_json(chain));
  configuration.set("index_codecs", codec_list_json(index));
  configuration.set("index_location", options.index_location == IndexLocation::start ? "start" : "end");
  return CodecSpec{std::string(sharding_name), std::move(configuration)};
}

/// Removes checksums that no caller has requested from the codecs in this list.
void remove_default_checksums(std::span<const Json> list, std::vector<CodecSpec>& specs) {
  for (std::size_t i = 0; i < specs.size() && i < list.size(); ++i) {
    const Json* given = list[i].find("configuration");
    if (specs[i].name == "zstd" && (given == nullptr || given->find("checksum") == nullptr))
      specs[i].configuration.set("checksum", false);
  }
}

Result<std::vector<CodecSpec>> new_codecs(const CreateOptions& options, const std::optional<Shape>& inner,
                                          CodecTable table, const DefaultCodecs& defaults) {
  if (options.raw_codecs) {
    Json list = *options.raw_codecs;
    if (list.is_array()) {
      SHERD_TRY(objects, long_forms(options.raw_codecs->elements(), options.dtype, table).in_member("raw_codecs"));
      list = std::move(objects);
    }
    SHERD_TRY(specs, parse_codec_list(list).in_member("raw_codecs"));
    SHERD_TRY(check_names(specs, table).in_member("raw_codecs"));
    if (!defaults.has_checksums) remove_default_checksums(options.raw_codecs->elements(), specs);
    if (defaults.has_orders) SHERD_TRY(add_orders(options, specs, table));
    return specs;
  }
  SHERD_TRY(chain, listed_codecs(*options.codecs, options.dtype, table).in_member("codecs"));
  if (!defaults.has_checksums) remove_default_checksums(*options.codecs, chain);
  if (defaults.has_orders) SHERD_TRY(add_orders(options, chain, table));
  SHERD_TRY(complete(chain, options.dtype, table));
  if (!inner) return chain;
  SHERD_TRY(sharding, sharding_codec(options, *inner, chain, table));
  return std::vector<CodecSpec>{std::move(sharding)};
}

Result<void> choose_grid(const CreateOptions& options, ArraySpec& spec, std::optional<Shape>& inner) {
  if (options.chunk_grid) {
    SHERD_TRY(grid, parse_chunk_grid(*options.chunk_grid, spec, options.config.limits).in_member("chunk_grid"));
    spec.grid = std::move(grid);
    if (options.chunks.empty()) return {};
    SHERD_TRY(check_lengths(options.chunks, options.shape.size(), "chunks"));
    inner = options.chunks;
    return {};
  }
  SHERD_TRY(shapes, chunk_shapes(options));
  spec.grid = RegularGrid{std::move(shapes.stored)};
  inner = std::move(shapes.inner);
  return {};
}

}  // namespace

Result<void> check_index_options(const CreateOptions& options) {
  const bool in_shards = !options.shards.empty() || options.auto_shards || options.raw_codecs ||
                         (options.chunk_grid && !options.chunks.empty());
  if (in_shards) return {};
  const char* const member = options.index_codecs                           ? "index_codecs"
                             : options.index_location != IndexLocation::end ? "index_location"
                                                                            : nullptr;
  if (member == nullptr) return {};
  return invalid_argument("applies to the index of shards; set shards too").in_member(member);
}

Result<ArraySpec> new_array_spec(const CreateOptions& options, CodecTable codecs, const DefaultCodecs& defaults) {
  if (options.shape.size() > options.config.limits.dimensions)
    return unsupported(std::to_string(options.shape.size()) + " dimensions are more than the limit dimensions = " +
                       std::to_string(options.config.limits.dimensions))
        .in_member("shape");
  SHERD_TRY(check_exclusive(options));
  SHERD_TRY(check_element(options.dtype, options.config.limits).in_member("dtype"));
  SHERD_TRY(check_bytes(options.shape, options.dtype).in_member("shape"));
  ArraySpec spec;
  spec.shape = options.shape;
  spec.dtype = options.dtype;
  std::optional<Shape> inner;
  SHERD_TRY(choose_grid(options, spec, inner));
  CreateOptions complete = options;
  if (!options.codecs) complete.codecs = defaults.chunks;
  if (!options.index_codecs) complete.index_codecs = defaults.index;
  SHERD_TRY(chain, new_codecs(complete, inner, codecs, defaults));
  spec.codecs = std::move(chain);
  spec.fill_value = default_scalar(options.dtype);
  if (options.fill_value) {
    SHERD_TRY(fill, parse_scalar(*options.fill_value, options.dtype).in_member("fill_value"));
    spec.fill_value = std::move(fill);
  }
  if (options.chunk_key_encoding) {
    SHERD_TRY(keys, parse_key_encoding(*options.chunk_key_encoding).in_member("chunk_key_encoding"));
    spec.keys = keys;
  }
  if (options.dimension_names) {
    SHERD_TRY(check_rank(options.dimension_names->size(), spec.shape.size(), "names").in_member("dimension_names"));
    spec.dimension_names = *options.dimension_names;
  }
  if (options.attributes) {
    if (!options.attributes->is_object()) return wrong_value(*options.attributes, "an object").in_member("attributes");
    spec.attributes = *options.attributes;
  }
  if (options.format_options) {
    if (!options.format_options->is_object())
      return wrong_value(*options.format_options, "an object").in_member("format_options");
    spec.format_options = *options.format_options;
  }
  return spec;
}

}  // namespace sherd
