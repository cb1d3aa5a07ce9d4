// Links of a volume: the members `mesh`, `skeletons` and `segment_properties` of its info. A link is written only if
// its target exists and has the right kind; everything else in the document is unchanged.
#include "neuroglancer/link.hpp"

#include <algorithm>
#include <array>

#include "base/try.hpp"
#include "base/url.hpp"
#include "neuroglancer/codecs.hpp"
#include "neuroglancer/document.hpp"
#include "node/document.hpp"
#include "node/path.hpp"
#include "store/key.hpp"

namespace sherd::neuroglancer {
namespace {

struct Link {
  std::string_view member;
  std::optional<std::string> VolumeLinks::* path;
  std::string_view wanted;
  bool (*accepts)(const CollectionInfo& info);
};

template <class... Infos>
bool is_one_of(const CollectionInfo& info) {
  return (std::holds_alternative<Infos>(info) || ...);
}

constexpr std::array<Link, 3> kLinks{{
    {"mesh", &VolumeLinks::mesh, "meshes", is_one_of<LegacyMeshInfo, MultiscaleMeshInfo>},
    {"skeletons", &VolumeLinks::skeletons, "skeletons", is_one_of<SkeletonInfo>},
    {"segment_properties", &VolumeLinks::segment_properties, "segment properties", is_one_of<SegmentProperties>},
}};

Result<void> check_target(const NodeLocation& volume, const Link& link, const std::string& path) {
  SHERD_TRY(location, linked_location(volume.store, volume.path, path, volume.config));
  const std::string url = url_below(location.store->url(), location.path);
  SHERD_TRY(found, in_store(Collection::State::find(std::move(location)), url));
  if (!found)
    return not_found("there are no " + std::string(link.wanted) + " in " + url +
                     "; a link is a path from the directory of the volume");
  if (link.accepts((*found)->info)) return {};
  return invalid_argument(url + " holds " + std::string(kind_name((*found)->info)) + ", not " +
                          std::string(link.wanted));
}

}  // namespace

VolumeLinks links_of(const Json& info) {
  VolumeLinks links;
  for (const Link& link : kLinks) {
    const Json* path = info.find(link.member);
    if (path != nullptr && path->is_string() && !path->text().empty()) links.*link.path = path->text();
  }
  return links;
}

Result<Collection::State::Location> linked_location(const std::shared_ptr<Store>& store, const std::string& path,
                                                    const std::string& link, const Config& config) {
  Collection::State::Location location{.store = store, .path = path, .codecs = precomputed_codecs(), .config = config};
  if (link.starts_with('/') || link.find("://") != std::string::npos)
    return invalid_argument("'" + link + "' is not a path from the directory of the volume, such as mesh or ../mesh");
  auto directory = path_below(location.path, link);
  while (!directory) {
    SHERD_TRY(parent, location.store->parent());
    if (!parent) return invalid_argument("'" + link + "' leads out of the store " + store->url());
    location.path = join_path(parent->name, location.path);
    location.store = std::move(parent->store);
    directory = path_below(location.path, link);
  }
  if (!directory->empty())
    if (const auto valid = check_key(*directory); !valid)
      return invalid_argument("'" + link + "' is not a path: " + std::string(valid.error().message()));
  location.path = *std::move(directory);
  return location;
}

Result<VolumeLinks> link_volume(const NodeLocation& location, const VolumeLinks& links) {
  for (const Link& link : kLinks)
    if (const auto& path = links.*link.path; path && !path->empty())
      SHERD_TRY(check_target(location, link, *path).in_member(link.member));
  const auto edit = [&](const NodeDocument& node) -> Result<Json> {
    Json document = node.document;
    Json* info = document.find("info");
    for (const Link& link : kLinks) {
      const auto& path = links.*link.path;
      if (!path) continue;
      if (path->empty())
        info->erase(link.member);
      else
        info->set(link.member, *path);
    }
    return document;
  };
  SHERD_TRY(node, edit_document(location, NodeType::group, edit));
  return links_of(*node.document.find("info"));
}

}  // namespace sherd::neuroglancer
