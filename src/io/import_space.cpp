// The import options axes, spacing, units and resolution take precedence over the file's description of its dimensions.
#include "io/import_space.hpp"

#include <algorithm>
#include <cmath>

#include "base/try.hpp"
#include "io/image.hpp"
#include "ome/units.hpp"

namespace sherd {
namespace {

// x, y, z, c or t; empty for other names and none.
std::string axis_of(const std::optional<std::string>& name) {
  if (!name) return {};
  const auto axes = axis_names({*name});
  return axes ? axes->front() : std::string();
}

std::string shown(const Shape& shape) { return std::to_string(shape.size()) + " dimensions, " + to_string(shape); }

class SpaceOptions {
 public:
  SpaceOptions(ImportedSpace& space, const ImportOptions& options) : space_(space), options_(options) { find_axes(); }

  Result<void> apply() {
    SHERD_TRY(check_attributes());
    if (!options_.axes.empty()) SHERD_TRY(set_axes().in_member("axes"));
    if (options_.resolution) SHERD_TRY(set_resolution().in_member("resolution"));
    if (!options_.spacing.empty()) SHERD_TRY(set_spacing().in_member("spacing"));
    if (!options_.units.empty()) SHERD_TRY(set_units().in_member("units"));
    if (options_.voxel_offset) SHERD_TRY(set_voxel_offset().in_member("voxel_offset"));
    return {};
  }

 private:
  // The caller's attributes take precedence over the file, and must not contradict the options.
  [[nodiscard]] Result<void> check_attributes() const {
    const auto& given = options_.create.attributes;
    const bool spacing = options_.resolution || !options_.spacing.empty();
    const bool units = options_.resolution || !options_.units.empty();
    const auto refuse = [&](bool option, std::string_view name) -> Result<void> {
      if (!option || !given || given->find(name) == nullptr) return {};
      return std::move(invalid_argument("cannot be combined with an attribute '" + std::string(name) + "'"))
          .in_member(options_.resolution ? "resolution" : std::string(name));
    };
    SHERD_TRY(refuse(spacing, "spacing"));
    SHERD_TRY(refuse(units, "units"));
    if (!options_.voxel_offset || !given || given->find("voxel_offset") == nullptr) return {};
    return std::move(invalid_argument("cannot be combined with an attribute of this name")).in_member("voxel_offset");
  }

  [[nodiscard]] std::size_t rank() const { return space_.shape.size(); }

  void find_axes() {
    axes_.assign(rank(), "");
    for (std::size_t d = 0; d < std::min(rank(), space_.names.size()); ++d) axes_[d] = axis_of(space_.names[d]);
    find_spatial();
  }

  // If no dimension has the name of an axis, all of them count as spatial.
  void find_spatial() {
    spatial_.clear();
    const bool named = std::ranges::any_of(axes_, [](const std::string& axis) { return !axis.empty(); });
    for (std::size_t d = 0; d < rank(); ++d)
      if (!named || is_spatial_axis(axes_[d])) spatial_.push_back(d);
  }

  Result<void> set_axes() {
    if (options_.create.dimension_names)
      return invalid_argument("cannot be combined with names of the dimensions; they are its names");
    SHERD_TRY(axes, axis_names(options_.axes));
    if (axes.size() != rank())
      return invalid_argument(std::to_string(axes.size()) + " axes are named, and the array has " +
                              shown(space_.shape));
    for (std::size_t d = 0; d < rank(); ++d) {
      if (axes[d] == axes_[d] || axes_[d].empty()) continue;
      forget("affine");
      if (axes[d] == "c" || axes_[d] == "c") forget("channels");
      if (is_spatial_axis(axes[d]) && is_spatial_axis(axes_[d])) continue;
      for (const char* name : {"spacing", "units", "voxel_offset"})
        if (Json* list = space_.attributes.find(name); list != nullptr && list->size() == rank())
          list->elements()[d] = Json();
    }
    axes_ = std::move(axes);
    space_.names.assign(axes_.begin(), axes_.end());
    find_spatial();
    return {};
  }

  // Removes an attribute that would contradict the options.
  void forget(std::string_view name) {
    space_.attributes.erase(name);
    if (Json* nifti = space_.attributes.find("nifti"); nifti != nullptr && name == "affine") nifti->erase("qform");
  }

  // Replaces an affine, which would contradict a new spacing, by the offset in elements that it contains.
  void keep_location() {
    const auto offset = offset_of_affine(space_.attributes);
    if (offset && *offset != std::array<double, 3>{} && space_.attributes.find("voxel_offset") == nullptr)
      for (std::size_t d = 0; d < rank(); ++d)
        if (is_spatial_axis(axes_[d])) entry("voxel_offset", d) = (*offset)[std::string_view("xyz").find(axes_[d])];
    forget("affine");
  }

  Result<void> set_resolution() {
    if (!options_.spacing.empty() || !options_.units.empty())
      return invalid_argument("cannot be combined with spacing and units, which it sets");
    SHERD_TRY(for_each_axis([&](std::size_t d, std::size_t axis) -> Result<void> {
      entry("units", d) = "nanometer";
      return set("spacing", d, (*options_.resolution)[axis]);
    }));
    keep_location();
    return {};
  }

  Result<void> set_voxel_offset() {
    forget("affine");
    forget("voxel_offset");
    return for_each_axis([&](std::size_t d, std::size_t axis) -> Result<void> {
      entry("voxel_offset", d) = (*options_.voxel_offset)[axis];
      return {};
    });
  }

  // Calls visit(dimension, axis) for x, y and z, which are the axes 0, 1 and 2.
  template <class Visit>
  Result<void> for_each_axis(const Visit& visit) {
    bool any = false;
    for (std::size_t d = 0; d < rank(); ++d) {
      if (!is_spatial_axis(axes_[d])) continue;
      any = true;
      SHERD_TRY(visit(d, std::string_view("xyz").find(axes_[d])));
    }
    // A volume in the same files has them without any names.
    if (any || options_.create.config.layout == Layout::zarr_neuroglancer) return {};
    return invalid_argument("no dimension of the array is x, y or z; name its dimensions with axes");
  }

  Result<void> set_spacing() {
    SHERD_TRY(dimensions, dimensions_for(options_.spacing.size()));
    for (std::size_t i = 0; i < dimensions.size(); ++i) SHERD_TRY(set("spacing", dimensions[i], options_.spacing[i]));
    keep_location();
    // The file's units are kept only if they can apply: a resolution in dots per inch says nothing about slices.
    if (!options_.units.empty() || space_.attributes.find("units") == nullptr) return {};
    const Json first = spatial_.empty() ? Json() : entry("units", spatial_.front());
    const bool same = std::ranges::all_of(spatial_, [&](std::size_t d) { return entry("units", d) == first; });
    for (const std::size_t d : spatial_)
      if (!same) entry("units", d) = Json();
    return {};
  }

  Result<void> set_units() {
    std::vector<std::string> units = options_.units;
    if (units.size() == 1) units.resize(std::max<std::size_t>(1, spatial_.size()), units.front());
    SHERD_TRY(dimensions, dimensions_for(units.size()));
    for (std::size_t i = 0; i < units.size(); ++i) {
      const std::size_t d = dimensions[i];
      const Unit* unit = find_unit(units[i]);
      if (unit == nullptr && !units[i].empty())
        return invalid_argument("'" + units[i] + "' is not a unit of length or time, such as nanometer or second");
      const bool is_time = axes_[d] == "t";
      if (unit != nullptr && (axes_[d] == "c" || is_time != (unit->kind == Unit::Kind::time)))
        return invalid_argument("'" + units[i] + "' is a unit of " +
                                (unit->kind == Unit::Kind::time ? "time" : "length") + ", and dimension " +
                                std::to_string(d) + " is " + (axes_[d].empty() ? "a length" : axes_[d]));
      entry("units", d) = units[i].empty() ? Json() : Json(units[i]);
    }
    return {};
  }

  // All dimensions, or the spatial ones.
  Result<std::vector<std::size_t>> dimensions_for(std::size_t count) const {
    if (count == spatial_.size()) return spatial_;
    std::vector<std::size_t> all(rank());
    for (std::size_t d = 0; d < rank(); ++d) all[d] = d;
    if (count == rank()) return all;
    return invalid_argument("has " + std::to_string(count) + (count == 1 ? " entry" : " entries") +
                            ", and the array has " + shown(space_.shape) + ", where " +
                            std::to_string(spatial_.size()) + " are spatial");
  }

  Result<void> set(std::string_view name, std::size_t dimension, double value) {
    if (!std::isfinite(value) || !(value > 0)) return invalid_argument("must be positive finite numbers");
    entry(name, dimension) = value;
    return {};
  }

  Json& entry(std::string_view name, std::size_t dimension) {
    Json* list = space_.attributes.find(name);
    if (list == nullptr || list->size() != rank()) {
      space_.attributes.set(name, Json(Json::Array(rank())));
      list = space_.attributes.find(name);
    }
    return list->elements()[dimension];
  }

  ImportedSpace& space_;
  const ImportOptions& options_;
  std::vector<std::string> axes_;     ///< one per dimension; empty: unknown
  std::vector<std::size_t> spatial_;  ///< dimensions
};

}  // namespace

std::optional<std::array<double, 3>> nanometres_of(const ImportedSpace& space) {
  const std::size_t rank = space.shape.size();
  const Json* spacing = space.attributes.find("spacing");
  const Json* units = space.attributes.find("units");
  std::array<double, 3> resolution{};
  if (spacing == nullptr || units == nullptr || spacing->size() != rank || units->size() != rank) return std::nullopt;
  for (std::size_t d = 0; d < std::min(rank, space.names.size()); ++d) {
    const std::string axis = axis_of(space.names[d]);
    if (!is_spatial_axis(axis)) continue;
    const auto unit = nanometres(units->elements()[d].text());
    const double step = spacing->elements()[d].as_double().value_or(0);
    if (!unit || !(step > 0)) return std::nullopt;
    resolution[std::string_view("xyz").find(axis)] = tidy(step * *unit);
  }
  if (std::ranges::find(resolution, 0) != resolution.end()) return std::nullopt;
  return resolution;
}

Result<void> apply_space_options(ImportedSpace& space, const ImportOptions& options) {
  return SpaceOptions(space, options).apply();
}

}  // namespace sherd
