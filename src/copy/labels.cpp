// OME-NGFF stores the labels of an image in its group `labels`, whose metadata list their names; each has as many
// resolutions as the image.
#include "copy/labels.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

constexpr std::string_view kLabels = "labels";
constexpr double kLargestFactor = 512;  // see Pyramid::Factor

std::string levels_text(std::size_t count) { return std::to_string(count) + (count == 1 ? " level" : " levels"); }

Error other_levels(const LabelledImage& to, std::size_t levels) {
  return invalid_argument("labels have as many levels as their image, which has " +
                          levels_text(to.image.levels.size()) + ", and not " + std::to_string(levels) +
                          "; use a pyramid of modes with " + std::to_string(to.image.levels.size() - 1) + " more")
      .in_member("pyramid");
}

// How much coarser each level of the image is along the axes of the labels; empty if this differs between levels.
std::vector<Pyramid::Factor> factors_of(const Image& image, const Image& labels) {
  std::vector<Pyramid::Factor> factors;
  for (std::size_t d = 0; d < image.axes.size(); ++d) {
    std::uint64_t factor = 0;
    for (std::size_t i = 1; i < image.levels.size(); ++i) {
      const double ratio = image.levels[i].spacing[d] / image.levels[i - 1].spacing[d];
      const double whole = std::round(ratio);  // some writers compute the ratio of the lengths, such as 17/9
      if (!(whole >= 1 && whole <= kLargestFactor) || (i > 1 && whole != static_cast<double>(factor))) return {};
      factor = static_cast<std::uint64_t>(whole);
    }
    if (factor > 1 && dimension_of(labels.axes, image.axes[d]) != labels.axes.size())
      factors.push_back({image.axes[d], factor});
  }
  return factors;
}

}  // namespace

namespace {

// The destination in a store that contains its group and the group around that, if there is one.
NodeLocation with_groups(const NodeLocation& destination) {
  NodeLocation location = destination;
  while (std::ranges::count(location.path, '/') < 1) {
    auto above = location.store->parent();
    if (!above || !*above) break;
    location.path = join_path((*above)->name, location.path);
    location.store = std::move((*above)->store);
  }
  return location;
}

}  // namespace

Result<std::optional<LabelledImage>> find_labelled_image(const NodeLocation& destination) {
  using Found = std::optional<LabelledImage>;
  if (!destination.format->arrays_have_documents()) return Found();
  NodeLocation location = with_groups(destination);
  const std::string whole = location.path;
  const auto parts = split_key(whole);  // the prefix ends in '/'
  if (parts.prefix.empty()) return Found();
  const auto labels = split_key(parts.prefix.substr(0, parts.prefix.size() - 1));
  if (labels.name != kLabels) return Found();
  location.path = std::string(labels.prefix);
  if (!location.path.empty()) location.path.pop_back();
  auto format = destination.format->in(*location.store, location.config.limits);
  if (!format || *format == nullptr) return Found();
  location.format = *std::move(format);
  const auto node = location.format->open(*location.store, location.path, location.config.limits);
  if (!node || !*node || (*node)->type != NodeType::group) return Found();
  SHERD_TRY(image, image_of_group(location, (*node)->attributes));
  if (!image) return Found();
  return Found({std::move(location), *std::move(image), std::string(parts.name)});
}

std::string made_levels(const LabelledImage& to, std::size_t levels) {
  return levels_text(levels) + ", and its image " + std::to_string(to.image.levels.size()) +
         ": the copy has as many as the image, made of the finest, as OME-NGFF requires";
}

Result<std::optional<LabelledImage>> image_of_labels(const NodeLocation& location, const OmeGroup& labels) {
  using Found = std::optional<LabelledImage>;
  if (labels.multiscales != 1 || labels.datasets.empty()) return Found();
  const NodeLocation around = at_path(location, std::string(parent_path(parent_path(location.path))));
  SHERD_TRY(node, around.format->open(*around.store, around.path, around.config.limits));
  if (!node || node->type != NodeType::group) return Found();
  const auto group = ome_group(node->attributes, around.path);
  if (!group || group->multiscales != 1 || group->datasets.size() == labels.datasets.size()) return Found();
  SHERD_TRY(attributes, in_store(ome_attributes(around, node->attributes), around.store->url()));
  const auto image = image_of_group(around, attributes);
  if (!image || !*image) return Found();  // what is invalid stays so
  return Found({around, **image, std::string(last_segment(location.path))});
}

Result<CopyOptions> options_of_labels(const LabelledImage& to, const Image& labels, CopyOptions options) {
  if (options.type == "image")
    return std::move(invalid_argument("must be segmentation: the copy is one of the labels of an image"))
        .in_member("type");
  options.type = "segmentation";
  const std::size_t levels = to.image.levels.size();
  if (!options.pyramid && labels.levels.size() == levels) return options;
  if (!options.pyramid && labels.levels.size() != 1) return other_levels(to, labels.levels.size());
  if (!options.pyramid) options.pyramid = Pyramid{.method = Pyramid::Method::mode};
  Pyramid& pyramid = *options.pyramid;
  if (pyramid.method == Pyramid::Method::mean)
    return std::move(invalid_argument("must be mode: the mean of labels is not a label")).in_member("pyramid");
  if (pyramid.levels && *pyramid.levels + 1 != levels) return other_levels(to, *pyramid.levels + 1);
  pyramid.levels = levels - 1;
  if (pyramid.factors.empty()) pyramid.factors = factors_of(to.image, labels);
  return options;
}

namespace {

bool has_no_space(const Image& image) {
  const auto all = [](const auto& list, const auto& value) {
    return std::ranges::count(list, value) == std::ssize(list);
  };
  const ImageLevel& finest = image.levels.front();
  return image.levels.size() == 1 && all(image.units, "") && all(finest.spacing, 1.0) && all(finest.offset, 0.0);
}

}  // namespace

Result<void> adopt_space(const LabelledImage& of, const Shape& shape, Image& labels,
                         const std::function<void(const std::string&)>& note) {
  if (!has_no_space(labels)) return {};
  const ImageLevel& from = of.image.levels.front();
  const NodeLocation array = at_path(of.location, join_path(of.location.path, from.path));
  SHERD_TRY(node, array.format->open(*array.store, array.path, array.config.limits));
  if (!node || !node->array || node->array->shape.size() != of.image.axes.size()) return {};
  Image placed = labels;
  ImageLevel& to = placed.levels.front();
  for (std::size_t d = 0; d < labels.axes.size(); ++d) {
    const std::size_t same = dimension_of(of.image.axes, labels.axes[d]);
    if (same == of.image.axes.size()) continue;
    if (const std::uint64_t length = node->array->shape[same]; labels.is_spatial(d) && shape[d] != length) {
      if (note)
        note("the labels have " + std::to_string(shape[d]) + " elements along " + labels.axes[d] + ", and the image " +
             std::to_string(length) + ": their spacing and position in it are not known");
      return {};
    }
    placed.units[d] = of.image.units[same];
    to.spacing[d] = from.spacing[same];
    to.offset[d] = from.offset[same];
  }
  labels = std::move(placed);
  return {};
}

Result<void> check_levels(const LabelledImage& to, std::size_t levels) {
  if (levels == to.image.levels.size()) return {};
  return other_levels(to, levels);
}

void refer_to_image(Image& labels) {
  if (!labels.label.is_object()) labels.label = Json(Json::Object{});
  if (labels.label.find("source") == nullptr) labels.label.set("source", Json::Object{{"image", "../../"}});
}

Result<void> list_labels(const LabelledImage& of) {
  NodeLocation location = at_path(of.location, join_path(of.location.path, kLabels));
  location.writable = true;
  const Format& format = *location.format;
  // Others may list theirs at the same time.
  SHERD_TRY(edit_document(location, NodeType::group, [&](const NodeDocument& now) -> Result<Json> {
    const Json attributes = with_label(now.attributes, of.name, ome_version_of(format));
    if (attributes == now.attributes) return now.document;
    return format.changed(now.document, {.attributes = attributes});
  }));
  return renew_consolidated(location);
}

}  // namespace sherd
