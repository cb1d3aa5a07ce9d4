// The kind of a group according to OME-NGFF's metadata: an image, labels, a plate, a well, a series of images. Metadata
// of 0.4 have no attribute of their own, so only attributes with the form of OME-NGFF's count.
#include <algorithm>

#include "base/try.hpp"
#include "ome/members.hpp"
#include "ome/ome.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

bool is_list_of(const Json& list, std::string_view member) {
  if (!list.is_array() || list.size() == 0) return false;
  for (const Json& each : list.elements())
    if (each.find(member) == nullptr) return false;
  return true;
}

void read_texts(const Json* list, const char* name, std::vector<std::string>& to) {
  if (list == nullptr) return;
  for (const Json& each : list->elements()) {
    const std::string* text = name == nullptr ? (each.is_string() ? &each.text() : nullptr) : text_of(each, name);
    if (text != nullptr && !text->empty()) to.push_back(*text);
  }
}

void read_numbers(const Json* list, const char* name, std::vector<std::uint64_t>& to) {
  if (list == nullptr) return;
  for (const Json& each : list->elements()) {
    const Json* number = each.find(name);
    if (number != nullptr && number->as_uint()) to.push_back(*number->as_uint());
  }
}

/// The new path of `path` after the member `name` was renamed to `to`; unchanged if it is not below that member,
/// nullopt if it no longer exists.
std::optional<std::string> moved_path(const std::string& path, std::string_view name,
                                      const std::optional<std::string>& to) {
  const bool is_below = path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '/');
  if (!is_below) return path;
  return to ? std::optional(*to + path.substr(name.size())) : std::nullopt;
}

/// Renames or removes the entries of a list with this name or below it. Entries are names or, with `member`, objects
/// that contain them.
bool rename_listed(Json* list, const char* member, std::string_view name, const std::optional<std::string>& to) {
  if (list == nullptr) return false;
  Json::Array kept;
  bool found = false;
  for (const Json& each : list->elements()) {
    const std::string* text = member != nullptr ? text_of(each, member) : (each.is_string() ? &each.text() : nullptr);
    const auto path = text != nullptr ? moved_path(*text, name, to) : std::optional(std::string());
    const bool is_named = text != nullptr && path != *text;
    found = found || is_named;
    if (!path) continue;
    Json entry = each;
    if (is_named && member != nullptr) entry.set(member, *path);
    if (is_named && member == nullptr) entry = *path;
    kept.push_back(std::move(entry));
  }
  if (!found || (kept.empty() && member != nullptr)) return false;
  *list = std::move(kept);
  return true;
}

std::optional<std::size_t> number_of(const Json* list, std::string_view name) {
  if (list == nullptr) return std::nullopt;
  for (std::size_t i = 0; i < list->elements().size(); ++i)
    if (const std::string* text = text_of(list->elements()[i], "name"); text != nullptr && *text == name) return i;
  return std::nullopt;
}

/// Renames or removes the wells of a plate with this name or below it. A well is in a row and a column: a well that was
/// moved elsewhere is removed.
bool rename_wells(Json& plate, std::string_view name, const std::optional<std::string>& to) {
  Json* const wells = plate.find("wells");
  if (wells == nullptr) return false;
  Json::Array kept;
  bool found = false;
  for (const Json& each : wells->elements()) {
    const std::string* text = text_of(each, "path");
    const auto path = text != nullptr ? moved_path(*text, name, to) : std::nullopt;
    if (text == nullptr || path == *text) {
      kept.push_back(each);
      continue;
    }
    found = true;
    if (!path) continue;
    const std::size_t slash = std::min(path->find('/'), path->size());
    const auto row = number_of(plate.find("rows"), path->substr(0, slash));
    const auto column = number_of(plate.find("columns"), path->substr(std::min(slash + 1, path->size())));
    if (!row || !column) continue;
    Json well = each;
    well.set("path", *path);
    well.set("rowIndex", *row);
    well.set("columnIndex", *column);
    kept.push_back(std::move(well));
  }
  if (!found || kept.empty()) return false;
  *wells = std::move(kept);
  return true;
}

}  // namespace

bool is_ome_member(const Json& attributes, std::string_view name, const std::string& path) {
  const Json* value = ome_member(attributes, name);
  if (value == nullptr || value->is_null()) return false;
  if (attributes.find("ome") != nullptr) return true;
  if (name == "multiscales") return is_list_of(*value, "datasets");
  if (name == "plate") return value->find("wells") != nullptr;
  if (name == "well") return value->find("images") != nullptr;
  if (name == "labels") return split_key(path).name == "labels" && value->is_array();
  if (name == kImageLabel) return value->is_object();
  return name == "bioformats2raw.layout";
}

std::vector<OmeDataset> ome_datasets(const Json& attributes) {
  std::vector<OmeDataset> found;
  const Json* all = ome_member(attributes, "multiscales");
  if (all == nullptr) return found;
  for (std::size_t i = 0; i < all->elements().size(); ++i) {
    const Json& image = all->elements()[i];
    std::vector<std::string> axes;
    if (const Json* list = image.find("axes"))
      for (const Json& axis : list->elements()) {
        const std::string* name = axis.is_string() ? &axis.text() : text_of(axis, "name");
        axes.push_back(name == nullptr ? "" : *name);
      }
    const Json* datasets = image.find("datasets");
    if (datasets == nullptr) continue;
    for (std::size_t j = 0; j < datasets->elements().size(); ++j)
      if (const std::string* path = text_of(datasets->elements()[j], "path"); path != nullptr && !path->empty())
        found.push_back({indexed(indexed("multiscales", i) + ".datasets", j), i, *path, axes});
  }
  return found;
}

std::optional<OmeGroup> ome_group(const Json& attributes, const std::string& path) {
  const Json* ome = attributes.find("ome");
  if (ome != nullptr && !ome->is_object()) return std::nullopt;
  OmeGroup group{.is_old = ome == nullptr, .prefix = ome == nullptr ? "" : "ome."};
  bool any = false;
  const auto member = [&](std::string_view name) -> const Json* {
    if (!is_ome_member(attributes, name, path)) return nullptr;
    any = true;
    return ome_member(attributes, name);
  };
  if (const Json* all = member("multiscales")) {
    group.datasets = ome_datasets(attributes);
    group.multiscales = all->elements().size();
  }
  read_texts(member("labels"), nullptr, group.labels);
  if (const Json* plate = member("plate")) {
    read_texts(plate->find("wells"), "path", group.wells);
    if (const Json* list = plate->find("acquisitions"); list != nullptr && list->is_array())
      read_numbers(list, "id", group.acquisitions.emplace());
  }
  if (const Json* well = member("well")) {
    read_texts(well->find("images"), "path", group.images);
    read_numbers(well->find("images"), "acquisition", group.image_acquisitions);
  }
  group.is_series = member("bioformats2raw.layout") != nullptr;
  (void)member(kImageLabel);
  if (!group.is_old) (void)member("omero");
  if (!any) return std::nullopt;
  return group;
}

Json with_label(Json attributes, const std::string& name, std::string_view version) {
  const auto list_in = [&](Json& members) {
    const Json* present = members.find("labels");
    Json list = present != nullptr && present->is_array() ? *present : Json(Json::Array{});
    bool listed = false;
    for (const Json& each : list.elements()) listed = listed || (each.is_string() && each.text() == name);
    if (!listed) list.push_back(name);
    members.set("labels", std::move(list));
  };
  if (version == "0.4") {
    list_in(attributes);
    return attributes;
  }
  const Json* present = attributes.find("ome");
  Json ome = present != nullptr && present->is_object() ? *present : Json(Json::Object{});
  if (ome.find("version") == nullptr) ome.set("version", std::string(version));
  list_in(ome);
  attributes.set("ome", std::move(ome));
  return attributes;
}

std::optional<Json> with_renamed_member(const Json& attributes, const std::string& path, std::string_view name,
                                        const std::optional<std::string>& to) {
  Json changed = attributes;
  Json* const ome = changed.find("ome");
  Json& members = ome != nullptr ? *ome : changed;
  bool any = false;
  if (is_ome_member(attributes, "labels", path)) any |= rename_listed(members.find("labels"), nullptr, name, to);
  if (is_ome_member(attributes, "multiscales", path))
    for (Json& image : members.find("multiscales")->elements())
      any |= rename_listed(image.find("datasets"), "path", name, to);
  if (is_ome_member(attributes, "well", path))
    any |= rename_listed(members.find("well")->find("images"), "path", name, to);
  if (is_ome_member(attributes, "plate", path)) any |= rename_wells(*members.find("plate"), name, to);
  return any ? std::optional(std::move(changed)) : std::nullopt;
}

}  // namespace sherd
