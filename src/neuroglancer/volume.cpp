// Volumes as groups of arrays: `info` is the document of the group and of its scales, which are its members. A scale is
// named by its key if that is a valid name, otherwise by its number. Its document here is Sherd's own object, {"info":
// …, "scale": number}; only the info is stored. If the object has "axes", the scale is viewed with another order of
// dimensions, or without the channel if there is one. This does not change what is stored.
#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "format/zarr_common.hpp"
#include "neuroglancer/codecs.hpp"
#include "neuroglancer/collection.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/document.hpp"
#include "neuroglancer/names.hpp"
#include "node/document.hpp"
#include "node/node_location.hpp"
#include "node/path.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

using neuroglancer::kInfo;
using neuroglancer::VolumeInfo;
using neuroglancer::VolumeScale;

/// cloud-volume's record of how a volume was made.
constexpr std::string_view kProvenance = "provenance";

std::string scale_name(const VolumeInfo& info, std::size_t number) {
  const std::string& key = info.scales[number].key;
  return check_node_name(key) && check_key(key) && key != kInfo ? key : "scale" + std::to_string(number);
}

bool is_volume(const Json& info) { return info.is_object() && info.find("scales") != nullptr; }

// ---- a scale as an array ----

using Codecs = std::vector<CodecSpec>;

// The array's dimension for each of x, y, z and channel; the channel may have none.
using AxisOrder = std::vector<std::size_t>;

// The axes of the array as viewed: numbers of x, y, z and channel.
std::vector<std::size_t> seen_axes(const Json* names) {
  if (names == nullptr) return {0, 1, 2, 3};
  std::vector<std::size_t> axes;
  for (const Json& name : names->elements()) axes.push_back(std::string_view("xyzc").find(name.text()));
  return axes;
}

AxisOrder order_of(const std::vector<std::size_t>& axes) {
  AxisOrder order(axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) order[axes[d]] = d;
  return order;
}

template <class Values>
Shape seen(const Values& values, const std::vector<std::size_t>& axes) {
  Shape result;
  for (const std::size_t axis : axes) result.push_back(values[axis]);
  return result;
}

// Encodings expect z, y, x, with the channel before them or, for images, after them.
void add_transpose(Codecs& codecs, const AxisOrder& order, bool channel_last) {
  std::vector<std::uint64_t> stored{order[2], order[1], order[0]};
  if (order.size() == 4) stored.insert(channel_last ? stored.end() : stored.begin(), order[3]);
  if (std::is_sorted(stored.begin(), stored.end())) return;
  codecs.push_back({"transpose", Json::Object{{"order", Json::numbers(stored)}}});
}

Codecs codecs_of(const VolumeScale& scale, const AxisOrder& order, bool gzip) {
  Codecs codecs;
  add_transpose(codecs, order, scale.encoding == "jpeg" || scale.encoding == "png");
  Json configuration{Json::Object{}};
  if (scale.encoding == "compressed_segmentation")
    configuration.set("block_size", Json(Json::Array(scale.block_size->begin(), scale.block_size->end())));
  if (scale.encoding == "jpeg" && scale.jpeg_quality) configuration.set("quality", *scale.jpeg_quality);
  if (scale.encoding == "png" && scale.png_level) configuration.set("level", *scale.png_level);
  if (scale.encoding == "raw") configuration.set("endian", "little");
  codecs.push_back({scale.encoding == "raw" ? "bytes" : scale.encoding, std::move(configuration)});
  if (gzip) codecs.push_back(gzip_spec());
  return codecs;
}

bool is_known_encoding(std::string_view name) {
  return std::ranges::find(neuroglancer::kVolumeEncodings, name) != neuroglancer::kVolumeEncodings.end();
}

// The elements of a box-aligned shard: the ids of its chunks, and no others, have the same bits that choose the shard.
// nullopt if shards are not boxes.
std::optional<Shape> shard_shape(const IdSharding& ids, const CompressedMorton& morton) {
  const Uint64Sharding& sharding = ids.sharding;
  const unsigned low = sharding.preshift_bits + sharding.minishard_bits;
  const bool whole = sharding.shard_bits == 0;
  if (!whole && (sharding.hash != Uint64Sharding::Hash::identity || morton.bits() > low + sharding.shard_bits))
    return std::optional<Shape>();
  Shape box = morton.box(whole ? morton.bits() : low);
  for (std::size_t d = 0; d < box.size(); ++d)
    box[d] = std::min(box[d], std::max<std::uint64_t>(ids.grid[d], 1)) * ids.chunk_shape[d];
  return std::optional(std::move(box));
}

struct ScaleLocation {
  std::size_t number;
  const std::string& volume;  // its path
  const Json* axes;           // as the array is viewed; nullptr: x, y, z, channel
};

Result<ArraySpec> lowered(const VolumeInfo& info, const ScaleLocation& location) {
  const VolumeScale& scale = info.scales[location.number];
  const std::vector<std::size_t> axes = seen_axes(location.axes);
  const AxisOrder order = order_of(axes);
  ArraySpec spec;
  spec.shape = seen(Shape{scale.size[0], scale.size[1], scale.size[2], info.num_channels}, axes);
  spec.dtype = info.data_type;
  spec.fill_value = default_scalar(spec.dtype);
  for (const std::size_t axis : axes)
    spec.dimension_names.emplace_back(axis < 3                   ? std::string(1, "xyz"[axis])
                                      : location.axes != nullptr ? "c"
                                                                 : "channel");
  Shape chunk_shape(scale.chunk_sizes.front().begin(), scale.chunk_sizes.front().end());
  if (order.size() == 4) chunk_shape.push_back(info.num_channels);
  RegularGrid grid{seen(chunk_shape, axes), true};
  bool gzip = false;
  if (scale.sharding.is_null()) {
    spec.keys.kind = KeyEncoding::Kind::ranges;
    spec.keys.offsets.assign(scale.voxel_offset.begin(), scale.voxel_offset.end());
    spec.keys.order = order;
  } else {
    SHERD_TRY(sharding, Uint64Sharding::parse(scale.sharding).in_member("sharding"));
    IdSharding ids{.sharding = sharding, .chunk_shape = chunk_shape, .grid = Shape(order.size()), .order = order};
    for (std::size_t j = 0; j < order.size(); ++j) ids.grid[j] = ceil_div(spec.shape[order[j]], chunk_shape[j]);
    SHERD_TRY(morton, CompressedMorton::of(ids.grid).in_member("size"));
    auto shape = shard_shape(ids, morton);
    ids.hashed = !shape.has_value();
    if (shape) grid.chunk_shape = seen(*shape, axes);
    gzip = sharding.gzip_data;
    spec.ids = std::move(ids);
  }
  spec.grid = std::move(grid);
  const bool known = is_known_encoding(scale.encoding);
  if (!known)
    spec.no_access =
        unsupported("'" + scale.encoding + "' cannot be decoded; raw, jpeg, png and compressed_segmentation can")
            .in_member("encoding");
  spec.codecs = codecs_of(known ? scale : VolumeScale{}, order, gzip);
  const auto directory = neuroglancer::directory_of(location.volume, scale.key);
  if (!directory) spec.no_access = directory.error();
  if (scale.chunk_sizes.size() > 1)
    spec.no_change = unsupported("the chunks of " + std::to_string(scale.chunk_sizes.size()) +
                                 " shapes are kept in one directory, but Sherd writes only one of them")
                         .in_member("chunk_sizes")
                         .in_member("scales[" + std::to_string(location.number) + "]");
  if (auto positive = neuroglancer::check_resolution(scale); !positive)
    spec.remarks.push_back("'resolution' " + std::string(positive.error().message()));
  spec.chunk_prefix = directory && !directory->empty() ? *directory + "/" : "";
  return spec;
}

// Other information for readers of the array, in the info's terms.
Json attributes_of(const VolumeInfo& info, const VolumeScale& scale) {
  Json attributes{Json::Object{}};
  attributes.set("type", info.type == VolumeInfo::Type::image ? "image" : "segmentation");
  attributes.set("resolution", neuroglancer::numbers_json(scale.resolution));
  attributes.set("voxel_offset", Json(Json::Array(scale.voxel_offset.begin(), scale.voxel_offset.end())));
  attributes.set("encoding", scale.encoding);
  if (const Json* channels = info.other.find("channels")) attributes.set("channels", *channels);
  return attributes;
}

Json attributes_of(const VolumeInfo& info) {
  Json attributes{Json::Object{}};
  attributes.set("type", info.type == VolumeInfo::Type::image ? "image" : "segmentation");
  attributes.set("data_type", info.data_type.name());
  attributes.set("num_channels", info.num_channels);
  for (const auto& [name, value] : info.other.members()) attributes.set(name, value);
  return attributes;
}

// ---- the format ----

class Precomputed final : public Format, public MemberDocuments, public Multiscale, public Collections {
 public:
  [[nodiscard]] const FormatTraits& traits() const noexcept override {
    static const FormatTraits all{
        .name = "precomputed", .codecs = precomputed_codecs(), .arrays_have_documents = false};
    return all;
  }
  [[nodiscard]] std::string resolution(const Json& group, std::uint64_t number) const override {
    const auto info = VolumeInfo::parse(*group.find("info"));
    return info && number < info->scales.size() ? scale_name(*info, number) : std::string();
  }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> references(const Json& group) const override {
    std::vector<std::pair<std::string, std::string>> found;
    for (const char* member : {"mesh", "skeletons", "segment_properties"}) {
      const Json* path = group.find("info")->find(member);
      if (path != nullptr && path->is_string() && !path->text().empty()) found.emplace_back(member, path->text());
    }
    return found;
  }
  [[nodiscard]] bool names_chunk(std::string_view name) const noexcept override {
    return neuroglancer::is_chunk_name(name);
  }
  [[nodiscard]] Result<bool> holds_objects(const NodeLocation& location) const override;
  [[nodiscard]] Result<std::optional<std::string>> foreign_object_among(const NodeLocation& location) const override;
  [[nodiscard]] NodeKeys keys(const std::string& path) const override {
    const std::string prefix = prefix_of(path);
    return {.array = join_path(std::string(parent_path(path)), kInfo),
            .group = join_path(path, kInfo),
            .documents = {join_path(path, kInfo)},
            .chunks = prefix,
            .contents = {prefix}};
  }
  [[nodiscard]] std::optional<std::string> member_of(std::string_view object) const override {
    return object == kInfo || object == kProvenance ? std::optional<std::string>("") : std::nullopt;
  }
  [[nodiscard]] std::span<const std::string_view> side_documents() const noexcept override { return {&kProvenance, 1}; }

  Result<std::optional<NodeDocument>> open(Store& store, const std::string& path, const Limits& limits) const override;
  [[nodiscard]] Result<NodeDocument> lower(Json document, const Limits& limits) const override;

  [[nodiscard]] Result<Json> array_document(const ArraySpec&) const override { return made_otherwise(); }
  [[nodiscard]] Result<Json> group_document(const Json&) const override { return made_otherwise(); }
  [[nodiscard]] Result<Json> changed(Json, const NodeChange& change) const override {
    if (change.shape)
      return unsupported(
          "a scale of a volume cannot be resized, because its last chunks end where the scale does; create another "
          "volume");
    if (change.attributes)
      return unsupported("the attributes of a volume are members of its info document, which cannot be changed");
    return made_otherwise();
  }
  [[nodiscard]] std::vector<Document> documents(const std::string& path, const Json& document) const override {
    const NodeKeys all = keys(path);
    return {{document.find("scale") != nullptr ? all.array : all.group, document.find("info")->dump(2)}};
  }
  [[nodiscard]] Result<void> check_name(std::string_view name) const override { return check_node_name(name); }

  Result<std::vector<std::pair<std::string, NodeType>>> members(Store& store, const std::string& path,
                                                                const Limits& limits, const KnownType&) const override;

 private:
  static Error made_otherwise() {
    return unsupported(
        "an array of the format precomputed is a scale of a volume; create the volume (sherd create, "
        "create_precomputed), copy an array into one (sherd copy --to precomputed), or choose another format");
  }
  Result<std::optional<NodeDocument>> open_scale(Store& store, const std::string& path, const Limits& limits) const;
};

Result<NodeDocument> Precomputed::lower(Json document, const Limits&) const {
  return neuroglancer::lower_volume(std::move(document), "");
}

neuroglancer::Collection::State::Location collection_at(const NodeLocation& location) {
  return {.store = location.store, .path = location.path, .codecs = precomputed_codecs(), .config = location.config};
}

// An unreadable document does not belong to any format yet.
Result<bool> Precomputed::holds_objects(const NodeLocation& location) const {
  const auto info = location.store->open(join_path(location.path, kInfo));
  if (!info && !is_stored_fault(info.error())) return info.error();
  if (!info || *info == nullptr) return false;
  const auto found = neuroglancer::Collection::State::find(collection_at(location));
  if (!found && !is_stored_fault(found.error())) return found.error();
  return found && *found;
}

Result<std::optional<std::string>> Precomputed::foreign_object_among(const NodeLocation& location) const {
  return neuroglancer::Collection::State::find_foreign_object(collection_at(location));
}

Result<std::optional<NodeDocument>> Precomputed::open(Store& store, const std::string& path,
                                                      const Limits& limits) const {
  const std::string key = join_path(path, kInfo);
  SHERD_TRY(stored, read_json(store, key, limits));
  if (!stored || !is_volume(stored->json)) {
    if (path.empty()) return std::optional<NodeDocument>();
    return open_scale(store, path, limits);
  }
  auto node = neuroglancer::lower_volume(neuroglancer::volume_document(std::move(stored->json)), path);
  if (!node) return stored_error(std::move(node).error()).in_key(key);
  node->versions = {{key, std::move(stored->generation)}};
  return std::optional(*std::move(node));
}

Result<std::optional<NodeDocument>> Precomputed::open_scale(Store& store, const std::string& path,
                                                            const Limits& limits) const {
  const std::string volume(parent_path(path));
  const std::string_view name = last_segment(path);
  const std::string key = join_path(volume, kInfo);
  SHERD_TRY(stored, read_json(store, key, limits));
  if (!stored || !is_volume(stored->json)) return std::optional<NodeDocument>();
  const auto read = [&]() -> Result<std::optional<NodeDocument>> {
    SHERD_TRY(info, VolumeInfo::parse(stored->json));
    std::size_t number = 0;
    while (number < info.scales.size() && scale_name(info, number) != name) ++number;
    if (number == info.scales.size()) return std::optional<NodeDocument>();
    SHERD_TRY(node, neuroglancer::lower_volume(neuroglancer::scale_document(std::move(stored->json), number), volume));
    node.versions = {{key, std::move(stored->generation)}};
    return std::optional(std::move(node));
  };
  auto node = read();
  if (!node) return stored_error(std::move(node).error()).in_key(key);
  return node;
}

Result<std::vector<std::pair<std::string, NodeType>>> Precomputed::members(Store& store, const std::string& path,
                                                                           const Limits& limits,
                                                                           const KnownType&) const {
  std::vector<std::pair<std::string, NodeType>> found;
  const std::string key = join_path(path, kInfo);
  SHERD_TRY(stored, read_json(store, key, limits));
  if (!stored || !is_volume(stored->json)) return found;
  auto info = VolumeInfo::parse(stored->json);
  if (!info) return stored_error(std::move(info).error()).in_key(key);
  for (std::size_t i = 0; i < info->scales.size(); ++i) found.emplace_back(scale_name(*info, i), NodeType::array);
  std::sort(found.begin(), found.end());
  return found;
}

constinit const Precomputed kPrecomputedFormat;

}  // namespace

Json neuroglancer::volume_document(Json info) { return Json::Object{{std::string(kInfo), std::move(info)}}; }

Json neuroglancer::scale_document(Json info, std::uint64_t number) {
  return Json::Object{{std::string(kInfo), std::move(info)}, {"scale", number}};
}

const Json* neuroglancer::info_in(const Json& document) noexcept { return document.find(kInfo); }

Result<NodeDocument> neuroglancer::lower_volume(Json document, const std::string& volume) {
  SHERD_TRY(info, VolumeInfo::parse(*document.find("info")));
  NodeDocument node;
  node.attributes = attributes_of(info);
  if (const Json* number = document.find("scale")) {
    const std::size_t scale = number->as_uint().value_or(info.scales.size());
    if (scale >= info.scales.size()) return not_found("the volume does not have this scale");
    node.type = NodeType::array;
    node.attributes = attributes_of(info, info.scales[scale]);
    SHERD_TRY(spec,
              lowered(info, {scale, volume, document.find("axes")}).in_member("scales[" + std::to_string(scale) + "]"));
    node.array = std::move(spec);
  }
  node.document = std::move(document);
  return node;
}

const Format& precomputed_format() noexcept;
const Format& precomputed_format() noexcept { return kPrecomputedFormat; }

}  // namespace sherd
