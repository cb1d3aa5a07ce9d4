// Info documents of volumes.
// https://github.com/google/neuroglancer/blob/master/docs/datasource/precomputed/volume.rst
#include <set>

#include "base/whole_number.hpp"
#include "neuroglancer/document.hpp"
#include "shard/uint64.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::int64_t kFarthest = std::int64_t{1} << 62;  // so that no sum of an offset and a size overflows
constexpr std::string_view kVolumeType = "neuroglancer_multiscale_volume";

Result<DType> parse_data_type(const std::string& name) {
  for (const DType& dtype : {DType::uint8, DType::uint16, DType::uint32, DType::uint64, DType::int8, DType::int16,
                             DType::int32, DType::float32})
    if (dtype.name() == name) return dtype;
  return member_error("data_type",
                      "'" + name + "' is not a type of a volume; uint8 to uint64, int8 to int32 and float32 are");
}

Result<std::array<std::int64_t, 3>> parse_offset(ObjectMembers& members) {
  std::array<std::int64_t, 3> offset{};
  const Json* found = members.find("voxel_offset");
  if (found == nullptr) return offset;
  bool right = found->is_array() && found->elements().size() == offset.size();
  for (std::size_t d = 0; right && d < offset.size(); ++d) {
    const auto number = whole_int(found->elements()[d]);
    right = number && *number >= -kFarthest && *number <= kFarthest;
    if (right) offset[d] = *number;
  }
  if (right) return offset;
  return member_error("voxel_offset", "must be three integers");
}

Result<std::optional<std::uint64_t>> optional_integer(ObjectMembers& members, std::string_view key,
                                                      std::uint64_t high) {
  if (members.find(key) == nullptr) return std::optional<std::uint64_t>();
  SHERD_TRY(value, members.integer(key, 0, high));
  return std::optional(value);
}

Result<void> check_sharding(const VolumeScale& scale) {
  if (scale.sharding.is_null()) return {};
  SHERD_TRY(Uint64Sharding::parse(scale.sharding).in_member("sharding"));
  if (scale.chunk_sizes.size() == 1) return {};
  return member_error("chunk_sizes", "must have exactly one element where the scale is sharded");
}

Result<VolumeScale> parse_scale(const Json& json) {
  SHERD_TRY(members, ObjectMembers::open(json));
  VolumeScale scale;
  SHERD_TRY(key, members.text("key"));
  scale.key = std::move(key);
  SHERD_TRY(size, members.triple("size", 0));
  scale.size = size;
  SHERD_TRY(offset, parse_offset(members));
  scale.voxel_offset = offset;
  SHERD_TRY(members.each("chunk_sizes", false, [&scale](const Json& value) -> Result<void> {
    SHERD_TRY(chunk, parse_triple(value, 1));
    scale.chunk_sizes.push_back(chunk);
    return {};
  }));
  if (scale.chunk_sizes.empty()) return member_error("chunk_sizes", "must have at least one element");
  SHERD_TRY(resolution, members.numbers("resolution", 3));
  std::copy(resolution.begin(), resolution.end(), scale.resolution.begin());
  SHERD_TRY(encoding, members.text("encoding"));
  scale.encoding = std::move(encoding);
  SHERD_TRY(sharding, members.sharding());
  scale.sharding = std::move(sharding);
  SHERD_TRY(check_sharding(scale));
  SHERD_TRY(quality, optional_integer(members, "jpeg_quality", 100));
  scale.jpeg_quality = quality;
  SHERD_TRY(level, optional_integer(members, "png_level", 9));
  scale.png_level = level;
  if (scale.encoding == "compressed_segmentation") {
    SHERD_TRY(block, members.triple("compressed_segmentation_block_size", 1));
    scale.block_size = block;
  }
  scale.other = members.others();
  return scale;
}

template <class Number>
Json triple_json(const std::array<Number, 3>& values) {
  return Json(Json::Array(values.begin(), values.end()));
}

Result<Json> print_scale(const VolumeScale& scale) {
  Json json;
  json.set("key", scale.key);
  json.set("size", triple_json(scale.size));
  json.set("resolution", numbers_json(scale.resolution));
  json.set("voxel_offset", triple_json(scale.voxel_offset));
  Json::Array chunk_sizes;
  for (const Triple& chunk : scale.chunk_sizes) chunk_sizes.push_back(triple_json(chunk));
  json.set("chunk_sizes", Json(std::move(chunk_sizes)));
  json.set("encoding", scale.encoding);
  if (scale.block_size) json.set("compressed_segmentation_block_size", triple_json(*scale.block_size));
  if (scale.jpeg_quality) json.set("jpeg_quality", *scale.jpeg_quality);
  if (scale.png_level) json.set("png_level", *scale.png_level);
  set_present(json, "sharding", scale.sharding);
  return with_others(std::move(json), scale.other);
}

}  // namespace

Result<VolumeInfo> VolumeInfo::parse(const Json& document) {
  SHERD_TRY(members, ObjectMembers::open(document));
  SHERD_TRY(kind, members.text("@type", kVolumeType));
  if (kind != kVolumeType)
    return unsupported("must be \"" + std::string(kVolumeType) + "\", not \"" + kind + "\"").in_member("@type");
  VolumeInfo info;
  SHERD_TRY(type, members.text("type"));
  if (type != "image" && type != "segmentation") return member_error("type", "must be \"image\" or \"segmentation\"");
  info.type = type == "image" ? Type::image : Type::segmentation;
  SHERD_TRY(name, members.text("data_type"));
  SHERD_TRY(data_type, parse_data_type(name));
  info.data_type = data_type;
  SHERD_TRY(channels, members.integer("num_channels", 1, std::uint64_t{1} << 32U));
  info.num_channels = channels;
  std::set<std::string> directories;
  SHERD_TRY(members.each("scales", false, [&](const Json& json) -> Result<void> {
    SHERD_TRY(scale, parse_scale(json));
    const std::string directory = plain_path(scale.key);
    if (directory == "info")
      return member_error("key", "'" + scale.key + "' is the path of the info document; choose another key");
    if (!directories.insert(directory).second)
      return member_error("key", "'" + scale.key + "' is used by another scale; choose another key");
    info.scales.push_back(std::move(scale));
    return {};
  }));
  if (info.scales.empty()) return member_error("scales", "must have at least one element");
  info.other = members.others();
  return info;
}

Result<Json> VolumeInfo::print() const {
  Json document;
  document.set("@type", kVolumeType);
  document.set("type", type == Type::image ? "image" : "segmentation");
  document.set("data_type", data_type.name());
  document.set("num_channels", num_channels);
  Json::Array printed;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    SHERD_TRY(json, print_scale(scales[i]).in_member("scales[" + std::to_string(i) + "]"));
    printed.push_back(std::move(json));
  }
  document.set("scales", Json(std::move(printed)));
  return checked_print<VolumeInfo>(std::move(document), other);
}

}  // namespace sherd::neuroglancer
