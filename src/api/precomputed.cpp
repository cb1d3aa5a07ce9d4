// New volumes of Neuroglancer's precomputed format.
#include "sherd/precomputed.hpp"

#include <utility>

#include "api/location.hpp"
#include "api/registry.hpp"
#include "base/try.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/link.hpp"
#include "sherd/group.hpp"

namespace sherd::neuroglancer {

Result<Array> create_precomputed(std::shared_ptr<Store> store, std::string_view path, const VolumeInfo& info,
                                 const NewVolume& options) {
  SHERD_TRY(location, make_location(store, path, options.config));
  location.writable = true;
  SHERD_TRY(format, find_format("precomputed")->in(*location.store, location.config.limits));
  location.format = std::move(format);
  SHERD_TRY(create_volume(std::move(location), info, options.overwrite));
  return open_array(std::move(store), {.path = std::string(path), .writable = true, .config = options.config});
}
Result<Array> create_precomputed(std::string_view url, const VolumeInfo& info, const NewVolume& options) {
  SHERD_TRY(store, open_store(url, options.config));
  SHERD_TRY(refuse_inside(*store, options.config));
  return create_precomputed(std::move(store), "", info, options);
}

namespace {

/// A volume, not one of its scales.
Result<NodeLocation> volume_location(std::shared_ptr<Store> store, std::string_view path, const Config& config) {
  SHERD_TRY(location, make_location(std::move(store), path, config));
  SHERD_TRY(format, find_format("precomputed")->in(*location.store, location.config.limits));
  location.format = std::move(format);
  const std::string key = location.format->document_key(location.path, NodeType::group);
  SHERD_TRY(node, location.format->open(*location.store, location.path, config.limits));
  if (node && node->type == NodeType::group) return location;
  if (node) return invalid_argument("this is a scale; links belong to the volume, one directory up").in_key(key);
  return not_found("there is no volume here: its info document does not exist, or has no scales").in_key(key);
}

}  // namespace

Result<VolumeLinks> volume_links(std::shared_ptr<Store> store, std::string_view path, const Config& config) {
  SHERD_TRY(location, volume_location(std::move(store), path, config));
  SHERD_TRY(node, location.format->open(*location.store, location.path, config.limits));
  return node ? links_of(*node->document.find("info")) : VolumeLinks{};
}
Result<VolumeLinks> volume_links(std::string_view url, const Config& config) {
  SHERD_TRY(store, open_store(url, config));
  return volume_links(std::move(store), "", config);
}

Result<VolumeLinks> link_collections(std::shared_ptr<Store> store, std::string_view path, const VolumeLinks& links,
                                     const Config& config) {
  SHERD_TRY(location, volume_location(std::move(store), path, config));
  location.writable = true;
  return link_volume(location, links);
}
Result<VolumeLinks> link_collections(std::string_view url, const VolumeLinks& links, const Config& config) {
  SHERD_TRY(store, open_store(url, config));
  return link_collections(std::move(store), "", links, config);
}

}  // namespace sherd::neuroglancer
