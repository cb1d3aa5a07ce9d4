// Determines the layout of a copy and what it means for its chunks. Codecs around a shard apply to all of its chunks:
// if the shard is taken apart, they are put around each chunk. Chunks can be moved without decoding if both sides
// divide the array alike and encode the pieces with the same codecs, however they are grouped into objects.
#include <algorithm>
#include <iterator>
#include <numeric>

#include "array/create.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"
#include "copy/planned_copy.hpp"
#include "node/storage_kind.hpp"

namespace sherd {
namespace {

using Codecs = std::vector<CodecSpec>;

Codecs::const_iterator find_shard(const Codecs& codecs) {
  return std::find_if(codecs.begin(), codecs.end(),
                      [](const CodecSpec& spec) { return spec.name == "sharding_indexed"; });
}

Result<Codecs> inner_codecs(const CodecSpec& shard, std::string_view member) {
  const Json* list = shard.configuration.find(member);
  if (list == nullptr) return std::move(corrupt("is missing")).in_member(member);
  return parse_codec_list(*list);
}

// The codecs of the innermost chunks, including those around shards.
Result<Codecs> leaf_codecs(const Codecs& codecs) {
  const auto shard = find_shard(codecs);
  if (shard == codecs.end()) return codecs;
  SHERD_TRY(inner, inner_codecs(*shard, "codecs"));
  SHERD_TRY(leaf, leaf_codecs(inner));
  leaf.insert(leaf.begin(), codecs.begin(), shard);
  leaf.insert(leaf.end(), shard + 1, codecs.end());
  return leaf;
}

// The caller did not request checksums that only the source has.
ArraySpec with_checksums_of(const Format& format, ArraySpec spec) {
  if (format.traits().default_codecs.has_checksums) return spec;
  for (CodecSpec& codec : spec.codecs)
    if (codec.name == "zstd") codec.configuration.set("checksum", false);
  return spec;
}

std::vector<Json> as_list(const Codecs& codecs) {
  const Json list = codec_list_json(codecs);
  return list.elements();
}

struct Changes {
  std::optional<Codecs> leaf;
  std::optional<IndexLocation> location = {};
  std::optional<Json> index = {};
};

// The levels of `codecs` with other innermost codecs, or with indexes that have other codecs or another location.
Result<Codecs> changed_codecs(const Codecs& codecs, const Changes& changes) {
  const auto shard = find_shard(codecs);
  if (shard == codecs.end()) return changes.leaf.value_or(codecs);
  SHERD_TRY(inner, inner_codecs(*shard, "codecs"));
  SHERD_TRY(changed, changed_codecs(inner, changes));
  Codecs result = codecs;
  Json& configuration = result[static_cast<std::size_t>(shard - codecs.begin())].configuration;
  configuration.set("codecs", codec_list_json(changed));
  if (changes.location)
    configuration.set("index_location", *changes.location == IndexLocation::start ? "start" : "end");
  if (changes.index) configuration.set("index_codecs", *changes.index);
  return result;
}

// Rank 0 has the single chunk shape ().
bool has_one_shape(const Array::State& state) { return !state.chunks.empty() || state.grid.axes().empty(); }

IndexLocation source_location(const ChunkLayout& layout) {
  const IndexFormat* index = layout.shard ? layout.shard->slots() : nullptr;
  return index != nullptr ? index->location : IndexLocation::end;
}

Shape picked(const Shape& all, const Cutout* cutout) { return cutout == nullptr ? all : cutout->pick(all); }

// Codecs for other elements, or for fewer dimensions: without orders of dimensions and element
// sizes.
Codecs for_cutout(Codecs leaf, const Cutout* cutout) {
  if (cutout == nullptr || !cutout->changes_chunks()) return leaf;
  std::erase_if(leaf, [](const CodecSpec& codec) { return codec.name == "transpose"; });
  for (CodecSpec& codec : leaf) codec.configuration.erase("typesize");
  return leaf;
}

// The chunks of `spec`, unclipped, in shards as any format has them. Encodings that the destination does not know are
// replaced with its default codecs.
Result<ArraySpec> unclipped(const Array::State& source, ArraySpec spec, const NodeLocation& destination,
                            const Cutout* cutout) {
  const CodecTable table = destination.codecs();
  CreateOptions create{.shape = spec.shape,
                       .dtype = spec.dtype,
                       .chunks = picked(source.chunks, cutout),
                       .shards = picked(source.shards.value_or(Shape()), cutout),
                       .config = destination.config};
  create.auto_shards = source.storage->is_hashed();  // its shards have no shape that the copy's could have
  const bool known = std::all_of(spec.codecs.begin(), spec.codecs.end(),
                                 [&](const CodecSpec& codec) { return find_codec(table, codec.name) != nullptr; });
  if (known) create.codecs = as_list(spec.codecs);
  SHERD_TRY(fresh, new_array_spec(create, table, destination.format->traits().default_codecs));
  spec.grid = std::move(fresh.grid);
  spec.codecs = std::move(fresh.codecs);
  spec.keys = {};
  spec.ids.reset();
  spec.chunk_prefix.reset();
  return spec;
}

Result<CreateOptions> new_layout(const Array::State& source, const ArraySpec& spec, const CopyOptions& options,
                                 const Cutout* cutout) {
  CreateOptions create{.shape = spec.shape, .dtype = spec.dtype, .config = options.config};
  if (!options.chunks && !has_one_shape(source))
    return std::move(invalid_argument("the source's chunks differ in shape; choose the chunk shape of the copy"))
        .in_member("chunks");
  create.chunks = options.chunks.value_or(picked(source.chunks, cutout));
  create.auto_shards = options.auto_shards || (!options.shards && source.storage->is_hashed());
  if (options.shards)
    create.shards = *options.shards;
  else if (!create.auto_shards && source.shards)
    create.shards = picked(*source.shards, cutout);
  else if (!create.auto_shards && source.layout.shard)
    return std::move(invalid_argument("the source's shards differ in shape; choose the shard shape of the copy"))
        .in_member("shards");
  SHERD_TRY(leaf, leaf_codecs(spec.codecs));
  create.codecs = options.codecs.value_or(as_list(for_cutout(std::move(leaf), cutout)));
  const auto shard = find_shard(spec.codecs);
  if (shard == spec.codecs.end()) {
    create.index_location = options.index_location.value_or(IndexLocation::end);
    return create;
  }
  create.index_location = options.index_location.value_or(source_location(source.layout));
  SHERD_TRY(index, inner_codecs(*shard, "index_codecs"));
  create.index_codecs = as_list(index);
  return create;
}

// Present spellings of names, and no distinction between an empty configuration and none.
Codecs canonical(Codecs codecs, CodecTable table) {
  for (CodecSpec& spec : codecs) {
    if (const CodecEntry* entry = find_codec(table, spec.name)) spec.name = entry->name;
    if (spec.configuration.is_null()) spec.configuration = Json(Json::Object{});
  }
  return codecs;
}

bool same_codecs(const Codecs& a, const Codecs& b, CodecTable table) {
  return codec_list_json(canonical(a, table)) == codec_list_json(canonical(b, table));
}

bool same_grid(const ArraySpec& a, const ArraySpec& b) {
  const auto* left = std::get_if<RegularGrid>(&a.grid);
  const auto* right = std::get_if<RegularGrid>(&b.grid);
  if (left != nullptr && right != nullptr) return left->chunk_shape == right->chunk_shape;
  if (left != nullptr || right != nullptr) return false;
  return std::ranges::equal(std::get<RectilinearGrid>(a.grid).axes, std::get<RectilinearGrid>(b.grid).axes,
                            [](const auto& x, const auto& y) { return x.regular == y.regular && x.runs == y.runs; });
}

bool is_opaque(const ChunkLayout& layout) {
  return layout.opaque_shard() || (layout.shard && is_opaque(*layout.shard->inner));
}

}  // namespace

std::vector<CodecSpec> without_checksums(std::vector<CodecSpec> codecs) {
  for (CodecSpec& spec : codecs)
    if (spec.name == "zstd" || spec.name == "numcodecs.zstd") spec.configuration.erase("checksum");
  return codecs;
}

bool is_clipped(const Array::State& state) {
  const ArraySpec spec = *state.document().array;
  const auto* grid = std::get_if<RegularGrid>(&spec.grid);
  return grid != nullptr && grid->clipped;
}

namespace {

Result<ArraySpec> wanted_spec(const Array::State& source, const NodeLocation& destination, const CopyOptions& options,
                              const Cutout* cutout) {
  ArraySpec spec = *source.document().array;
  if (cutout != nullptr) spec = cutout->applied_to(std::move(spec));
  const bool needs_layout =
      cutout != nullptr && (cutout->changes_chunks() || !std::holds_alternative<RegularGrid>(spec.grid));
  const DefaultCodecs& defaults = destination.format->traits().default_codecs;
  const auto& only_index = destination.format->traits().only_index;
  auto location = options.index_location;
  if (only_index && !location) location = IndexLocation::end;
  if (is_clipped(source) && source.location.format->name() != destination.format->name()) {
    SHERD_TRY(whole, unclipped(source, std::move(spec), destination, cutout));
    spec = std::move(whole);
  }
  if (options.chunks || options.shards || options.auto_shards || needs_layout) {
    SHERD_TRY(create, new_layout(source, spec, options, cutout));
    if (only_index) {
      create.index_location = *location;
      create.index_codecs.reset();
    }
    SHERD_TRY(fresh, new_array_spec(create, destination.codecs(), defaults));
    if (options.codecs || needs_layout) complete_codecs(fresh.codecs, destination.codecs(), fresh.dtype);
    spec.grid = std::move(fresh.grid);
    spec.codecs = std::move(fresh.codecs);
    return spec;
  }
  std::optional<Codecs> leaf;
  if (options.codecs) {
    CreateOptions create{.shape = spec.shape, .dtype = spec.dtype, .codecs = options.codecs, .config = options.config};
    SHERD_TRY(fresh, new_array_spec(create, destination.codecs(), defaults));
    complete_codecs(fresh.codecs, destination.codecs(), fresh.dtype);
    leaf = std::move(fresh.codecs);
  }
  SHERD_TRY(codecs, changed_codecs(spec.codecs, {leaf, location, only_index}));
  spec.codecs = std::move(codecs);
  return spec;
}

}  // namespace

Result<std::optional<ArraySpec>> in_c_order(ArraySpec spec) {
  SHERD_TRY(leaf, leaf_codecs(spec.codecs));
  const bool is_within = find_shard(spec.codecs) != spec.codecs.end() && spec.codecs.size() > 1;
  const auto count = std::erase_if(leaf, [](const CodecSpec& codec) { return codec.name == "transpose"; });
  if (count == 0 || is_within) return std::optional<ArraySpec>();
  SHERD_TRY(codecs, changed_codecs(spec.codecs, {leaf}));
  spec.codecs = std::move(codecs);
  return std::optional(std::move(spec));
}

// An order of elements that the destination's format cannot express is replaced.
Result<ArraySpec> copied_spec(const Array::State& source, const NodeLocation& destination, const CopyOptions& options,
                              const Cutout* cutout) {
  SHERD_TRY(spec, wanted_spec(source, destination, options, cutout));
  if (!options.codecs && source.location.format->name() != destination.format->name())
    spec = with_checksums_of(*destination.format, std::move(spec));
  if (options.codecs || !destination.format->arrays_have_documents()) return spec;
  const auto document = destination.format->array_document(spec);
  if (document || document.error().code() != ErrorCode::unsupported) return spec;
  SHERD_TRY(plain, in_c_order(spec));
  return plain && destination.format->array_document(*plain) ? *std::move(plain) : spec;
}

namespace {

// How chunks are converted to bytes, in any order of dimensions: leading transposes as one order of the dimensions
// longer than 1, and the codecs after them.
struct LeafCoding {
  std::vector<std::size_t> order;
  Codecs rest;
};

LeafCoding leaf_coding(const Codecs& leaf, const Array::State& state) {
  const CodecTable table = state.location.codecs();
  LeafCoding coding{{}, canonical(leaf, table)};
  std::vector<std::size_t> order(state.chunks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  while (!coding.rest.empty() && coding.rest.front().name == "transpose") {
    const Json* next = coding.rest.front().configuration.find("order");
    std::vector<std::size_t> composed;
    for (const Json& dimension : next->elements()) composed.push_back(order[*dimension.as_uint()]);
    order = std::move(composed);
    coding.rest.erase(coding.rest.begin());
  }
  std::ranges::copy_if(order, std::back_inserter(coding.order), [&](std::size_t d) { return state.chunks[d] > 1; });
  const CodecChain& chain = state.layout.leaf().chain;
  const auto stored = chain.inner_type(chain.stored_shape(state.chunks));
  for (CodecSpec& codec : coding.rest)
    if (codec.name == "bytes" && stored && stored->dtype.word_size() == 1) codec.configuration = Json(Json::Object{});
  complete_codecs(coding.rest, table, state.dtype);
  return coding;
}

bool same_leaf(const Array::State& source, const Codecs& from, const Array::State& destination, const Codecs& to) {
  LeafCoding left = leaf_coding(from, source), right = leaf_coding(to, destination);
  if (source.location.format->name() != destination.location.format->name()) {
    left.rest = without_checksums(std::move(left.rest));
    right.rest = without_checksums(std::move(right.rest));
  }
  if (left.order != right.order || left.rest.size() != right.rest.size()) return false;
  // A volume's info does not record the gzip level.
  for (std::size_t i = 0; is_clipped(destination) && i < right.rest.size(); ++i)
    if (right.rest[i].name == "gzip" && left.rest[i].name == "gzip") left.rest[i] = right.rest[i];
  return codec_list_json(left.rest) == codec_list_json(right.rest);
}

}  // namespace

CopyWay copy_way(const Array::State& source, const Array::State& destination, CopyWay best) {
  if (best == CopyWay::encoded) return best;
  const ArraySpec from = *source.document().array;
  const ArraySpec to = *destination.document().array;
  const CodecTable table = source.location.codecs();
  const bool alike = same_grid(from, to);
  const bool clipped = is_clipped(source);
  const bool same_ids =
      from.ids.has_value() == to.ids.has_value() && (!from.ids || from.ids->sharding == to.ids->sharding);
  const auto is_dual_format = [](const Array::State& state) {
    const auto counterpart = find_counterpart(state.location, state.document());
    return counterpart && counterpart->has_value();
  };
  const bool same_files = !is_dual_format(source) && !is_dual_format(destination);
  // An object of the source may lack chunks that the copy must store.
  const bool keeps_objects = best == CopyWay::whole && !destination.config().write_empty_chunks;
  if (keeps_objects && alike && same_files && same_ids && clipped == is_clipped(destination) &&
      same_codecs(from.codecs, to.codecs, table))
    return CopyWay::whole;
  // Shards inside shards are made from elements.
  const bool nested = destination.layout.shard && destination.layout.shard->inner->shard;
  if (nested || is_opaque(source.layout) || is_opaque(destination.layout)) return CopyWay::encoded;
  if (!has_one_shape(source) || source.chunks != destination.chunks) return CopyWay::encoded;
  const auto from_leaf = leaf_codecs(from.codecs);
  const auto to_leaf = leaf_codecs(to.codecs);
  const bool same = from_leaf && to_leaf && same_leaf(source, *from_leaf, destination, *to_leaf);
  return same ? CopyWay::moved : CopyWay::encoded;
}

}  // namespace sherd
