// Converts options to the info document of a new volume. They become members of the document, so the document's own
// reader checks them.
#include "cli/volume.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "base/try.hpp"
#include "cli/option_errors.hpp"
#include "cli/values.hpp"
#include "neuroglancer/create.hpp"
#include "sherd/sharded_build.hpp"

namespace sherd::cli {
namespace {

constexpr std::uint64_t kChunk = 64;
constexpr std::uint64_t kBlockSide = 8;

Result<Json> parse_numbers(std::string_view option, const std::string& text) {
  auto numbers = Json::parse("[" + text + "]");
  if (numbers && numbers->elements().size() == 3) return numbers;
  return invalid_argument(std::string(option) + ": '" + text + "' is not three numbers; write it as x,y,z");
}

Json first_three(const Shape& shape) { return Json::numbers(Shape(shape.begin(), shape.begin() + 3)); }

}  // namespace

Result<Json> parse_sharding(const std::string& text) {
  if (text == "auto") return Json("auto");
  if (text == "none") return Json();
  if (!text.starts_with('{') && !text.starts_with('@'))
    return invalid_argument("--sharding: '" + text + "' is neither auto nor none, nor JSON or @FILE" +
                            did_you_mean(text, {"auto", "none"}));
  return in_option(parse_json_argument(text), "--sharding");
}

void VolumeOptions::add_to(Arguments& arguments, const std::string& made_by) {
  arguments.begin_group("Volumes of Neuroglancer (" + made_by + ")");
  arguments.text("--resolution", "X,Y,Z", resolution,
                 "Nanometres per voxel. Required to create a volume, but 1,1,1 by default with --layout; import "
                 "also uses it as the spacing of arrays, default: that of the file");
  arguments.text("--voxel-offset", "X,Y,Z", voxel_offset,
                 "The coordinates of the first voxel; default: 0,0,0, or those of an imported file");
  arguments.choice("--type", {"image", "segmentation"}, type,
                   "What the voxels are; segmentation is the default with compressed_segmentation, otherwise image");
  arguments.choice("--encoding", {"raw", "jpeg", "png", "compressed_segmentation"}, encoding,
                   "How chunks are stored; raw is the default");
  arguments.text("--sharding", "auto|none|JSON|@FILE", sharding,
                 "How chunks are grouped into shards: auto chooses by size, JSON is as in an info document; "
                 "default: none, one object per chunk");
  arguments.text("--key", "NAME", key, "The directory of the chunks; default: the resolution, such as 8_8_40");
}

bool VolumeOptions::is_given() const noexcept {
  return resolution || voxel_offset || sharding || key || !type.empty() || !encoding.empty();
}

Result<Json> VolumeOptions::counterpart_volume() const {
  if (!encoding.empty() && encoding != "raw")
    return invalid_argument("--encoding: chunks shared with a Zarr array can only be raw or gzip-compressed");
  Json wanted{Json::Object{}};
  if (!type.empty()) wanted.set("type", type);
  if (key) wanted.set("key", *key);
  if (resolution) {
    SHERD_TRY(nanometres, parse_numbers("--resolution", *resolution));
    wanted.set("resolution", std::move(nanometres));
  }
  if (voxel_offset) {
    SHERD_TRY(offset, parse_numbers("--voxel-offset", *voxel_offset));
    wanted.set("voxel_offset", std::move(offset));
  }
  if (!sharding || *sharding == "auto") return wanted;
  if (*sharding == "none")
    return invalid_argument("--sharding cannot be used here: the volume uses the array's shards");
  SHERD_TRY(given, in_option(parse_json_argument(*sharding), "--sharding"));
  wanted.set("sharding", std::move(given));
  return wanted;
}

Result<void> VolumeOptions::apply(CreateOptions& create) const {
  if (create.config.layout == Layout::zarr_neuroglancer) {
    if (create.format == kVolumeFormat)
      return invalid_argument(
          "--layout: zarr+neuroglancer creates a volume and a Zarr array, --store-format precomputed only a volume; "
          "use one of them");
    SHERD_TRY(wanted, counterpart_volume());
    create.volume = std::move(wanted);
    return {};
  }
  if (!is_given() || create.format == kVolumeFormat) return {};
  return invalid_argument(
      "options of volumes (--resolution of a new array, --voxel-offset, --type, --encoding, --sharding, --key) can "
      "only be "
      "used with --store-format precomputed or --layout zarr+neuroglancer");
}

Result<void> VolumeOptions::apply(ImportOptions& options) const {
  if (key)
    return invalid_argument(
        "--key can only be used with --layout zarr+neuroglancer; the scales of an imported volume are named by their "
        "resolutions, such as 8_8_40");
  options.type = type;
  options.encoding = encoding;
  if (voxel_offset) {
    SHERD_TRY(voxels, parse_voxel(*voxel_offset).in([] { return "--voxel-offset"; }));
    options.voxel_offset = voxels;
  }
  if (sharding) {
    SHERD_TRY(given, parse_sharding(*sharding));
    options.sharding = std::move(given);
  }
  return {};
}

Result<Json> VolumeOptions::scale(const Shape& shape, const Shape& chunks, const DType& dtype) const {
  Json made;
  SHERD_TRY(nanometres, parse_numbers("--resolution", *resolution));
  std::string name = *resolution;
  std::erase(name, ' ');
  std::replace(name.begin(), name.end(), ',', '_');
  made.set("key", key.value_or(name));
  made.set("size", first_three(shape));
  made.set("resolution", std::move(nanometres));
  made.set("chunk_sizes", Json(Json::Array{first_three(chunks)}));
  made.set("encoding", encoding.empty() ? "raw" : encoding);
  if (voxel_offset) {
    SHERD_TRY(offset, parse_numbers("--voxel-offset", *voxel_offset));
    made.set("voxel_offset", std::move(offset));
  }
  if (encoding == "compressed_segmentation")
    made.set("compressed_segmentation_block_size", Json::numbers({kBlockSide, kBlockSide, kBlockSide}));
  if (!sharding || *sharding == "none") return made;
  if (*sharding == "auto") {
    neuroglancer::VolumeToShard volume{.shape = shape, .chunk_shape = chunks, .dtype = dtype};
    if (!encoding.empty()) volume.encoding = encoding;
    SHERD_TRY(chosen, choose_sharding(volume).in([] { return "--sharding auto"; }));
    made.set("sharding", std::move(chosen));
  } else {
    SHERD_TRY(given, in_option(parse_json_argument(*sharding), "--sharding"));
    made.set("sharding", std::move(given));
  }
  return made;
}

Result<neuroglancer::VolumeInfo> VolumeOptions::info(const CreateOptions& create) const {
  if (!resolution) return invalid_argument("a volume needs --resolution, the nanometres per voxel");
  if (create.shape.size() != 3 && create.shape.size() != 4)
    return invalid_argument("--shape: a volume needs the lengths x,y,z or x,y,z,channels");
  const std::uint64_t channels = create.shape.size() == 4 ? create.shape[3] : 1;
  Shape chunks = create.chunks;
  if (chunks.empty()) chunks = {kChunk, kChunk, kChunk};
  if (chunks.size() != 3 && !(chunks.size() == 4 && chunks[3] == channels))
    return invalid_argument("--chunks: a chunk of a volume needs three lengths, x,y,z; it contains all channels");
  const bool labels = type.empty() ? encoding == "compressed_segmentation" : type == "segmentation";
  SHERD_TRY(only, scale(create.shape, chunks, create.dtype));
  Json document;
  document.set("type", labels ? "segmentation" : "image");
  document.set("data_type", create.dtype.name());
  document.set("num_channels", channels);
  document.set("scales", Json(Json::Array{std::move(only)}));
  return neuroglancer::parse_given_info(document);
}

}  // namespace sherd::cli
