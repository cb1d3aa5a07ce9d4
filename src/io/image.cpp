// OME-NGFF 0.5 (https://ngff.openmicroscopy.org/0.5) and what Sherd's own attributes say, read and written. OME-NGFF's
// points are the centres of elements, those of volumes their corners: the centre of the finest level's first element is
// taken to be where a volume has its corner, so that a volume at 0 is translated by 0, and all levels of both cover the
// same space.
#include "io/image.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "codec/number.hpp"
#include "io/units.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/document.hpp"

namespace sherd {
namespace {

using neuroglancer::VolumeInfo;

constexpr std::string_view kInfo = "neuroglancer_info";  // of our attributes
constexpr std::string_view kLabel = "image-label";       // of a group's `ome`, or of an array's own attributes
constexpr double kFarthest = 0x1p62;

// A unit that is not known stays, and is refused where it would have to be nanometres.
std::string_view unit_of_length(std::string_view name) {
  if (const Unit* unit = find_unit(name); unit != nullptr && unit->kind == Unit::Kind::length) return unit->name;
  return name == "pixel" || name == "voxel" ? "" : name;
}

std::string_view unit_of_time(std::string_view name) {
  const Unit* unit = find_unit(name);
  return unit != nullptr && unit->kind == Unit::Kind::time ? unit->name : "";
}

double product(double a, double b) { return a == 1 || b == 1 ? a * b : tidy(a * b); }

Error wrong(std::string_view member, std::string message) {
  return corrupt(std::move(message)).in_member("attributes.ome.multiscales[0]." + std::string(member));
}

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

// A scale and, perhaps, a translation after it.
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
    if (name == "translation") {
      result.translation = std::move(values);
      continue;
    }
    for (const double value : values)
      if (!(value > 0)) return wrong(member, "has a scale that is not positive");
    result.scale = std::move(values);
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

Json numbers_of(const std::vector<double>& values) { return neuroglancer::numbers_json(values); }

Json multiscales(const Image& image) {
  Json axes{Json::Array{}}, datasets{Json::Array{}};
  for (std::size_t d = 0; d < image.axes.size(); ++d) {
    Json axis{Json::Object{{"name", image.axes[d]}}};
    axis.set("type", image.is_spatial(d) ? "space" : image.axes[d] == "t" ? "time" : "channel");
    if (!image.units[d].empty()) axis.set("unit", image.units[d]);
    axes.push_back(std::move(axis));
  }
  for (const ImageLevel& level : image.levels) {
    std::vector<double> translation;
    translation.reserve(image.axes.size());
    for (std::size_t d = 0; d < image.axes.size(); ++d)
      translation.push_back(centre(level.offset[d], level.spacing[d], image.levels.front().spacing[d]));
    Json steps{Json::Array{}};
    steps.push_back(Json::Object{{"type", "scale"}, {"scale", numbers_of(level.spacing)}});
    steps.push_back(Json::Object{{"type", "translation"}, {"translation", numbers_of(translation)}});
    datasets.push_back(Json::Object{{"path", level.path}, {"coordinateTransformations", std::move(steps)}});
  }
  return Json::Array{Json::Object{{"axes", std::move(axes)}, {"datasets", std::move(datasets)}}};
}

// Least and greatest value of a type; 0 and 1 of floats, whose values have no bounds.
std::pair<Json, Json> bounds_of(const DType& dtype) {
  if (!is_integer(dtype)) return {Json(0), Json(1)};
  const auto bits = 8 * dtype.size();
  if (dtype.name().starts_with("u")) return {Json(0), Json(~std::uint64_t{0} >> (64 - bits))};
  const auto high = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
  return {Json(-high - 1), Json(high)};
}

// The attribute `channels` as OME-NGFF asks for it: with a colour and a window each. Null if it is not of this image.
Json channels_of(const Json& attributes, std::uint64_t count, const DType& dtype) {
  const Json* given = attributes.find("channels");
  if (given == nullptr || given->elements().size() != count) return {};
  const auto bounds = bounds_of(dtype);
  const Json &low = bounds.first, &high = bounds.second;
  Json channels{Json::Array{}};
  for (const Json& each : given->elements()) {
    if (!each.is_object()) return {};
    Json channel = each;
    if (channel.find("color") == nullptr) channel.set("color", "FFFFFF");
    channel.set("active", true);
    const Json* known = each.find("window");
    const auto end = [&](std::string_view name, const Json& otherwise) {
      const Json* value = known == nullptr ? nullptr : known->find(name);
      return value != nullptr && value->is_number() ? *value : otherwise;
    };
    const Json start = end("start", low), stop = end("end", high);
    channel.set("window", Json::Object{{"min", end("min", is_integer(dtype) ? low : start)},
                                       {"max", end("max", is_integer(dtype) ? high : stop)},
                                       {"start", start},
                                       {"end", stop}});
    channels.push_back(std::move(channel));
  }
  return channels;
}

// Numbers above `above` of an array's attribute, one per dimension; `absent` where that is missing or has a null. Text
// and objects of this name are foreign.
Result<std::vector<double>> listed(const Json& attributes, std::string_view name, std::size_t rank, double absent,
                                   double above) {
  std::vector<double> values(rank, absent);
  const Json* list = attributes.find(name);
  if (list == nullptr || !(list->is_array() || list->is_number())) return values;
  const Error bad = corrupt("must be a list of " + std::to_string(rank) +
                            (above < 0 ? " numbers" : " positive numbers") + ", one per dimension")
                        .in_member("attributes." + std::string(name));
  if (list->elements().size() != rank) return bad;
  for (std::size_t d = 0; d < rank; ++d) {
    if (list->elements()[d].is_null()) continue;
    const auto value = list->elements()[d].as_double();
    if (!value || !std::isfinite(*value) || !(*value > above)) return bad;
    values[d] = *value;
  }
  return values;
}

// The labels that `parent` says the image is, if it does.
void read_label(const Json& parent, Image& image) {
  const Json* label = parent.find(kLabel);
  image.labels = label != nullptr;
  if (label != nullptr) image.label = *label;
}

// What `parent` is to say: that of the image, unless it says so already.
void write_label(const Image& image, Json& parent) {
  if (!image.labels)
    parent.erase(kLabel);
  else if (parent.find(kLabel) == nullptr)
    parent.set(kLabel, image.label.is_null() ? Json(Json::Object{}) : image.label);
}

}  // namespace

std::string short_axis_name(const std::string& name) {
  std::string lower = name;
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  if (lower == "channel" || lower == "channels") return "c";
  if (lower == "time") return "t";
  return lower == "x" || lower == "y" || lower == "z" || lower == "c" || lower == "t" ? lower : name;
}

double tidy(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return std::strtod(text, nullptr);
}

std::size_t dimension_of(const std::vector<std::string>& axes, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(axes, name) - axes.begin());
}

std::string listed_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + (name.empty() ? "(no name)" : name);
  return text;
}

Result<std::vector<std::string>> axis_names(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& each : given) {
    std::string name = short_axis_name(each);
    if (name.size() != 1 || std::string_view("xyzct").find(name) == std::string_view::npos)
      return invalid_argument("'" + each + "' is not an axis; x, y, z, c (channel) and t (time) are");
    if (dimension_of(names, name) != names.size()) return invalid_argument("the axis " + name + " is given twice");
    names.push_back(std::move(name));
  }
  return names;
}

Result<std::optional<Image>> image_of_group(const Json& attributes) {
  const Json* ome = attributes.find("ome");
  const Json* all = (ome != nullptr ? *ome : attributes).find("multiscales");
  if (all == nullptr || all->elements().empty()) return std::optional<Image>();
  const Json& first = all->elements().front();
  Image image;
  SHERD_TRY(read_axes(first.find("axes"), image));
  const std::size_t rank = image.axes.size();
  SHERD_TRY(outer, transform_of(first.find("coordinateTransformations"), rank, "coordinateTransformations"));
  const Json* datasets = first.find("datasets");
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
      level.spacing[d] = product(own.scale[d], outer.scale[d]);
      const double finest = image.levels.empty() ? level.spacing[d] : image.levels.front().spacing[d];
      level.offset[d] = corner(own.translation[d] * outer.scale[d] + outer.translation[d], level.spacing[d], finest);
    }
    image.levels.push_back(std::move(level));
  }
  read_label(ome != nullptr ? *ome : attributes, image);
  if (const Json* info = attributes.find(kInfo)) image.info = *info;
  return std::optional(std::move(image));
}

Result<Image> image_of_array(const ArraySpec& spec, const Json& attributes, const std::vector<std::string>& axes) {
  const std::size_t rank = spec.shape.size();
  Image image;
  std::vector<std::string> given = axes;
  if (given.empty())
    for (const auto& name : spec.dimension_names) given.push_back(name.value_or(""));
  if (given.size() != rank)
    return std::move(invalid_argument(axes.empty()
                                          ? "the dimensions of the source have no names; name them (--axes z,y,x)"
                                          : "the array has " + std::to_string(rank) + " dimensions"))
        .in_member("axes");
  auto names = axis_names(given);
  if (!names && axes.empty())
    return std::move(invalid_argument("the dimensions of the source are " + listed_names(given) + ": " +
                                      names.error().message() + "; name them (--axes z,y,x)"))
        .in_member("axes");
  if (!names) return std::move(names).error().in_member("axes");
  image.axes = *std::move(names);
  const Json* units = attributes.find("units");
  for (std::size_t d = 0; d < rank; ++d) {
    const std::string unit = units != nullptr && units->elements().size() == rank && units->elements()[d].is_string()
                                 ? units->elements()[d].text()
                                 : "";
    image.units.emplace_back(image.is_spatial(d)    ? unit_of_length(unit)
                             : image.axes[d] == "t" ? unit_of_time(unit)
                                                    : "");
  }
  SHERD_TRY(spacing, listed(attributes, "spacing", rank, 1, 0));
  SHERD_TRY(offset, listed(attributes, "voxel_offset", rank, 0, -INFINITY));
  image.levels.push_back({"", std::move(spacing), std::move(offset)});
  const std::size_t channel = dimension_of(image.axes, "c");
  image.channels = channels_of(attributes, channel == rank ? 1 : spec.shape[channel], spec.dtype);
  read_label(attributes, image);
  if (const Json* info = attributes.find(kInfo)) image.info = *info;
  return image;
}

Result<Image> image_of_volume(const Json& info, std::optional<std::size_t> scale,
                              const std::vector<std::string>& axes) {
  SHERD_TRY(volume, VolumeInfo::parse(info));
  Image image;
  image.axes = axes;
  image.labels = volume.type == VolumeInfo::Type::segmentation;
  image.info = info;
  for (std::size_t d = 0; d < axes.size(); ++d) image.units.emplace_back(image.is_spatial(d) ? "nanometer" : "");
  if (scale) {
    Json one = image.info.find("scales")->elements()[*scale];
    image.info.set("scales", Json(Json::Array{std::move(one)}));
    volume.scales = {volume.scales[*scale]};
  }
  for (std::size_t i = 0; i < volume.scales.size(); ++i) {
    const auto& each = volume.scales[i];
    SHERD_TRY(neuroglancer::check_resolution(each).in_member("scales[" + std::to_string(scale.value_or(i)) + "]"));
    ImageLevel level{"", std::vector<double>(axes.size(), 1), std::vector<double>(axes.size(), 0)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::size_t d = dimension_of(axes, std::string_view("xyz").substr(axis, 1));
      level.spacing[d] = each.resolution[axis];
      level.offset[d] = static_cast<double>(each.voxel_offset[axis]);
    }
    image.levels.push_back(std::move(level));
  }
  return image;
}

Json group_attributes(const Image& image, Json given) {
  const Json* present = given.find("ome");
  Json ome = present != nullptr ? *present : Json();
  ome.set("version", "0.5");
  ome.set("multiscales", multiscales(image));
  write_label(image, ome);
  if (!image.channels.is_null() && ome.find("omero") == nullptr)
    ome.set("omero", Json(Json::Object{{"channels", image.channels}}));
  given.set("ome", std::move(ome));
  if (!image.info.is_null()) given.set(kInfo, image.info);
  return given;
}

Json array_attributes(const Image& image, Json given) {
  Json units{Json::Array{}};
  for (const std::string& unit : image.units) units.push_back(unit.empty() ? Json() : Json(unit));
  // An affine and the spacing next to it came from one file.
  if (given.find("affine") == nullptr || given.find("spacing") == nullptr) {
    given.set("spacing", numbers_of(image.levels.front().spacing));
    given.set("units", std::move(units));
  }
  given.set("voxel_offset", numbers_of(image.levels.front().offset));
  if (!image.channels.is_null()) given.set("channels", image.channels);
  write_label(image, given);
  if (!image.info.is_null()) given.set(kInfo, image.info);
  return given;
}

Result<std::array<double, 3>> resolution_of(const Image& image, std::size_t level) {
  std::array<double, 3> resolution{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t d = dimension_of(image.axes, std::string_view("xyz").substr(axis, 1));
    const auto unit = nanometres(image.units[d]);
    if (!image.units[d].empty() && !unit)
      return invalid_argument("the unit '" + image.units[d] + "' of the axis " + image.axes[d] +
                              " is not a known length");
    resolution[axis] = product(image.levels[level].spacing[d], unit.value_or(1));
  }
  return resolution;
}

Result<std::array<std::int64_t, 3>> voxel_offset_of(const Image& image, std::size_t level) {
  std::array<std::int64_t, 3> offset{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t d = dimension_of(image.axes, std::string_view("xyz").substr(axis, 1));
    const double value = image.levels[level].offset[d];
    if (!(std::abs(value) < kFarthest))
      return invalid_argument("the axis " + image.axes[d] + " begins too far from the origin for a voxel offset");
    offset[axis] = std::llround(value);
  }
  return offset;
}

}  // namespace sherd
