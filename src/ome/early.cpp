#include "ome/early.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/try.hpp"
#include "neuroglancer/document.hpp"
#include "node/path.hpp"
#include "ome/members.hpp"
#include "ome/ome.hpp"

namespace sherd {
namespace {

constexpr std::string_view kSteps = "coordinateTransformations";
/// Members with a version of their own, in addition to those of the images.
constexpr std::string_view kEarlyVersioned[] = {"plate", "well", kImageLabel, "omero"};

/// Versions are texts; some writers have numbers.
std::string version_of(const Json& object) {
  const Json* version = object.find(kVersion);
  return version == nullptr ? "" : version->is_string() ? version->text() : version->dump();
}

bool is_early(const Json& object) {
  const std::string version = version_of(object);
  return version == "0.1" || version == "0.2" || version == "0.3";
}

/// Without a version, an image is of 0.4 if it has any of what that requires: axes that are objects, and scales.
bool is_early_image(const Json& image) {
  if (image.find(kVersion) != nullptr) return is_early(image);
  const Json *axes = image.find("axes"), *datasets = image.find("datasets");
  if (datasets == nullptr || datasets->elements().empty()) return false;
  return (axes == nullptr || std::ranges::all_of(axes->elements(), &Json::is_string)) &&
         std::ranges::none_of(datasets->elements(), [](const Json& each) { return each.find(kSteps) != nullptr; });
}

Json axis_of(const std::string& name) {
  return Json::Object{{"name", name}, {"type", name == "t" ? "time" : name == "c" ? "channel" : "space"}};
}

Result<std::vector<OmeArray>> arrays_of(const Json& image, const FindOmeArray& find) {
  std::vector<OmeArray> arrays;
  const Json* datasets = image.find("datasets");
  if (datasets == nullptr || datasets->elements().empty())
    return std::move(corrupt("must be a list of resolutions")).in_member("datasets");
  for (std::size_t i = 0; i < datasets->size(); ++i) {
    const std::string* path = text_of(datasets->elements()[i], "path");
    const std::string member = indexed("datasets", i) + ".path";
    const auto normal = normal_path(path == nullptr ? "" : *path);
    if (!normal || normal->empty()) return std::move(corrupt("must be the path of an array")).in_member(member);
    SHERD_TRY(array, find(*normal));
    if (!array)
      return std::move(corrupt("there is no array '" + *path + "', whose shape says which scale it has"))
          .in_member(member);
    arrays.push_back(*std::move(array));
  }
  return arrays;
}

Result<Json> axes_of(const Json& image, std::size_t rank) {
  std::vector<std::string> names{"t", "c", "z", "y", "x"};
  const Json* given = image.find("axes");
  if (given == nullptr && rank != names.size())
    return corrupt("an image without axes has the five dimensions t, c, z, y, x (OME-NGFF 0.1 and 0.2), but this one " +
                   std::string("has ") + std::to_string(rank));
  if (given != nullptr) {
    if (std::ranges::none_of(given->elements(), &Json::is_string)) return *given;
    names.clear();
    for (const Json& each : given->elements()) names.push_back(each.is_string() ? each.text() : std::string());
    auto known = axis_names(names);
    if (!known) return std::move(corrupt(known.error().message())).in_member("axes");
    names = *std::move(known);
  }
  Json axes{Json::Array{}};
  for (const std::string& name : names) axes.push_back(axis_of(name));
  return axes;
}

/// The scale by which a level covers the same space as the finest, and the centre of its first element.
Json steps_of(const Shape& finest, const Shape& level) {
  std::vector<double> scale, translation;
  for (std::size_t d = 0; d < finest.size(); ++d) {
    const bool has_both = finest[d] != 0 && level[d] != 0;
    scale.push_back(has_both ? static_cast<double>(finest[d]) / static_cast<double>(level[d]) : 1);
    translation.push_back((scale.back() - 1) / 2);
  }
  return Json::Array{Json::Object{{"type", "scale"}, {"scale", neuroglancer::numbers_json(scale)}},
                     Json::Object{{"type", "translation"}, {"translation", neuroglancer::numbers_json(translation)}}};
}

Result<void> convert_image(Json& image, const std::vector<OmeArray>& arrays) {
  SHERD_TRY(axes, axes_of(image, arrays.front().shape.size()));
  const std::span<Json> datasets = image.find("datasets")->elements();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].shape.size() != axes.size())
      return std::move(corrupt("is an array of " + std::to_string(arrays[i].shape.size()) +
                               " dimensions, and the image has " + std::to_string(axes.size()) + " axes"))
          .in_member(indexed("datasets", i) + ".path");
    if (datasets[i].find(kSteps) == nullptr) datasets[i].set(kSteps, steps_of(arrays.front().shape, arrays[i].shape));
  }
  image.set("axes", std::move(axes));
  image.set(kVersion, "0.4");
  return {};
}

/// 0.4 requires the numbers of a well's row and column.
void number_wells(Json& plate) {
  const auto number_of = [&](const char* list, std::string_view name) -> std::optional<std::size_t> {
    const Json* names = plate.find(list);
    for (std::size_t i = 0; names != nullptr && i < names->elements().size(); ++i)
      if (const std::string* text = text_of(names->elements()[i], "name"); text != nullptr && *text == name) return i;
    return std::nullopt;
  };
  Json* wells = plate.find("wells");
  if (wells == nullptr || !wells->is_array()) return;
  for (Json& well : wells->elements()) {
    const std::string* path = text_of(well, "path");
    const std::size_t slash = path == nullptr ? std::string::npos : path->find('/');
    if (slash == std::string::npos) continue;
    const auto row = number_of("rows", path->substr(0, slash)), column = number_of("columns", path->substr(slash + 1));
    if (row && well.find("rowIndex") == nullptr) well.set("rowIndex", *row);
    if (column && well.find("columnIndex") == nullptr) well.set("columnIndex", *column);
  }
}

}  // namespace

std::optional<EarlyOme> early_ome(const Json& attributes) {
  if (attributes.find("ome") != nullptr) return std::nullopt;
  if (is_ome_member(attributes, "multiscales", {})) {
    const Json::Array& all = attributes.find("multiscales")->elements();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (is_early_image(all[i])) return EarlyOme{indexed("multiscales", i) + ".version", version_of(all[i])};
  }
  for (const std::string_view name : kEarlyVersioned)
    if (name != "omero" && is_ome_member(attributes, name, {}) && is_early(*attributes.find(name)))
      return EarlyOme{std::string(name) + ".version", version_of(*attributes.find(name))};
  return std::nullopt;
}

Result<Json> with_early_converted(Json attributes, const FindOmeArray& find) {
  if (!early_ome(attributes)) return attributes;
  if (is_ome_member(attributes, "multiscales", {})) {
    const std::span<Json> all = attributes.find("multiscales")->elements();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!is_early_image(all[i])) continue;
      SHERD_TRY(arrays, arrays_of(all[i], find).in_member(indexed("multiscales", i)));
      SHERD_TRY(convert_image(all[i], arrays).in_member(indexed("multiscales", i)));
      Json* omero = attributes.find("omero");
      Json* channels = omero == nullptr ? nullptr : omero->find("channels");
      if (Json complete = channels == nullptr ? Json() : complete_channels(*channels, arrays.front().dtype);
          !complete.is_null())
        *channels = std::move(complete);
    }
  }
  for (const std::string_view name : kEarlyVersioned)
    if (Json* member = attributes.find(name); member != nullptr && is_early(*member)) member->set(kVersion, "0.4");
  if (is_ome_member(attributes, "plate", {})) number_wells(*attributes.find("plate"));
  return attributes;
}

}  // namespace sherd
