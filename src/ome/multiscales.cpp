// Reads and writes OME-NGFF's `multiscales`. Its points are the centres of elements, those of volumes their corners.
// The centre of the finest level's first element is equated with the corner of a volume, so that a volume at 0 has a
// translation of 0, and all levels of both cover the same space.
#include <cmath>

#include "array/nodes.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "neuroglancer/document.hpp"
#include "node/path.hpp"
#include "ome/early.hpp"
#include "ome/members.hpp"
#include "ome/ome.hpp"

namespace sherd {
namespace {

Error wrong(std::string_view member, std::string message) { return corrupt(std::move(message)).in_member(member); }

Result<std::vector<double>> numbers(const Json* list, std::size_t rank, std::string_view member) {
  if (list == nullptr || list->elements().size() != rank)
    return wrong(member, "must be a list of " + std::to_string(rank) + " numbers, one per axis");
  std::vector<double> values;
  for (const Json& element : list->elements()) {
    const auto value = element.as_double();
    if (!value || !std::isfinite(*value)) return wrong(member, "must be finite numbers");
    values.push_back(*value);
  }
  return values;
}

// Elements are multiplied by the scale, then moved by the translation.
struct Transform {
  std::vector<double> scale, translation;
};

Result<Transform> transform_of(const Json* list, std::size_t rank, const std::string& member) {
  Transform result{std::vector<double>(rank, 1), std::vector<double>(rank, 0)};
  if (list == nullptr) return result;
  if (!list->is_array()) return wrong(member, "must be a list of transformations");
  for (const Json& step : list->elements()) {
    const Json* type = step.find("type");
    const std::string name = type == nullptr ? "" : type->text();
    if (name == "identity") continue;
    if (name != "scale" && name != "translation")
      return wrong(member, "must be transformations of the types scale and translation, not '" + name + "'");
    SHERD_TRY(values, numbers(step.find(name), rank, member));
    for (std::size_t d = 0; d < rank; ++d) {
      if (name == "translation") {
        result.translation[d] += values[d];
        continue;
      }
      if (!(values[d] > 0)) return wrong(member, "has a scale that is not positive");
      result.translation[d] *= values[d];  // an earlier translation is scaled, too
      result.scale[d] = spacing_product(result.scale[d], values[d]);
    }
  }
  return result;
}

Result<void> read_axes(const Json* list, Image& image) {
  if (list == nullptr || list->elements().empty()) return wrong("axes", "must be a list of axes");
  std::vector<std::string> names;
  for (const Json& axis : list->elements()) {
    const auto text = [&](std::string_view key) {
      const Json* value = axis.find(key);
      return value == nullptr ? std::string() : value->text();
    };
    const std::string type = text("type");
    names.push_back(type == "channel" ? "c" : type == "time" ? "t" : axis.is_string() ? axis.text() : text("name"));
    image.units.push_back(text("unit"));
  }
  auto axes = axis_names(names);
  if (!axes) return wrong("axes", axes.error().message());
  image.axes = *std::move(axes);
  return {};
}

double corner(double translation, double spacing, double finest) {
  return (translation - (spacing - finest) / 2) / spacing;
}
double centre(double offset, double spacing, double finest) { return tidy(offset * spacing + (spacing - finest) / 2); }

Result<Image> read_image(const Json& json) {
  Image image;
  SHERD_TRY(read_axes(json.find("axes"), image));
  const std::size_t rank = image.axes.size();
  SHERD_TRY(outer, transform_of(json.find("coordinateTransformations"), rank, "coordinateTransformations"));
  const Json* datasets = json.find("datasets");
  if (datasets == nullptr || datasets->elements().empty()) return wrong("datasets", "must be a list of resolutions");
  for (std::size_t i = 0; i < datasets->elements().size(); ++i) {
    const std::string member = "datasets[" + std::to_string(i) + "]";
    const Json& dataset = datasets->elements()[i];
    const Json* path = dataset.find("path");
    if (path == nullptr || path->text().empty()) return wrong(member + ".path", "must be the path of an array");
    if (const auto normal = normal_path(path->text()); !normal)
      return wrong(member + ".path", normal.error().message());
    SHERD_TRY(own,
              transform_of(dataset.find("coordinateTransformations"), rank, member + ".coordinateTransformations"));
    ImageLevel level{path->text(), std::vector<double>(rank), std::vector<double>(rank)};
    for (std::size_t d = 0; d < rank; ++d) {
      level.spacing[d] = spacing_product(own.scale[d], outer.scale[d]);
      const double finest = image.levels.empty() ? level.spacing[d] : image.levels.front().spacing[d];
      level.offset[d] = corner(own.translation[d] * outer.scale[d] + outer.translation[d], level.spacing[d], finest);
    }
    image.levels.push_back(std::move(level));
  }
  if (const Json* name = json.find("name")) image.name = *name;
  return image;
}

Json numbers_of(const std::vector<double>& values) { return neuroglancer::numbers_json(values); }

/// Adds where the attributes of a group are stored.
template <class T>
Result<T> in_attributes(Result<T> result, const NodeLocation& group) {
  return std::move(result)
      .in_member(attributes_member(*group.format))
      .in_key(attributes_key(*group.format, group.path));
}

Json axis_json(const Image& image, std::size_t d) {
  Json axis{Json::Object{{"name", image.axes[d]}}};
  axis.set("type", image.is_spatial(d) ? "space" : image.axes[d] == "t" ? "time" : "channel");
  if (!image.units[d].empty()) axis.set("unit", image.units[d]);
  return axis;
}

Json multiscales(const Image& image) {
  Json axes{Json::Array{}}, datasets{Json::Array{}};
  for (std::size_t d = 0; d < image.axes.size(); ++d) axes.push_back(axis_json(image, d));
  for (const ImageLevel& level : image.levels) {
    const auto number = static_cast<std::size_t>(&level - image.levels.data());
    Json steps{Json::Array{}};
    steps.push_back(Json::Object{{"type", "scale"}, {"scale", numbers_of(level.spacing)}});
    steps.push_back(Json::Object{{"type", "translation"}, {"translation", numbers_of(translation_of(image, number))}});
    datasets.push_back(Json::Object{{"path", level.path}, {"coordinateTransformations", std::move(steps)}});
  }
  Json first{Json::Object{}};
  if (!image.name.is_null()) first.set("name", image.name);
  first.set("axes", std::move(axes));
  first.set("datasets", std::move(datasets));
  return Json::Array{std::move(first)};
}

}  // namespace

std::vector<double> translation_of(const Image& image, std::size_t level) {
  const ImageLevel& own = image.levels[level];
  std::vector<double> translation;
  for (std::size_t d = 0; d < image.axes.size(); ++d)
    translation.push_back(centre(own.offset[d], own.spacing[d], image.levels.front().spacing[d]));
  return translation;
}

Result<Image> image_in(const Json& attributes, std::size_t number) {
  const Json* all = ome_member(attributes, "multiscales");
  const std::string member = indexed("multiscales", number);
  if (all == nullptr || number >= all->elements().size()) return wrong(member, "does not exist");
  SHERD_TRY(image, read_image(all->elements()[number]).in_member(member));
  read_label(ome_members(attributes), image);
  if (const Json* info = attributes.find(kVolumeInfo)) image.info = *info;
  return image;
}

Result<Json> ome_attributes(const NodeLocation& group, const Json& attributes) {
  const auto find = [&](const std::string& path) -> Result<std::optional<OmeArray>> {
    const NodeLocation location = at_path(group, join_path(group.path, path));
    SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
    if (!node || !node->array) return std::optional<OmeArray>();
    return std::optional(OmeArray{node->array->shape, node->array->dtype});
  };
  return in_attributes(with_early_converted(attributes, find), group);
}

Result<std::optional<Image>> image_of_group(const NodeLocation& group, const Json& given) {
  const Json* all = ome_member(given, "multiscales");
  if (all == nullptr || all->elements().empty()) return std::optional<Image>();
  SHERD_TRY(attributes, in_store(ome_attributes(group, given), group.store->url()));
  auto image = image_in(attributes, 0);
  if (!image && attributes.find("ome") != nullptr) image = std::move(image).in_member("ome");
  SHERD_TRY(found, in_store(in_attributes(std::move(image), group), group.store->url()));
  return std::optional(std::move(found));
}

Result<std::optional<Json>> describe_image(const Group& group) {
  const Json attributes = group.attributes();
  SHERD_TRY(image, image_of_group(location_of(group), attributes));
  if (!image) return std::optional<Json>();
  Json axes{Json::Array{}}, levels{Json::Array{}}, labels{Json::Array{}};
  for (std::size_t d = 0; d < image->axes.size(); ++d) axes.push_back(axis_json(*image, d));
  for (std::size_t i = 0; i < image->levels.size(); ++i) {
    const ImageLevel& level = image->levels[i];
    const auto node = group.open(level.path);
    const Array* array = node ? std::get_if<Array>(&*node) : nullptr;
    levels.push_back(Json::Object{{"path", level.path},
                                  {"shape", array != nullptr ? Json::numbers(array->shape()) : Json()},
                                  {"dtype", array != nullptr ? Json(array->dtype().name()) : Json()},
                                  {"scale", numbers_of(level.spacing)},
                                  {"translation", numbers_of(translation_of(*image, i))}});
  }
  const auto below = group.open("labels");
  const Group* of_labels = below ? std::get_if<Group>(&*below) : nullptr;
  const Json listed = of_labels != nullptr ? of_labels->attributes() : Json();
  if (const Json* list = ome_member(listed, "labels"))
    for (const Json& name : list->elements()) labels.push_back(name);
  const Json* omero = ome_member(attributes, "omero");
  const bool is_old = attributes.find("ome") == nullptr;
  const Json* version =
      (is_old ? attributes.find("multiscales")->elements().front() : *attributes.find("ome")).find("version");
  return std::optional(Json(Json::Object{{"version", version != nullptr ? *version : Json(is_old ? "0.4" : "0.5")},
                                         {"name", image->name},
                                         {"axes", std::move(axes)},
                                         {"levels", std::move(levels)},
                                         {"labels", std::move(labels)},
                                         {"is_label", image->labels},
                                         {"omero", omero != nullptr ? *omero : Json()}}));
}

Json group_attributes(const Image& image, Json given, const DType& dtype) {
  const Json* present = given.find("ome");
  Json ome = present != nullptr ? *present : Json();
  ome.set("version", "0.5");
  ome.set("multiscales", multiscales(image));
  write_label(image, ome);
  Json* omero = ome.find("omero");
  if (!image.channels.is_null() && omero == nullptr) omero = &ome.set("omero", Json(Json::Object{}));
  if (omero != nullptr && omero->is_object()) {
    const Json* channels = omero->find("channels");
    Json complete = complete_channels(channels != nullptr ? *channels : image.channels, dtype);
    if (complete.is_null())
      ome.erase("omero");
    else
      omero->set("channels", std::move(complete));
  }
  given.set("ome", std::move(ome));
  if (!image.info.is_null()) given.set(kVolumeInfo, image.info);
  return given;
}

}  // namespace sherd
