// OME-NGFF 0.4 (https://ngff.openmicroscopy.org/0.4), used in Zarr v2, and 0.5 (https://ngff.openmicroscopy.org/0.5),
// used in Zarr v3, store their metadata differently: among the attributes, with a version in each object; or in a
// single attribute `ome`, which has the version for all.
#include <algorithm>
#include <set>

#include "format/zarr2.hpp"
#include "ome/ome.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

constexpr std::string_view kOme = "ome", kOld = "0.4", kNew = "0.5";
/// Members that have a version of their own in 0.4.
constexpr std::string_view kVersioned[] = {"multiscales", "image-label", "plate", "well"};

bool is_versioned(std::string_view key) { return std::ranges::find(kVersioned, key) != std::end(kVersioned); }

bool has_version(const Json& object, std::string_view version) {
  const Json* found = object.find(kVersion);
  return found != nullptr && found->is_string() && found->text() == version;
}

/// Whether it is of version 0.4, which may omit its version if it has another member of its kind.
bool is_old(const Json& object, std::string_view member) {
  return has_version(object, kOld) || (object.find(kVersion) == nullptr && object.find(member) != nullptr);
}

/// Whether an attribute is OME-NGFF's of version 0.4. Lists of names are recognized by the name of their group.
bool is_old(const std::string& key, const Json& value, std::string_view group) {
  if (key == "multiscales")
    return value.is_array() && value.size() > 0 &&
           std::ranges::all_of(value.elements(), [](const Json& each) { return is_old(each, "datasets"); });
  if (key == "plate") return is_old(value, "wells");
  if (key == "well") return is_old(value, "images");
  if (key == kImageLabel) return is_old(value, "colors") || is_old(value, "source") || is_old(value, "properties");
  if (key == "labels") return group == "labels" && value.is_array();
  if (key == "series") return group == "OME" && value.is_array();
  return key == "bioformats2raw.layout";
}

/// Whether the member `ome` is of version 0.5. ome-zarr-py omits the version if it has a list of labels.
bool is_new(const Json& ome) {
  const Json* labels = ome.find("labels");
  return has_version(ome, kNew) || (ome.find(kVersion) == nullptr && labels != nullptr && labels->is_array());
}

/// The objects of a versioned member.
template <class Change>
void for_each_object(Json& member, const Change& change) {
  if (!member.is_array()) return change(member);
  for (Json& each : member.elements()) change(each);
}

Json to_new(const Json& attributes, std::string_view group) {
  const auto is_image = [&](const auto& member) { return is_old(member.first, member.second, group); };
  if (attributes.find(kOme) != nullptr || std::ranges::none_of(attributes.members(), is_image)) return attributes;
  const Json* images = attributes.find("multiscales");
  Json::Object ome{{std::string(kVersion), kNew}}, rest;
  std::optional<std::size_t> position;  // of the first one
  for (const auto& [key, value] : attributes.members()) {
    if (!is_old(key, value, group) && !(key == "omero" && images != nullptr)) {
      rest.emplace_back(key, value);
      continue;
    }
    if (!position) {
      position = rest.size();
      rest.emplace_back(kOme, Json());
    }
    Json member = value;
    if (is_versioned(key)) for_each_object(member, [](Json& each) { each.erase(kVersion); });
    if (key == "omero" && has_version(member, kOld)) member.erase(kVersion);
    ome.emplace_back(key, std::move(member));
  }
  rest[position.value()].second = std::move(ome);
  return rest;
}

Json to_old(const Json& attributes) {
  const Json* ome = attributes.find(kOme);
  if (ome == nullptr || !is_new(*ome)) return attributes;
  std::set<std::string_view> names;
  for (const auto& [key, value] : attributes.members()) names.insert(key);
  for (const auto& [key, value] : ome->members())
    if (key != kVersion && names.contains(key)) return attributes;  // both names exist already
  Json::Object flat;
  for (const auto& [key, value] : attributes.members()) {
    if (key != kOme) {
      flat.emplace_back(key, value);
      continue;
    }
    for (const auto& [name, inner] : value.members()) {
      if (name == kVersion) continue;
      Json member = inner;
      if (is_versioned(name))
        for_each_object(member, [](Json& each) {
          if (each.is_object()) each.set(kVersion, kOld);
        });
      flat.emplace_back(name, std::move(member));
    }
  }
  return flat;
}

}  // namespace

std::string attributes_key(const Format& format, const std::string& path) {
  if (attributes_member(format).empty()) return prefix_of(path) + zarr2::kAttributes;
  return format.document_key(path, NodeType::group);
}

std::string_view attributes_member(const Format& format) noexcept {
  return format.name() == "zarr2" ? "" : "attributes";
}

std::string_view ome_version_of(const Format& format) { return format.name() == "zarr2" ? kOld : kNew; }

const Json& ome_members(const Json& attributes) {
  const Json* ome = attributes.find(kOme);
  return ome != nullptr ? *ome : attributes;
}

const Json* ome_member(const Json& attributes, std::string_view name) { return ome_members(attributes).find(name); }

Json as_ome_version(const Json& attributes, std::string_view version, const std::string& path) {
  if (!attributes.is_object()) return attributes;
  return version == kOld ? to_old(attributes) : to_new(attributes, split_key(path).name);
}

}  // namespace sherd
