// Collects the properties of an image: from the info of a volume, the OME-NGFF metadata of a group around the array,
// the volume that shares its shards, and the array's own dimension names and attributes.
#include "io/axes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "array/array_state.hpp"
#include "array/nodes.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/dual_format.hpp"
#include "node/path.hpp"
#include "ome/ome.hpp"
#include "ome/units.hpp"

namespace sherd {
namespace {

/// A resolution's path in its group has one name, or two if each has a group of its own.
constexpr int kGroupsAround = 3;

// The group of an image that has the array as one of its resolutions.
struct ImageAround {
  NodeLocation location;
  Json attributes;
  Image image;
  std::size_t level = 0;
};

// The number of the resolution that is stored at `below`.
std::optional<std::size_t> level_at(const Json& attributes, const std::string& below) {
  const auto datasets = ome_datasets(attributes);
  for (std::size_t i = 0; i < datasets.size() && datasets[i].image == 0; ++i) {
    const auto normal = normal_path(datasets[i].path);
    if (normal && *normal == below) return i;
  }
  return std::nullopt;
}

Result<std::optional<ImageAround>> image_at(const NodeLocation& group, const std::string& below) {
  // An unreadable group gives no information about the array.
  const auto node = group.format->open(*group.store, group.path, group.config.limits);
  if (!node || !*node || (*node)->type != NodeType::group) return std::optional<ImageAround>();
  const auto level = level_at((*node)->attributes, below);
  if (!level) return std::optional<ImageAround>();
  SHERD_TRY(image, image_of_group(group, (*node)->attributes));
  return std::optional(ImageAround{group, (*node)->attributes, *std::move(image), *level});
}

// An array that was opened by its own URL is the root of its store; its group is in a store around it.
Result<std::optional<ImageAround>> image_above(const NodeLocation& array, std::string below, int groups) {
  NodeLocation group = array;
  group.path.clear();
  for (; groups > 0; --groups) {
    auto above = group.store->parent();
    if (!above || !*above) break;
    group.store = std::move((*above)->store);
    below = join_path((*above)->name, below);
    auto format = array.format->in(*group.store, array.config.limits);
    if (!format || *format == nullptr) continue;
    group.format = *std::move(format);
    SHERD_TRY(found, image_at(group, below));
    if (found) return found;
  }
  return std::optional<ImageAround>();
}

Result<std::optional<ImageAround>> image_around(const NodeLocation& array) {
  std::string path = array.path, below;
  int groups = kGroupsAround;
  for (; groups > 0 && !path.empty(); --groups) {
    below = join_path(std::string(last_segment(path)), below);
    path.resize(parent_path(path).size());
    SHERD_TRY(found, image_at(at_path(array, path), below));
    if (found) return found;
  }
  return image_above(array, std::move(below), groups);
}

std::optional<std::uint32_t> parse_colour(const Json* json) {
  if (json == nullptr || !json->is_string()) return std::nullopt;
  std::string_view text = json->text();
  if (text.starts_with('#')) text.remove_prefix(1);
  if (text.size() != 6 && text.size() != 8) return std::nullopt;  // eight if there is an opacity
  text = text.substr(0, 6);
  std::uint32_t colour = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), colour, 16);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return colour;
}

// `colors` of OME-NGFF's `image-label`, as far as they are valid. An opacity is applied over black.
LabelColours label_colours_of(const Json& label) {
  LabelColours colours;
  const Json* list = label.find("colors");
  if (list == nullptr) return colours;
  for (const Json& each : list->elements()) {
    const Json* value = each.find("label-value");
    const Json* rgba = each.find("rgba");
    if (value == nullptr || rgba == nullptr || rgba->elements().size() < 3) continue;
    std::optional<std::uint64_t> id = value->as_uint();
    if (const auto negative = value->as_int(); !id && negative) id = static_cast<std::uint64_t>(*negative);
    std::uint32_t colour = 0;
    const std::uint64_t opacity = rgba->elements().size() > 3 ? rgba->elements()[3].as_uint().value_or(256) : 255;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint64_t light = rgba->elements()[i].as_uint().value_or(256);
      if (light > 255 || opacity > 255) id.reset();
      colour = colour << 8 | static_cast<std::uint32_t>((light * opacity + 127) / 255);
    }
    if (id) colours.insert_or_assign(*id, colour);
  }
  return colours;
}

// `channels` of OME-NGFF's `omero` or of an array, as far as they are valid: they only describe how to show the
// data.
std::vector<ImageChannel> channels_of(const Json& parent) {
  std::vector<ImageChannel> channels;
  const Json* list = parent.find("channels");
  if (list == nullptr) return channels;
  for (const Json& each : list->elements()) {
    ImageChannel channel;
    if (const Json* label = each.find("label"); label != nullptr && label->is_string()) channel.name = label->text();
    channel.colour = parse_colour(each.find("color"));
    if (const Json* active = each.find("active"); active != nullptr) channel.active = active->as_bool().value_or(true);
    if (const Json* window = each.find("window"); window != nullptr) {
      const Json* start = window->find("start");
      const Json* end = window->find("end");
      const auto low = start == nullptr ? std::nullopt : start->as_double();
      const auto high = end == nullptr ? std::nullopt : end->as_double();
      if (low && high && std::isfinite(*high - *low) && *low < *high) channel.window = std::pair(*low, *high);
    }
    channels.push_back(std::move(channel));
  }
  return channels;
}

std::vector<ImageAxis> axes_of(const Image& image, std::size_t level) {
  std::vector<ImageAxis> axes;
  const std::vector<double>& finest = image.levels.front().spacing;
  const ImageLevel& own = image.levels[level];
  for (std::size_t d = 0; d < image.axes.size(); ++d) {
    ImageAxis axis{.name = image.axes[d], .unit = image.units[d]};
    if (axis.name != "c") axis.spacing = own.spacing[d];
    // Offsets are those of corners; the origin is the centre, relative to the finest resolution's first element.
    axis.origin = own.offset[d] * own.spacing[d] + (own.spacing[d] - finest[d]) / 2;
    axes.push_back(std::move(axis));
  }
  return axes;
}

// Keeps the data of one scale in a volume's info; nothing if that scale does not exist.
void keep_scale(Json& info, std::size_t scale) {
  const Json* scales = info.find("scales");
  if (scales == nullptr || scale >= scales->elements().size())
    info = Json();
  else
    info.set("scales", Json(Json::Array{Json(scales->elements()[scale])}));
}

std::optional<double> number_at(const Json* list, std::size_t rank, std::size_t d) {
  if (list == nullptr || list->elements().size() != rank) return std::nullopt;
  const auto value = list->elements()[d].as_double();
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// From names and attributes of the array alone. Attributes in another form than in docs/files.md are ignored.
std::vector<ImageAxis> axes_of(const Array& array, const Json& attributes) {
  const std::size_t rank = array.ndim();
  const auto names = array.dimension_names();
  std::vector<ImageAxis> axes(rank);
  const Json* units = attributes.find("units");
  for (std::size_t d = 0; d < rank; ++d) {
    if (d < names.size()) axes[d].name = short_axis_name(names[d].value_or(""));
    axes[d].spacing = number_at(attributes.find("spacing"), rank, d);
    if (units != nullptr && units->elements().size() == rank) axes[d].unit = units->elements()[d].text();
    axes[d].origin = number_at(attributes.find("voxel_offset"), rank, d).value_or(0) * axes[d].spacing.value_or(1);
  }
  for (std::size_t d = 0; d < rank; ++d)
    for (std::size_t e = 0; e < d; ++e)
      if (!axes[d].name.empty() && axes[d].name == axes[e].name)
        for (ImageAxis& axis : axes) axis.name.clear();  // two have the same name: it is unclear which is meant
  return axes;
}

// The affine for voxels of a coarser resolution, from that of the finest one.
AffineMatrix coarser_affine(const AffineMatrix& finest, const Image& image, std::size_t level) {
  AffineMatrix affine = finest;
  const std::vector<ImageAxis> from = axes_of(image, 0), to = axes_of(image, level);
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t d = dimension_of(image.axes, std::string_view("xyz").substr(k, 1));
    if (d == image.axes.size()) continue;
    const double step = *from[d].spacing;
    for (std::size_t r = 0; r < 3; ++r) {
      affine[r][3] += finest[r][k] * (to[d].origin - from[d].origin) / step;
      affine[r][k] = finest[r][k] * *to[d].spacing / step;
    }
  }
  return affine;
}

// Properties of space and values that only the finest resolution stores apply also to the coarser ones made from it.
void inherit(ImageFacts& facts, const ImageAround& around) {
  const auto path = normal_path(around.image.levels.front().path);
  if (!path) return;
  const NodeLocation& group = around.location;
  const auto node = group.format->open(*group.store, join_path(group.path, *path), group.config.limits);
  if (!node || !*node || !(*node)->array || (*node)->array->shape.size() != facts.axes.size()) return;
  const Json& finest = (*node)->attributes;
  for (const char* name : {"scl_slope", "scl_inter", "nifti"})
    if (const Json* known = finest.find(name); known != nullptr && facts.attributes.find(name) == nullptr)
      facts.attributes.set(name, *known);
  if (Json* more = facts.attributes.find("nifti"); more != nullptr) more->erase("qform");
  const Json* affine = finest.find("affine");
  const auto matrix = affine == nullptr ? std::nullopt : parse_affine(*affine);
  const Json* units = finest.find("units");
  if (!matrix || units == nullptr || units->elements().size() != facts.axes.size()) return;
  for (std::size_t d = 0; d < facts.axes.size(); ++d)  // in which the affine is
    if (facts.axes[d].is_spatial() && nanometres(units->elements()[d].text()) != nanometres(facts.axes[d].unit)) return;
  facts.attributes.set("affine", affine_json(coarser_affine(*matrix, around.image, around.level)));
}

Result<std::optional<ImageFacts>> facts_of_volume(const Array::State& state) {
  const NodeDocument document = state.document();
  std::vector<std::string> axes{"x", "y", "z", "c"};
  Json info;
  std::size_t scale = 0;
  if (!state.location.format->arrays_have_documents()) {
    info = *neuroglancer::info_in(document.document);
    scale = document.document.find("scale")->as_uint().value_or(0);
  } else {
    SHERD_TRY(counterpart, find_volume_counterpart(state.location, document));
    if (!counterpart) return std::optional<ImageFacts>();
    std::vector<std::string> seen(counterpart->dimensions.size());
    for (std::size_t k = 0; k < seen.size(); ++k) seen[counterpart->dimensions[k]] = axes[k];
    axes = std::move(seen);
    info = std::move(counterpart->info);
  }
  ImageFacts facts;
  const auto image = image_of_volume(info, std::nullopt, axes);
  if (!image) {  // not really a resolution; the axes are known anyway
    for (std::string& axis : axes) facts.axes.push_back({.name = std::move(axis)});
    return std::optional(std::move(facts));
  }
  facts.axes = axes_of(*image, std::min(scale, image->levels.size() - 1));
  facts.labels = image->labels;
  return std::optional(std::move(facts));
}

}  // namespace

std::optional<std::size_t> ImageFacts::find(std::string_view name) const {
  const auto found = std::ranges::find(axes, name, &ImageAxis::name);
  return found == axes.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - axes.begin()));
}

bool ImageFacts::is_interleaved() const {
  const std::size_t rank = axes.size();
  return rank > 2 && axes[rank - 1].name == "c" && axes[rank - 2].name == "x" && axes[rank - 3].name == "y";
}

bool ImageFacts::has_colour_samples(const Shape& shape, const DType& dtype) const {
  const auto c = find("c");
  if (!c || labels || dtype != DType::uint8 || (shape[*c] != 3 && shape[*c] != 4)) return false;
  constexpr std::uint32_t kPrimaries[] = {0xff0000, 0x00ff00, 0x0000ff};
  for (std::size_t i = 0; i < std::min<std::size_t>(channels.size(), 3); ++i)
    if (channels[i].colour && channels[i].colour != kPrimaries[i]) return false;
  return true;
}

Result<ImageFacts> find_image_facts(const Array& array) {
  const Array::State& state = array.state();
  ImageFacts facts;
  facts.attributes = array.attributes();
  facts.axes = axes_of(array, facts.attributes);
  const auto c = facts.find("c");
  facts.channels = channels_of(facts.attributes);
  if (const Json* label = facts.attributes.find(kImageLabel)) {
    facts.labels = true;
    facts.label_colours = label_colours_of(*label);
  }
  // Those of another image, as with copy --pyramid.
  if (facts.channels.size() != (c ? array.shape()[*c] : 1)) facts.channels.clear();
  // An affine and the spacing next to it are from the same file.
  const auto take_axes = [&](const std::vector<ImageAxis>& axes) {
    for (std::size_t d = 0; d < axes.size(); ++d)
      if (facts.attributes.find("affine") == nullptr)
        facts.axes[d] = axes[d];
      else
        facts.axes[d].name = axes[d].name;
  };
  SHERD_TRY(volume, in_store(facts_of_volume(state), array.store()->url()));
  if (volume) {
    take_axes(volume->axes);
    facts.labels = volume->labels;
    return facts;
  }
  SHERD_TRY(around, image_around(state.location));
  if (!around) return facts;
  if (around->image.axes.size() != facts.axes.size())
    return in_store(
        corrupt("does not have as many dimensions as the image has axes").in_key(state.document_key).in_member("shape"),
        array.store()->url());
  if (const Json* omero = ome_member(around->attributes, "omero"); omero != nullptr)
    facts.channels = channels_of(*omero);
  facts.labels = around->image.labels;
  facts.label_colours = label_colours_of(around->image.label);
  take_axes(axes_of(around->image, around->level));
  if (around->level > 0) inherit(facts, *around);
  if (around->image.name.is_string()) facts.attributes.set("image_name", around->image.name);
  return facts;
}

Result<std::optional<SingleLevel>> find_single_level(const Array& array, bool into_volume) {
  const NodeLocation& location = array.state().location;
  SHERD_TRY(around, image_around(location));
  if (!around) return std::optional<SingleLevel>();
  if (around->image.axes.size() != array.ndim())
    return in_store(corrupt("does not have as many dimensions as the image has axes")
                        .in_key(array.state().document_key)
                        .in_member("shape"),
                    array.store()->url());
  ImageFacts facts{.axes = axes_of(around->image, around->level), .attributes = array.attributes()};
  if (around->level > 0) inherit(facts, *around);
  Image& image = around->image;
  ImageLevel own = image.levels[around->level];
  own.path.clear();
  for (std::size_t d = 0; d < own.offset.size() && !into_volume; ++d)
    own.offset[d] = facts.axes[d].origin / own.spacing[d];
  image.levels = {std::move(own)};
  if (const Json* omero = ome_member(around->attributes, "omero");
      omero != nullptr && omero->find("channels") != nullptr)
    image.channels = *omero->find("channels");
  keep_scale(image.info, around->level);
  return std::optional(SingleLevel{std::move(image), std::move(facts.attributes)});
}

Result<std::optional<Array>> open_level(const Group& group, std::uint64_t level) {
  SHERD_TRY(image, image_of_group(location_of(group), group.attributes()));
  if (!image) return std::optional<Array>();
  if (level >= image->levels.size())
    return not_found(group.url() + " has no level " + std::to_string(level) + "; it has " +
                     std::to_string(image->levels.size()) + ", the finest is 0");
  SHERD_TRY(node, group.open(image->levels[level].path));
  Array* array = std::get_if<Array>(&node);
  if (array == nullptr) return corrupt("the resolution '" + image->levels[level].path + "' is not an array");
  return std::optional(std::move(*array));
}

}  // namespace sherd
