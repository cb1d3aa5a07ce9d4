// Copies of images: an array, a group of one image's resolutions, or a volume, found in one format and laid out in
// another; and the coarser resolutions made on the way. copy_into_volume.cpp handles volumes as destination.
#include "copy/image.hpp"

#include <algorithm>
#include <cmath>

#include "array/nodes.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "codec/chain.hpp"
#include "codec/number.hpp"
#include "copy/axes.hpp"
#include "copy/options.hpp"
#include "image/pyramid.hpp"
#include "io/axes.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/dual_format.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "node/presence.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"

namespace sherd {
namespace {

bool is_volume(const NodeLocation& location) { return !location.format->arrays_have_documents(); }

Json axes_json(const std::vector<std::string>& axes) { return Json(Json::Array(axes.begin(), axes.end())); }

// The axes with which a copy views the scales of a volume.
Result<std::vector<std::string>> volume_axes(const CopyOptions& options, bool into_volume, std::uint64_t channels) {
  using Axes = std::vector<std::string>;
  if (into_volume) return Axes{"x", "y", "z", "c"};
  if (options.axes.empty()) return channels == 1 ? Axes{"z", "y", "x"} : Axes{"c", "z", "y", "x"};
  SHERD_TRY(axes, axis_names(options.axes).in_member("axes"));
  Axes sorted = axes;
  std::ranges::sort(sorted);
  if (sorted == Axes{"c", "x", "y", "z"} || (channels == 1 && sorted == Axes{"x", "y", "z"})) return axes;
  return std::move(invalid_argument(channels == 1 ? "must be x, y, z and perhaps c, in any order"
                                                  : "must be x, y, z and c, in any order"))
      .in_member("axes");
}

Result<ImageSource> find_volume(const NodeLocation& source, const NodeDocument& document, const CopyOptions& options,
                                bool into_volume) {
  const Json& info = *neuroglancer::info_in(document.document);
  std::optional<std::size_t> only;
  if (const Json* scale = document.document.find("scale")) only = scale->as_uint();
  const std::string volume = only ? std::string(parent_path(source.path)) : source.path;
  SHERD_TRY(parsed, neuroglancer::VolumeInfo::parse(info));
  SHERD_TRY(axes, volume_axes(options, into_volume, parsed.num_channels));
  SHERD_TRY(image, image_of_volume(info, only, axes));
  ImageSource found{std::move(image), {}, !only};
  for (std::size_t i = only.value_or(0); i < (only ? *only + 1 : parsed.scales.size()); ++i) {
    Json seen = neuroglancer::scale_document(info, i);
    if (!into_volume) seen.set("axes", axes_json(axes));
    SHERD_TRY(node, neuroglancer::lower_volume(std::move(seen), volume));
    const std::string name = resolution_of(*source.format, document.document, i).value_or("");
    found.image.levels[found.levels.size()].path = name;
    node.attributes = Json(Json::Object{});
    found.levels.push_back({at_path(source, join_path(volume, name)), std::move(node)});
  }
  return found;
}

// Gives the axes of an OME-NGFF image the names chosen by the caller.
Result<void> rename_axes(Image& image, const CopyOptions& options) {
  if (options.axes.empty()) return {};
  SHERD_TRY(axes, axis_names(options.axes).in_member("axes"));
  if (axes.size() != image.axes.size())
    return std::move(invalid_argument("the image has " + std::to_string(image.axes.size()) + " axes"))
        .in_member("axes");
  image.axes = std::move(axes);
  return {};
}

Result<ImageSource> find_group(const NodeLocation& source, const NodeDocument& document, const CopyOptions& options) {
  SHERD_TRY(attributes, in_store(ome_attributes(source, document.attributes), source.store->url()));
  SHERD_TRY(image, image_of_group(source, attributes));
  if (!image)
    return invalid_argument(
        "the group is not one image in several resolutions (OME-NGFF multiscales); copy one of its arrays");
  ImageSource found{*std::move(image), {}, true, std::move(attributes)};
  SHERD_TRY(rename_axes(found.image, options));
  for (const ImageLevel& level : found.image.levels) {
    SHERD_TRY(path, normal_path(level.path));
    const NodeLocation location = at_path(source, join_path(source.path, path));
    SHERD_TRY(node, source.format->open(*location.store, location.path, location.config.limits));
    const std::string key = source.format->document_key(location.path, NodeType::array);
    if (!node || !node->array) return std::move(not_found("the image has no array here")).in_key(key);
    if (node->array->shape.size() != found.image.axes.size())
      return std::move(corrupt("does not have as many dimensions as the image has axes"))
          .in_key(key)
          .in_member("shape");
    found.levels.push_back({location, *std::move(node)});
  }
  return found;
}

// For a dual-format array, the image is that of its volume; for a resolution of an OME-NGFF image, that of the
// group.
Result<Image> find_array(const NodeLocation& source, NodeDocument& document, const CopyOptions& options, bool volume) {
  SHERD_TRY(counterpart, find_volume_counterpart(source, document));
  if (counterpart) {
    SHERD_TRY(axes, axes_of_counterpart(*counterpart, options.axes));
    return image_of_volume(counterpart->info, 0, axes);
  }
  SHERD_TRY(array, make_array(source, document));
  SHERD_TRY(level, find_single_level(array, volume));
  if (!level) return image_of_array(*document.array, document.attributes, options.axes);
  SHERD_TRY(rename_axes(level->image, options));
  document.attributes = std::move(level->attributes);
  return std::move(level->image);
}

// `spec` with another shape.
Result<ArraySpec> coarser_spec(ArraySpec spec, Shape shape) {
  if (!std::holds_alternative<RegularGrid>(spec.grid))
    return std::move(invalid_argument("the chunks differ in shape; choose the chunk shape of the pyramid"))
        .in_member("chunks");
  spec.shape = std::move(shape);
  return spec;
}

// In an OME-NGFF image channels precede space.
Result<void> put_in_ome_order(ImageSource& source) {
  Image& image = source.image;
  SHERD_TRY(check_ome_axes(image.axes).in_member("axes"));
  if (is_ome_order(image.axes)) return {};
  if (is_volume(source.levels.front().location))
    return std::move(invalid_argument("must have c before x, y and z, as OME-NGFF requires")).in_member("axes");
  const auto order = ome_order(image.axes);
  image = permuted(std::move(image), order);
  for (LevelSource& level : source.levels) level.document = permuted(std::move(level.document), order);
  source.permuted = true;
  return {};
}

// A volume has three axes: a plane becomes a volume with one slice, as thick as its pixels are wide.
Result<void> add_slices(ImageSource& source) {
  Image& image = source.image;
  const std::size_t rank = image.axes.size(), x = dimension_of(image.axes, "x");
  const auto has = [&](std::string_view axis) { return dimension_of(image.axes, axis) != rank; };
  if (has("z") || has("t") || !has("x") || !has("y")) return {};
  const double thickness = image.levels.front().spacing[x];
  image.axes.insert(image.axes.begin(), "z");
  image.units.insert(image.units.begin(), image.units[x]);
  for (ImageLevel& level : image.levels) {
    level.spacing.insert(level.spacing.begin(), thickness);
    level.offset.insert(level.offset.begin(), 0);
  }
  for (LevelSource& level : source.levels) {
    const std::string key = level.location.format->document_key(level.location.path, NodeType::array);
    SHERD_TRY(node, with_leading_dimension(std::move(level.document)).in_key(key));
    level.document = std::move(node);
  }
  return {};
}

// The order of a volume's dimensions is x, y, z, channel, however the copy views them.
std::vector<std::size_t> volume_order(const std::vector<std::string>& axes) {
  std::vector<std::size_t> order;
  for (const char* axis : {"x", "y", "z", "c"}) order.push_back(dimension_of(axes, axis));
  return order;
}

// Of an image with several resolutions only the finest is used: the others would have a different border.
Result<void> cut_out(ImageSource& source, const CopyOptions& options, bool of_volume) {
  LevelSource& level = source.levels.front();
  Image& image = source.image;
  const auto order = of_volume ? volume_order(image.axes) : std::vector<std::size_t>();
  SHERD_TRY(cutout, Cutout::make(*level.document.array, options, order));
  if (!cutout) return {};
  source.levels.resize(1);
  image.levels.resize(1);
  level.document.attributes = cutout->attributes_of(std::move(level.document.attributes), image.axes);
  image.channels = cutout->channels_of(image.channels, image.axes);
  Json* ome = source.attributes.find("ome");
  if (Json* omero = (ome != nullptr ? *ome : source.attributes).find("omero"))
    if (const Json* channels = omero->find("channels"))
      omero->set("channels", cutout->channels_of(*channels, image.axes));
  ImageLevel& finest = image.levels.front();
  for (std::size_t d = 0; d < image.axes.size(); ++d) finest.offset[d] += static_cast<double>(cutout->box().origin[d]);
  finest.spacing = cutout->pick(finest.spacing);
  finest.offset = cutout->pick(finest.offset);
  image.units = cutout->pick(image.units);
  image.axes = cutout->pick(image.axes);
  source.cutout = std::move(cutout);
  return {};
}

// Removes attributes that would contradict another spacing or position of an array.
void forget_position(Json& attributes) {
  attributes.erase("affine");
  if (Json* nifti = attributes.find("nifti")) nifti->erase("qform");
}

// Moves one axis of all levels: coarser ones keep their factors, and cover the same space.
void move_axis(Image& image, std::size_t d, double spacing, double begin) {
  const double old_spacing = image.levels.front().spacing[d], old_begin = image.levels.front().offset[d];
  for (ImageLevel& level : image.levels) {
    const double factor = level.spacing[d] / old_spacing;
    level.offset[d] = tidy((level.offset[d] * factor - old_begin + begin) / factor);
    level.spacing[d] = tidy(factor * spacing);
  }
}

// Sets the position of the image, as far as the options give it.
Result<void> set_position(ImageSource& source, const CopyOptions& options, bool volume) {
  if (!options.resolution && !options.voxel_offset) return {};
  const char* const member = options.resolution ? "resolution" : "voxel_offset";
  Image& image = source.image;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string name(std::string_view("xyz").substr(axis, 1));
    const std::size_t d = dimension_of(image.axes, name);
    if (d == image.axes.size())
      return std::move(invalid_argument("the image has no axis " + name + ", only " + listed_names(image.axes)))
          .in_member(member);
    const ImageLevel& finest = image.levels.front();
    const double spacing = options.resolution ? (*options.resolution)[axis] : finest.spacing[d];
    if (!(spacing > 0) || !std::isfinite(spacing))
      return std::move(invalid_argument("must be three numbers above 0: nanometres per voxel")).in_member(member);
    const double begin = options.voxel_offset ? static_cast<double>((*options.voxel_offset)[axis]) : finest.offset[d];
    move_axis(image, d, spacing, begin);
    if (options.resolution) image.units[d] = "nanometer";
    for (std::size_t level = 1; volume && options.voxel_offset && level < image.levels.size(); ++level)
      if (const double at = image.levels[level].offset[d]; std::abs(at - std::round(at)) > 1e-6)
        return std::move(invalid_argument(std::to_string((*options.voxel_offset)[axis]) + " along " + name +
                                          " is not at the edge of a voxel of scale " + std::to_string(level) +
                                          "; choose another offset, or copy the finest scale with a pyramid"))
            .in_member("voxel_offset");
  }
  for (LevelSource& level : source.levels) forget_position(level.document.attributes);
  forget_position(source.attributes);
  return {};
}

// The links in the info that do not lead to something copied together with a whole volume.
Result<std::vector<std::pair<std::string, std::string>>> find_dangling(const ImageSource& found,
                                                                       const NodeLocation& source,
                                                                       const Format& volumes) {
  std::vector<std::pair<std::string, std::string>> dangling;
  if (!found.image.info.is_object()) return dangling;
  const bool whole = is_volume(source) && found.is_group;
  for (const auto& link : references_of(volumes, neuroglancer::volume_document(found.image.info))) {
    const auto path = path_below("", link.second);
    bool is_there = false;
    if (whole && path && !path->empty()) {
      SHERD_TRY(is_empty, lists_nothing(*source.store, prefix_of(join_path(source.path, *path))));
      is_there = !is_empty;
    }
    if (!is_there) dangling.push_back(link);
  }
  return dangling;
}

class ArraysPlan {
 public:
  ArraysPlan(ImageSource source, const NodeLocation& destination, const CopyOptions& options)
      : source_(std::move(source)), destination_(destination), options_(options) {}

  Result<std::vector<NodeCopy>> run() && {
    const bool group = source_.is_group || options_.pyramid.has_value();
    if (group && source_.cutout && !is_ome_order(source_.image.axes))
      return std::move(
                 unsupported("cannot be combined with an image whose channels follow x, y or z; copy the part as an "
                             "array first, and make the image of that"))
          .in_member(options_.select ? "select" : "dtype");
    if (group) SHERD_TRY(put_in_ome_order(source_));
    if (group) nodes_.emplace_back();
    for (std::size_t i = 0; i < source_.levels.size(); ++i) {
      std::string& path = source_.image.levels[i].path;
      if (options_.pyramid || path.empty()) path = std::to_string(i);
      SHERD_TRY(add(source_.levels[i], group ? path : ""));
    }
    if (options_.pyramid) SHERD_TRY(add_pyramid());
    if (group) SHERD_TRY(describe_group());
    return std::move(nodes_);
  }

  // For an array that has no source.
  Result<std::vector<NodeCopy>> run(FilledImage image) && {
    const std::string path = "0";
    last_ = *image.array.array;
    NodeLocation to = at_path(destination_, join_path(destination_.path, path));
    to.writable = false;  // there is nothing to write to yet
    SHERD_TRY(array, make_array(std::move(to), image.array));
    chunks_ = array.chunks();
    source_.image.levels.front().path = path;
    nodes_.emplace_back();
    nodes_.push_back({.path = path, .document = std::move(image.array), .fill = std::move(image.fill)});
    SHERD_TRY(add_pyramid());
    SHERD_TRY(describe_group());
    return std::move(nodes_);
  }

 private:
  Result<void> describe_group() {
    const Json given = as_ome_version(source_.attributes, "0.5", destination_.path);
    const Json attributes = as_ome_version(group_attributes(source_.image, given, last_.dtype),
                                           ome_version_of(*destination_.format), destination_.path);
    SHERD_TRY(document, destination_.format->group_document(attributes));
    SHERD_TRY(lowered, destination_.format->lower(std::move(document), destination_.config.limits));
    nodes_.front().document = std::move(lowered);
    return {};
  }

  Result<void> add(const LevelSource& level, const std::string& path) {
    SHERD_TRY(source, make_array(level.location, level.document));
    SHERD_TRY(source.state().check_access());
    SHERD_TRY(spec, source_.permuted ? spec_of_permuted(source, destination_, options_)
                                     : copied_spec(source.state(), destination_, options_, source_.cutout.get()));
    spec.dimension_names.assign(source_.image.axes.begin(), source_.image.axes.end());
    Json attributes = level.document.attributes;
    attributes.erase(kLayoutMember);
    if (path.empty() && !level.location.format->arrays_have_documents())
      attributes = array_attributes(source_.image, std::move(attributes));
    SHERD_TRY(node, new_node(destination_, spec, attributes));
    NodeLocation to = at_path(destination_, join_path(destination_.path, path));
    if (options_.config.layout == Layout::zarr_neuroglancer) {
      SHERD_TRY(counterpart, counterpart_of_copy({level.location, level.document}, {to, node}));
      SHERD_TRY(add_counterpart(to, node, counterpart));
    }
    to.writable = false;  // there is nothing to write to yet
    SHERD_TRY(destination, make_array(std::move(to), node));
    last_ = std::move(spec);
    chunks_ = destination.chunks();
    SHERD_TRY(array, plan_copy(std::move(source), std::move(destination), source_.cutout));
    nodes_.push_back({.path = path, .document = std::move(node), .array = std::move(array)});
    return {};
  }

  Result<void> add_pyramid() {
    SHERD_TRY(plan, PyramidPlan::make(*options_.pyramid, source_.image, last_.dtype));
    for (std::uint64_t made = 0; plan.wants_level(source_.image, made, last_.shape, chunks_); ++made) {
      auto next = plan.add_level(source_.image, last_.shape, false);
      if (!next) return {};
      SHERD_TRY(check_encoders(last_.codecs, destination_.codecs()).in_member("codecs"));
      SHERD_TRY(spec, coarser_spec(std::move(last_), std::move(next->shape)));
      last_ = std::move(spec);
      SHERD_TRY(node, new_node(destination_, last_, Json(Json::Object{})));
      const std::string path = std::to_string(made + 1);
      source_.image.levels.back().path = path;
      nodes_.push_back(
          {.path = path, .document = std::move(node), .reduced = ReducedFrom{nodes_.size() - 1, std::move(next->how)}});
    }
    return {};
  }

  ImageSource source_;
  const NodeLocation& destination_;
  const CopyOptions& options_;
  std::vector<NodeCopy> nodes_;
  ArraySpec last_;
  Shape chunks_;
};

}  // namespace

bool is_image_copy(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options) {
  return is_volume(source) || is_volume(destination) || options.pyramid.has_value();
}

Result<ImageCopy> plan_image(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& given,
                             const std::optional<LabelledImage>& labelled) {
  const bool volume = is_volume(destination);
  if (given.config.layout != Layout::plain && (volume || given.pyramid || labelled))
    return invalid_argument(std::string("layout zarr+neuroglancer: ") +
                            (volume ? "is a layout of Zarr arrays; copy to zarr3"
                                    : "the resolutions of a pyramid would be volumes of their own; copy without one"));
  SHERD_TRY(found, find_image(source, given, volume));
  SHERD_TRY(cut_out(found, given, is_volume(source)));
  CopyOptions options = given;
  if (labelled) {
    const Shape& shape = found.levels.front().document.array->shape;
    SHERD_TRY(adopt_space(*labelled, found.cutout ? found.cutout->shape() : shape, found.image,
                          given.resolution ? nullptr : given.note));
    SHERD_TRY(of_labels, options_of_labels(*labelled, found.image, given));
    options = std::move(of_labels);
    found.is_group = true;
  }
  if (options.pyramid) name_factors(*options.pyramid, found.image.axes);
  SHERD_TRY(set_type(found.image, found.dtype(), options));
  if (labelled) refer_to_image(found.image);
  found.image.info.erase(kLayoutMember);  // the copy has a single format, or its own counterpart
  if (options.pyramid) {
    found.levels.resize(1);
    found.image.levels.resize(1);
  }
  SHERD_TRY(set_position(found, options, volume));
  if (volume && given.note)
    if (const auto assumed = assumed_unit(found.image)) given.note(*assumed);
  if (volume && !found.cutout) SHERD_TRY(add_slices(found));
  ImageCopy copy;
  if (volume) {
    SHERD_TRY(dangling, find_dangling(found, source, *destination.format));
    copy.dangling = std::move(dangling);
    for (const auto& link : copy.dangling)
      if (options.drop_dangling) found.image.info.erase(link.first);
  }
  SHERD_TRY(nodes, volume ? plan_volume(std::move(found), destination, options)
                          : plan_arrays(std::move(found), destination, options));
  if (labelled) SHERD_TRY(check_levels(*labelled, nodes.size() - 1));
  copy.nodes = std::move(nodes);
  return copy;
}

Result<std::vector<NodeCopy>> plan_filled(FilledImage image, const NodeLocation& destination,
                                          const CopyOptions& options) {
  ImageSource source{std::move(image.image), {}, true};
  return ArraysPlan(std::move(source), destination, options).run(std::move(image));
}

Result<void> set_type(Image& image, const DType& dtype, const CopyOptions& options) {
  const bool has_integers = is_integer(dtype);
  if (!options.type.empty() && options.type != "image" && options.type != "segmentation")
    return std::move(invalid_argument("'" + options.type + "' is neither image nor segmentation")).in_member("type");
  if (options.type == "segmentation" && !has_integers)
    return std::move(invalid_argument("a segmentation has integers, and the elements are " + dtype.name()))
        .in_member("type");
  const bool of_modes = options.pyramid && options.pyramid->method == Pyramid::Method::mode && has_integers;
  if (options.type.empty() && !of_modes) return {};
  image.labels = options.type.empty() || options.type == "segmentation";
  if (image.info.find("type") != nullptr) image.info.set("type", image.labels ? "segmentation" : "image");
  return {};
}

Result<ImageSource> find_image(const NodeLocation& source, const CopyOptions& options, bool volume) {
  SHERD_TRY(document, source.format->open(*source.store, source.path, source.config.limits));
  if (!document) return no_node_at(source);
  const std::string key = source.format->document_key(source.path, document->type);
  if (is_volume(source)) return in_source(find_volume(source, *document, options, volume), key, options);
  if (document->type == NodeType::group) return in_source(find_group(source, *document, options), key, options);
  SHERD_TRY(image, in_source(find_array(source, *document, options, volume), key, options));
  ImageSource found{std::move(image), {}, false};
  found.levels.push_back({source, *std::move(document)});
  return found;
}

Result<void> refuse_volume_options(const CopyOptions& options) {
  if (options.encoding.empty() && !options.sharding) return {};
  return std::move(invalid_argument("can only be used if the copy is a volume; use codecs and shards"))
      .in_member(options.encoding.empty() ? "sharding" : "encoding");
}

Result<std::vector<NodeCopy>> plan_arrays(ImageSource source, const NodeLocation& destination,
                                          const CopyOptions& options) {
  SHERD_TRY(refuse_volume_options(options));
  return ArraysPlan(std::move(source), destination, options).run();
}

Result<NodeDocument> new_node(const NodeLocation& destination, ArraySpec spec, const Json& attributes) {
  complete_codecs(spec.codecs, destination.codecs(), spec.dtype);
  spec.keys = KeyEncoding{.separator = spec.keys.separator};
  spec.attributes = attributes;
  SHERD_TRY(document, destination.format->array_document(spec));
  return destination.format->lower(std::move(document), destination.config.limits);
}

}  // namespace sherd
