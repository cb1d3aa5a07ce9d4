// Finding, checking and making the other half of an array in two formats. Each half's document says only that there is
// another; where that stands, the format knows, and whether the two agree is looked at before anything is written:
// documents come from a store, and what is written by one half's word is read by the other's.
#include "array/twin.hpp"

#include <algorithm>

#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

bool is_zero(const Scalar& value) {
  return std::ranges::all_of(value.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

struct Half {
  NodePlace place;
  NodeDocument node;
};

Error no_other_half(const NodePlace& other) {
  return corrupt("'" + std::string(kLayoutMember) +
                 "' says that the same shards are those of another format's array, and there is none; remove that "
                 "member to write this one alone")
      .in_key(other.format ? other.format->probes(other.path).front() : other.path);
}

// The array of that name, or the first member of the group; nullopt where there is none, or one that is not tied.
Result<std::optional<Half>> find_half(const NodePlace& place, const TwinName& name) {
  const auto none = [] { return std::optional<Half>(); };
  Half half{at_path(place, name.path), {}};
  SHERD_TRY(format, format_called(place, name.format));
  half.place.format = std::move(format);
  if (!half.place.format) return none();
  const Limits& limits = place.config.limits;
  SHERD_TRY(found, half.place.format->open(*place.store, half.place.path, limits));
  if (found && !found->array) {
    const auto member = half.place.format->resolution(found->document, 0);
    if (!member || member->empty()) return none();
    half.place.path = join_path(half.place.path, *member);
    SHERD_TRY(array, half.place.format->open(*place.store, half.place.path, limits));
    found = std::move(array);
  }
  if (!found || !found->array) return none();
  half.node = *std::move(found);
  SHERD_TRY(back, half.place.format->twin(half.node, half.place.path));
  if (!back || back->format != place.format->name()) return none();
  return std::optional(std::move(half));
}

Result<Half> open_half(const NodePlace& place, const TwinName& name) {
  SHERD_TRY(half, find_half(place, name));
  if (half) return *std::move(half);
  NodePlace other = at_path(place, name.path);
  SHERD_TRY(format, format_called(place, name.format));
  other.format = std::move(format);
  return no_other_half(other);
}

Result<void> check_agreement(VolumeView& view, const ArraySpec& volume) {
  const auto differs = [](std::string_view what) {
    return invalid_argument("the Zarr array beside it has " + std::string(what));
  };
  if (!volume.ids || volume.ids->scattered) return differs("shards that are boxes of chunks");
  if (volume.no_access || volume.codecs.size() < 2 || volume.codecs[1].name != "bytes")
    return differs("chunks that are raw, or gzip of that");
  if (volume.dtype != view.dtype) return differs("the data type " + view.dtype.name());
  if (volume.shape != view.shape) return differs("the size " + to_string(view.shape) + " (x, y, z, channel)");
  if (volume.ids->chunk_shape != view.chunk_shape)
    return differs("chunks of " + to_string(view.chunk_shape) + " (x, y, z, channel)");
  return view.choose_sharding(volume.ids->sharding.json());
}

Result<Twin> pair_with(const Half& volume, const NodePlace& place, const NodeDocument& node,
                       const ChunkLayout& layout) {
  Twin twin;
  auto view = VolumeView::of(*node.array, layout);
  if (!view) return stored_error(std::move(view).error()).in_key(place.format->probes(place.path).front());
  if (auto agree = check_agreement(*view, *volume.node.array); !agree)
    return stored_error(std::move(agree).error())
        .in_key(volume.place.format->document_key(volume.place.path, NodeType::array));
  SHERD_TRY(index, view->index(place.tables.precomputed_codecs, place.config.limits));
  twin.index = std::move(index);
  const Format& format = *volume.place.format;
  const std::string& path = volume.place.path;
  twin.keys = std::make_shared<const TwinKeys>(TwinKeys{
      *std::move(view), ChunkGrid(*volume.node.array),
      volume.node.array->chunk_prefix.value_or(format.chunk_prefix(path)), format.document_key(path, NodeType::array),
      !is_zero(node.array->fill_value), volume.place.format, path, *volume.node.array, volume.node.generation});
  return twin;
}

// As the earlier info has it where that is still what the shards are, otherwise as they ask for.
Result<void> keep_sharding(VolumeView& view, const Json& info) {
  const Json* scales = info.find("scales");
  const Json* earlier = scales != nullptr ? scales->elements().front().find("sharding") : nullptr;
  if (earlier != nullptr) {
    Json sharding = *earlier;
    sharding.set("data_encoding", view.gzip ? "gzip" : "raw");
    if (view.choose_sharding(sharding)) return {};
  }
  return view.choose_sharding(Json());
}

}  // namespace

Result<std::shared_ptr<const Format>> format_called(const NodePlace& place, std::string_view name) {
  for (const Format* format : place.tables.formats)
    if (format->name() == name) return format->in(*place.store, place.config.limits);
  return std::shared_ptr<const Format>();
}

Result<bool> is_two_formats(const Json& object) {
  const Json* layout = object.find(kLayoutMember);
  if (layout == nullptr) return false;
  if (layout->is_string() && layout->text() == kTwoFormats) return true;
  return unsupported("is a layout that this version does not know; it knows " + std::string(kTwoFormats))
      .in_member(kLayoutMember);
}

Shape TwinKeys::volume_cell(const Shape& cell) const {
  Shape of_volume(view.shape.size(), 0);
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) of_volume[d] = cell[view.dimensions[d]];
  return of_volume;
}

std::optional<Shape> TwinKeys::parse(std::string_view key) const {
  if (!key.starts_with(prefix)) return std::nullopt;
  const auto of_volume = volume.parse_key(key.substr(prefix.size()));
  if (!of_volume) return std::nullopt;
  Shape cell(view.dimensions.size());
  for (std::size_t d = 0; d < cell.size(); ++d) cell[view.dimensions[d]] = (*of_volume)[d];
  return cell;
}

Result<Twin> find_twin(const NodePlace& place, const NodeDocument& node, const ChunkLayout& layout) {
  if (!place.writable) return Twin();
  SHERD_TRY(name, place.format->twin(node, place.path));
  if (!name) return Twin();
  SHERD_TRY(other, open_half(place, *name));
  if (!node.array->ids) return pair_with(other, place, node, layout);
  SHERD_TRY(array, make_array(std::move(other.place), std::move(other.node)));
  return Twin{{}, {}, std::make_shared<const Array>(std::move(array))};
}

Result<std::optional<VolumeHalf>> find_volume_half(const NodePlace& place, const NodeDocument& node) {
  const auto none = [] { return std::optional<VolumeHalf>(); };
  if (!node.array || node.array->ids) return none();
  const auto name = place.format->twin(node, place.path);
  if (!name || !*name) return none();  // also a layout of which nothing is known
  SHERD_TRY(half, find_half(place, **name));
  if (!half) return none();
  NodePlace reading = place;
  reading.writable = false;
  SHERD_TRY(array, make_array(reading, node));
  SHERD_TRY(twin, pair_with(*half, place, node, array.state().layout));
  const Json info = *half->node.document.find("info");
  half->place.path = (*name)->path;
  return std::optional(VolumeHalf{std::move(half->place), info, twin.keys->view.dimensions});
}

Result<void> add_twin(const NodePlace& place, NodeDocument& node, const NewTwin& wanted) {
  const auto fails = [](const std::string& message) {
    return invalid_argument("layout zarr+neuroglancer: " + message);
  };
  if (!wanted.volume.is_null() && !wanted.volume.is_object()) return fails("must be an object").in_member("volume");
  Json attributes = node.attributes;
  Json volume = wanted.volume;
  for (const char* member : {"type", "resolution", "voxel_offset"})
    if (const Json* known = attributes.find(member); known != nullptr && volume.find(member) == nullptr)
      volume.set(member, *known);
  attributes.set(kLayoutMember, kTwoFormats);
  SHERD_TRY(document, place.format->with_attributes(std::move(node.document), attributes));
  SHERD_TRY(marked, place.format->lower(std::move(document), place.config.limits));
  node = std::move(marked);
  SHERD_TRY(name, place.format->twin(node, place.path));
  if (!name) return fails("takes a Zarr v3 array, and this one is " + std::string(place.format->name()));
  if (!is_zero(node.array->fill_value) && !wanted.stores_all)
    return fails(
               "a missing chunk is 0 to Neuroglancer, so the fill value must be 0, or every chunk stored "
               "(write_empty_chunks)")
        .in_member("fill_value");
  NodePlace reading = place;
  reading.writable = false;
  SHERD_TRY(array, make_array(std::move(reading), node));
  SHERD_TRY(view, VolumeView::of(*node.array, array.state().layout));
  const Json* sharding = volume.find("sharding");
  SHERD_TRY(sharding != nullptr ? view.choose_sharding(*sharding) : keep_sharding(view, wanted.info));
  volume.erase("sharding");
  SHERD_TRY(format, format_called(place, name->format));
  SHERD_TRY(info, format->volume_document(view, volume, wanted.info).in_member("volume"));
  node.twin = TwinDocument{std::move(format), std::move(info)};
  return {};
}

// Found out by doing so: no file system tells.
Result<void> check_links(const NodePlace& place, const NodeDocument& node) {
  if (!node.twin) return {};
  Store& store = *place.store;
  const std::string prefix = place.format->chunk_prefix(place.path) + ".sherd-two-names-";
  const std::string first = prefix + "1", second = prefix + "2";
  const auto make = [&]() -> Result<void> {
    SHERD_TRY(writer, store.write(first));
    SHERD_TRY(writer->link(second));
    return writer->commit();
  };
  SHERD_TRY(make());
  SHERD_TRY(store.erase(second));
  SHERD_TRY(store.erase(first));
  return {};
}

Result<void> write_twin(const NodePlace& place, const NodeDocument& node) {
  if (!node.twin) return {};
  NodePlace volume = place;
  volume.format = node.twin->format;
  SHERD_TRY(write_document(volume, NodeType::group, node.twin->document, {}));
  return {};
}

Result<void> refuse_resize(const NodePlace& place, const NodeDocument& node) {
  SHERD_TRY(name, place.format->twin(node, place.path));
  if (!name) return {};
  return unsupported("an array that shares its shards with a volume keeps its shape");
}

Json keep_tie(const Json& present, Json attributes) {
  if (const Json* tie = present.find(kLayoutMember)) attributes.set(kLayoutMember, *tie);
  return attributes;
}

}  // namespace sherd
