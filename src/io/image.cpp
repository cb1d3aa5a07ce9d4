// The image described by an array's own attributes, or by the info of a volume.
#include "io/image.hpp"

#include <algorithm>
#include <cmath>

#include "base/try.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/document.hpp"
#include "ome/units.hpp"

namespace sherd {
namespace {

using neuroglancer::VolumeInfo;

constexpr double kFarthest = 0x1p62;
constexpr double kTurn = 1e-6;  ///< tolerance for an affine that is practically parallel to the axes

// An unknown unit is kept, and refused where nanometres are required.
std::string_view unit_of_length(std::string_view name) {
  if (const Unit* unit = find_unit(name); unit != nullptr && unit->kind == Unit::Kind::length) return unit->name;
  return name == "pixel" || name == "voxel" ? "" : name;
}

std::string_view unit_of_time(std::string_view name) {
  const Unit* unit = find_unit(name);
  return unit != nullptr && unit->kind == Unit::Kind::time ? unit->name : "";
}

Json numbers_of(const std::vector<double>& values) { return neuroglancer::numbers_json(values); }

// The attribute `channels`, or the member of an info, in OME-NGFF's form. Null if it does not fit this image.
Json channels_of(const Json& attributes, std::uint64_t count, const DType& dtype) {
  const Json* given = attributes.find("channels");
  return given == nullptr || given->elements().size() != count ? Json() : complete_channels(*given, dtype);
}

// Numbers above `above` in an array's attribute, one per dimension; `absent` if it is missing or contains a null. A
// text or object with this name belongs to another program.
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

}  // namespace

std::optional<AffineMatrix> parse_affine(const Json& json) {
  AffineMatrix affine{};
  if (json.elements().size() != 4) return std::nullopt;
  for (std::size_t r = 0; r < 4; ++r) {
    const Json& row = json.elements()[r];
    if (row.elements().size() != 4) return std::nullopt;
    for (std::size_t k = 0; k < 4; ++k) {
      const auto value = row.elements()[k].as_double();
      if (!value || !std::isfinite(*value)) return std::nullopt;
      affine[r][k] = *value;
    }
  }
  return affine;
}

Json affine_json(const AffineMatrix& affine) {
  Json rows{Json::Array{}};
  for (const auto& row : affine) rows.push_back(Json::Array(row.begin(), row.end()));
  return rows;
}

std::optional<std::array<double, 3>> offset_of_affine(const Json& attributes) {
  const Json* affine = attributes.find("affine");
  const auto matrix = affine == nullptr ? std::nullopt : parse_affine(*affine);
  if (!matrix) return std::nullopt;
  std::array<double, 3> offset{};
  for (std::size_t r = 0; r < 3; ++r) {
    const double step = (*matrix)[r][r];
    for (std::size_t k = 0; k < 3; ++k)
      if (!(step > 0) || (k != r && std::abs((*matrix)[r][k]) > kTurn * step)) return std::nullopt;
    offset[r] = tidy((*matrix)[r][3] / step);
  }
  return offset;
}

Result<Image> image_of_array(const ArraySpec& spec, const Json& attributes, const std::vector<std::string>& axes) {
  const std::size_t rank = spec.shape.size();
  Image image;
  std::vector<std::string> given = axes;
  if (given.empty())
    for (const auto& name : spec.dimension_names) given.push_back(name.value_or(""));
  if (given.size() != rank)
    return std::move(invalid_argument(axes.empty() ? "the dimensions of the source have no names" + advice_on_axes(rank)
                                                   : "the array has " + std::to_string(rank) + " dimensions"))
        .in_member("axes");
  auto names = axis_names(given);
  if (!names && axes.empty())
    return std::move(invalid_argument("the dimensions of the source are " + listed_names(given) + ": " +
                                      names.error().message() + advice_on_axes(rank)))
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
  if (const auto placed = offset_of_affine(attributes); placed && attributes.find("voxel_offset") == nullptr)
    for (std::size_t d = 0; d < rank; ++d)
      if (image.is_spatial(d)) offset[d] = (*placed)[std::string_view("xyz").find(image.axes[d])];
  image.levels.push_back({"", std::move(spacing), std::move(offset)});
  const std::size_t channel = dimension_of(image.axes, "c");
  image.channels = channels_of(attributes, channel == rank ? 1 : spec.shape[channel], spec.dtype);
  read_label(attributes, image);
  if (const Json* name = attributes.find("image_name"); name != nullptr && name->is_string()) image.name = *name;
  if (const Json* info = attributes.find(kVolumeInfo)) image.info = *info;
  return image;
}

Result<Image> image_of_volume(const Json& info, std::optional<std::size_t> scale,
                              const std::vector<std::string>& axes) {
  SHERD_TRY(volume, VolumeInfo::parse(info));
  Image image;
  image.axes = axes;
  image.labels = volume.type == VolumeInfo::Type::segmentation;
  image.info = info;
  if (!channels_of(info, volume.num_channels, volume.data_type).is_null()) image.channels = *info.find("channels");
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

Json array_attributes(const Image& image, Json given) {
  Json units{Json::Array{}};
  for (const std::string& unit : image.units) units.push_back(unit.empty() ? Json() : Json(unit));
  // An affine and the spacing next to it are from the same file.
  if (given.find("affine") == nullptr || given.find("spacing") == nullptr) {
    given.set("spacing", numbers_of(image.levels.front().spacing));
    given.set("units", std::move(units));
  }
  given.set("voxel_offset", numbers_of(image.levels.front().offset));
  if (!image.channels.is_null()) given.set("channels", image.channels);
  if (image.name.is_string()) given.set("image_name", image.name);
  write_label(image, given);
  if (!image.info.is_null()) given.set(kVolumeInfo, image.info);
  return given;
}

std::optional<std::string> assumed_unit(const Image& image) {
  for (std::size_t d = 0; d < image.axes.size(); ++d)
    if (image.is_spatial(d) && image.units[d].empty())
      return "the unit of the spacing is not known: " +
             neuroglancer::number_json(image.levels.front().spacing[d]).dump() + " along " + image.axes[d] +
             " is taken as nanometres";
  return std::nullopt;
}

Result<std::array<double, 3>> resolution_of(const Image& image, std::size_t level) {
  std::array<double, 3> resolution{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t d = dimension_of(image.axes, std::string_view("xyz").substr(axis, 1));
    const auto unit = nanometres(image.units[d]);
    if (!image.units[d].empty() && !unit)
      return invalid_argument("the unit '" + image.units[d] + "' of the axis " + image.axes[d] +
                              " is not a known length");
    resolution[axis] = spacing_product(image.levels[level].spacing[d], unit.value_or(1));
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
