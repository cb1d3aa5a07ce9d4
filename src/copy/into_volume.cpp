// Images that become Neuroglancer volumes: their info is made from the documents of the image, the info that it once
// had, and the options. The scales are viewed with the axes of the source, so that a copy has the same order of
// dimensions on both sides.
#include <algorithm>
#include <cmath>

#include "array/nodes.hpp"
#include "base/try.hpp"
#include "copy/image.hpp"
#include "image/pyramid.hpp"
#include "io/axes.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/document.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "sherd/sharded_build.hpp"

namespace sherd {
namespace {

using neuroglancer::Triple;
using neuroglancer::VolumeInfo;
using neuroglancer::VolumeScale;

constexpr std::uint64_t kBlock = 8;
constexpr std::uint64_t kChunk = 64;  ///< of a volume that is not a copy

// x, y and z from lengths in the order of axes; 1 if the axis does not exist.
Triple in_xyz(const Shape& lengths, const std::vector<std::string>& axes) {
  Triple result{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    result[axis] = lengths[dimension_of(axes, std::string_view("xyz").substr(axis, 1))];
  return result;
}

bool is_compressed(const Array::State& state) {
  const ArraySpec spec = *state.document().array;
  return state.layout.leaf().chain.has_bytes_codecs() || state.layout.chain.has_bytes_codecs() ||
         (spec.ids && spec.ids->sharding.gzip_data);
}

Result<void> check_options(const CopyOptions& options) {
  const auto refuse = [](bool given, std::string_view member, const char* instead) -> Result<void> {
    if (!given) return {};
    return std::move(invalid_argument(std::string("cannot be used with a volume; use ") + instead)).in_member(member);
  };
  SHERD_TRY(refuse(options.shards.has_value() || options.auto_shards, "shards", "sharding"));
  SHERD_TRY(refuse(options.codecs.has_value(), "codecs", "encoding"));
  SHERD_TRY(refuse(options.index_location.has_value(), "index_location", "sharding"));
  return neuroglancer::check_scale_names(options.encoding.empty() ? "raw" : options.encoding,
                                         options.sharding.value_or(Json()));
}

class VolumePlan {
 public:
  VolumePlan(ImageSource source, const NodeLocation& destination, const CopyOptions& options)
      : source_(std::move(source)), image_(source_.image), destination_(destination), options_(options) {}

  Result<std::vector<NodeCopy>> run() && {
    SHERD_TRY(check_options(options_));
    SHERD_TRY(check_volume_axes(image_.axes, options_.axes.empty() ? "source" : "", "select one time (--select 0)"));
    SHERD_TRY(open_levels());
    dtype_ = source_.dtype();
    for (std::size_t i = 0; i < arrays_.size(); ++i)
      shapes_.push_back(source_.cutout ? source_.cutout->shape() : arrays_[i].shape());
    return plan();
  }

  // For a volume that has no source.
  Result<std::vector<NodeCopy>> run(FilledVolume volume) && {
    SHERD_TRY(check_options(options_));
    dtype_ = volume.dtype;
    shapes_.push_back(std::move(volume.shape));
    fill_ = std::move(volume.fill);
    return plan();
  }

 private:
  Result<std::vector<NodeCopy>> plan() {
    start_info();
    for (std::size_t i = 0; i < shapes_.size(); ++i) SHERD_TRY(add_scale(i, shapes_[i]));
    if (options_.pyramid) SHERD_TRY(add_pyramid());
    SHERD_TRY(printed, print());
    return nodes(printed);
  }

  [[nodiscard]] std::uint64_t channels_of(const Shape& shape) const {
    const std::size_t d = dimension_of(image_.axes, "c");
    return d == shape.size() ? 1 : shape[d];
  }

  Result<void> open_levels() {
    for (const LevelSource& level : source_.levels) {
      SHERD_TRY(array, make_array(level.location, level.document));
      SHERD_TRY(array.state().check_access());
      const std::string key = level.location.format->document_key(level.location.path, NodeType::array);
      if (!arrays_.empty() && (array.dtype() != arrays_.front().dtype() ||
                               channels_of(array.shape()) != channels_of(arrays_.front().shape())))
        return std::move(invalid_argument("has another data type or other channels than the finest resolution"))
            .in_key(key);
      arrays_.push_back(std::move(array));
    }
    return {};
  }

  // Begins with the image's previous info, as far as it is known, and its present properties.
  void start_info() {
    if (auto kept = VolumeInfo::parse(image_.info)) kept_ = *std::move(kept);
    if (kept_) info_ = *kept_;
    info_.scales.clear();
    info_.data_type = dtype_;
    info_.num_channels = channels_of(shapes_.front());
    keep_channels();
    if (!options_.type.empty()) {
      info_.type = image_.labels ? VolumeInfo::Type::segmentation : VolumeInfo::Type::image;
      return;
    }
    const bool labels = options_.encoding == "compressed_segmentation" ||
                        (options_.pyramid && options_.pyramid->method == Pyramid::Method::mode) ||
                        (image_.labels && (!kept_ || kept_->type == VolumeInfo::Type::segmentation));
    if (labels) info_.type = VolumeInfo::Type::segmentation;
  }

  // Their names, colours and windows. Readers of volumes ignore members that they do not know.
  void keep_channels() {
    const Json* omero = ome_member(source_.attributes, "omero");
    const Json* given = omero != nullptr ? omero->find("channels") : nullptr;
    const Json channels = given != nullptr ? *given : image_.channels;
    if (!channels.is_array()) return;
    info_.other.erase("channels");
    if (channels.size() == info_.num_channels) info_.other.set("channels", channels);
  }

  // The scale that it was before, or another of the same volume to begin with.
  [[nodiscard]] VolumeScale start_scale(std::size_t level) const {
    if (kept_ && level < kept_->scales.size() && !(options_.pyramid && level > 0)) return kept_->scales[level];
    VolumeScale scale;
    const auto& earlier = info_.scales.empty() && kept_ ? kept_->scales : info_.scales;
    if (!earlier.empty()) scale = earlier.front();
    scale.key.clear();
    scale.other = {};
    return scale;
  }

  // The array of the source that is nearest to a scale; nullptr if there is no source.
  [[nodiscard]] const Array* source_of(std::size_t level) const {
    return arrays_.empty() ? nullptr : &arrays_[std::min(level, arrays_.size() - 1)];
  }

  Result<Triple> chunk_of(std::size_t level) const {
    if (options_.chunks) {
      const Shape& chunks = *options_.chunks;
      if (chunks.size() == 3 || (chunks.size() == 4 && chunks[3] == info_.num_channels))
        return Triple{chunks[0], chunks[1], chunks[2]};
      return std::move(
                 invalid_argument("a chunk of a volume needs three lengths, x, y and z; it contains all channels"))
          .in_member("chunks");
    }
    const Array* const array = source_of(level);
    if (array == nullptr) {
      Triple chunk = in_xyz(shapes_.front(), image_.axes);
      for (std::uint64_t& length : chunk) length = std::clamp<std::uint64_t>(length, 1, kChunk);
      return chunk;
    }
    if (array->chunks().empty())
      return std::move(invalid_argument("the source's chunks differ in shape; choose the chunk shape of the copy"))
          .in_member("chunks");
    return in_xyz(source_.cutout ? source_.cutout->pick(array->chunks()) : array->chunks(), image_.axes);
  }

  Result<void> add_scale(std::size_t level, const Shape& shape) {
    VolumeScale scale = start_scale(level);
    const VolumeScale before = scale;
    scale.size = in_xyz(shape, image_.axes);
    SHERD_TRY(chunk, chunk_of(level));
    scale.chunk_sizes = {chunk};
    SHERD_TRY(resolution, resolution_of(image_, level).in_member("resolution"));
    scale.resolution = resolution;
    SHERD_TRY(offset, voxel_offset_of(image_, level).in_member("voxel_offset"));
    scale.voxel_offset = offset;
    if (scale.key.empty() || options_.resolution) scale.key = free_key(neuroglancer::key_of_resolution(resolution));
    set_encoding(scale);
    const bool same = before.size == scale.size && before.chunk_sizes == scale.chunk_sizes;
    SHERD_TRY(sharding, sharding_of(scale, same, source_of(level)));
    scale.sharding = std::move(sharding);
    info_.scales.push_back(std::move(scale));
    return {};
  }

  [[nodiscard]] std::string free_key(const std::string& wanted) const {
    std::string key = wanted;
    const auto taken = [&](const VolumeScale& scale) { return scale.key == key; };
    for (std::size_t i = 1; std::ranges::any_of(info_.scales, taken); ++i) key = wanted + "." + std::to_string(i);
    return key;
  }

  void set_encoding(VolumeScale& scale) const {
    if (!options_.encoding.empty() && scale.encoding != options_.encoding) {
      scale.encoding = options_.encoding;
      scale.block_size.reset();
      scale.jpeg_quality.reset();
      scale.png_level.reset();
    }
    if (scale.encoding == "compressed_segmentation" && !scale.block_size)
      scale.block_size = Triple{kBlock, kBlock, kBlock};
  }

  // The previous sharding if it still fits, the requested one, or an automatic one if the source is sharded.
  Result<Json> sharding_of(const VolumeScale& scale, bool same, const Array* source) const {
    const bool asked = options_.sharding.has_value();
    if (!asked && same) return scale.sharding;
    if (asked && !options_.sharding->is_string()) return *options_.sharding;
    if (asked && options_.sharding->text() != "auto")
      return std::move(invalid_argument("must be \"auto\" or an object of parameters")).in_member("sharding");
    if (!asked && scale.sharding.is_null() && (source == nullptr || !source->shards())) return Json();
    const Triple& size = scale.size;
    const Triple& chunk = scale.chunk_sizes.front();
    SHERD_TRY(chosen,
              choose_sharding(neuroglancer::VolumeToShard{.shape = {size[0], size[1], size[2], info_.num_channels},
                                                          .chunk_shape = {chunk[0], chunk[1], chunk[2]},
                                                          .dtype = info_.data_type,
                                                          .encoding = scale.encoding})
                  .in_member("sharding"));
    // Uncompressed chunks are moved without decoding.
    if (scale.encoding == "raw" && source != nullptr && !is_compressed(source->state()))
      chosen.set("data_encoding", "raw");
    return chosen;
  }

  Result<void> add_pyramid() {
    SHERD_TRY(plan, PyramidPlan::make(*options_.pyramid, image_, info_.data_type));
    if (plan.shrinks_channels(image_))
      return std::move(invalid_argument("all scales of a volume have the same channels")).in_member("factors");
    for (double& offset : image_.levels.front().offset) offset = std::round(offset);
    Shape shape = shapes_.front();
    SHERD_TRY(chunk, chunk_of(0));
    Shape chunks(shape.size(), 1);
    for (std::size_t axis = 0; axis < 3; ++axis)
      chunks[dimension_of(image_.axes, std::string_view("xyz").substr(axis, 1))] = chunk[axis];
    for (std::uint64_t made = 0; plan.wants_level(image_, made, shape, chunks); ++made) {
      auto next = plan.add_level(image_, shape, true);
      if (!next) return {};
      shape = std::move(next->shape);
      SHERD_TRY(add_scale(made + 1, shape));
      reductions_.push_back(std::move(next->how));
    }
    return {};
  }

  // Keeps the spelling of the image's previous info where it has the same values.
  Result<Json> print() const {
    if (kept_ && *kept_ == info_) return image_.info;
    return info_.print();
  }

  Result<NodeDocument> scale_node(const Json& info, std::size_t number) const {
    Json document = neuroglancer::scale_document(info, number);
    if (!arrays_.empty() && source_.levels.front().location.format->arrays_have_documents())
      document.set("axes", Json(Json::Array(image_.axes.begin(), image_.axes.end())));
    SHERD_TRY(node, neuroglancer::lower_volume(std::move(document), destination_.path));
    const std::string member = "scales[" + std::to_string(number) + "]";
    if (node.array->no_access) return Error(*node.array->no_access).in_member(member);
    return node;
  }

  Result<std::vector<NodeCopy>> nodes(const Json& info) {
    std::vector<NodeCopy> nodes(1);
    SHERD_TRY(group, neuroglancer::lower_volume(neuroglancer::volume_document(info), destination_.path));
    nodes.front().document = std::move(group);
    SHERD_TRY(stored, stored_documents(info));
    nodes.front().stored = std::move(stored);
    for (std::size_t i = 0; i < info_.scales.size(); ++i) {
      SHERD_TRY(document, scale_node(info, i));
      NodeCopy node{resolution_of(*destination_.format, nodes.front().document.document, i).value_or(""), document};
      auto array = make_array(at_path(destination_, join_path(destination_.path, node.path)), std::move(document));
      if (!array)
        return neuroglancer::in_encoding(std::move(array).error()).in_member("scales[" + std::to_string(i) + "]");
      if (i >= shapes_.size()) {
        node.reduced = ReducedFrom{nodes.size() - 1, reductions_[i - shapes_.size()]};
      } else if (fill_) {
        node.fill = fill_;
      } else {
        SHERD_TRY(planned, plan_copy(arrays_[i], *std::move(array), source_.cutout));
        node.array = std::move(planned);
      }
      nodes.push_back(std::move(node));
    }
    return nodes;
  }

  // A volume that does not change keeps its document byte for byte.
  Result<std::vector<Document>> stored_documents(const Json& info) const {
    if (source_.levels.empty()) return std::vector<Document>();
    const LevelSource& first = source_.levels.front();
    if (first.location.format->arrays_have_documents() || !(info == *neuroglancer::info_in(first.document.document)))
      return std::vector<Document>();
    const std::string key = first.location.format->document_key(first.location.path, NodeType::array);
    SHERD_TRY(text, first.location.store->get(key, first.location.config.limits.metadata_bytes));
    if (!text) return std::vector<Document>();
    return std::vector{
        Document{destination_.format->document_key(destination_.path, NodeType::group), *std::move(text)}};
  }

  ImageSource source_;
  Image& image_;
  const NodeLocation& destination_;
  const CopyOptions& options_;
  std::vector<Array> arrays_;  ///< of the source
  std::vector<Shape> shapes_;  ///< of the scales that are not made from finer ones
  DType dtype_;
  FillArray fill_;  ///< the data of the finest scale, if not from a source
  std::optional<VolumeInfo> kept_;
  VolumeInfo info_;
  std::vector<Reduction> reductions_;
};

}  // namespace

Result<void> check_volume_axes(const std::vector<std::string>& axes, const std::string& of,
                               const std::string& of_one_time) {
  const auto refuse = [&](const std::string& reason) {
    const std::string all = "the dimensions of the " + of + " are " + listed_names(axes) + ", and ";
    return std::move(invalid_argument((of.empty() ? "" : all) + reason)).in_member("axes");
  };
  if (std::ranges::find(axes, "t") != axes.end()) return refuse("a volume has no time (t); " + of_one_time);
  for (const char* axis : {"x", "y", "z"})
    if (std::ranges::find(axes, axis) == axes.end())
      return refuse("a volume has x, y and z: there is no " + std::string(axis) + "; if they are others" +
                    advice_on_axes(axes.size()).replace(0, 1, ","));
  return {};
}

Result<std::vector<NodeCopy>> plan_volume(ImageSource source, const NodeLocation& destination,
                                          const CopyOptions& options) {
  return VolumePlan(std::move(source), destination, options).run();
}

Result<std::vector<NodeCopy>> plan_filled(FilledVolume volume, const NodeLocation& destination,
                                          const CopyOptions& options) {
  return VolumePlan({std::move(volume.image), {}, true}, destination, options).run(std::move(volume));
}

}  // namespace sherd
