// Creating volumes of Neuroglancer's precomputed format.
#include "sherd/precomputed.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "api/location.hpp"
#include "api/registry.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/document.hpp"
#include "neuroglancer/link.hpp"
#include "sherd/group.hpp"

namespace sherd::neuroglancer {

Result<Array> create_precomputed(std::shared_ptr<Store> store, std::string_view path, const VolumeInfo& info,
                                 const NewVolume& options) {
  return as_call(options.config, [&]() -> Result<Array> {
    SHERD_TRY(location, make_location(store, path, options.config));
    location.writable = true;
    SHERD_TRY(format, find_format("precomputed")->in(*location.store, location.config.limits));
    location.format = std::move(format);
    SHERD_TRY(create_volume(std::move(location), info, options.overwrite));
    return open_array(std::move(store), {.path = std::string(path), .writable = true, .config = options.config});
  });
}
Result<Array> create_precomputed(std::string_view url, const VolumeInfo& info, const NewVolume& options) {
  return as_call(options.config, [&]() -> Result<Array> {
    SHERD_TRY(store, open_store(url, options.config));
    SHERD_TRY(refuse_inside(*store, options.config));
    return create_precomputed(std::move(store), "", info, options);
  });
}

namespace {

std::string numbers_text(const std::array<double, 3>& numbers) {
  std::string text;
  for (const double number : numbers) text += (text.empty() ? "" : ",") + number_json(number).dump();
  return text;
}

/// Whether two resolutions are equal except for the last digits, because writers compute them.
bool same_resolution(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  constexpr double kTolerance = 1e-6;
  return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) <= kTolerance * std::abs(y); });
}

/// The number of the scale with this resolution in the volume that `node` is.
Result<std::uint64_t> find_scale(const Node& node, const std::array<double, 3>& resolution) {
  const auto url = std::visit([](const auto& handle) { return handle.url(); }, node);
  const auto* group = std::get_if<Group>(&node);
  const Json document = group != nullptr ? group->metadata() : Json();
  const Json* info = info_in(document);
  if (info == nullptr || info->find("scales") == nullptr)
    return invalid_argument(url + " is not a volume, whose scales have a resolution");
  SHERD_TRY(volume, VolumeInfo::parse(*info));
  std::string known;
  for (std::size_t i = 0; i < volume.scales.size(); ++i) {
    if (same_resolution(volume.scales[i].resolution, resolution)) return std::uint64_t{i};
    known += (i == 0 ? "" : " or ") + numbers_text(volume.scales[i].resolution);
  }
  return not_found(url + " has no scale of " + numbers_text(resolution) + " nm; it has " + known);
}

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

Result<Array> open_scale(std::string_view url, const std::array<double, 3>& resolution, const OpenOptions& options) {
  return as_call(options.config, [&]() -> Result<Array> {
    SHERD_TRY(node, open(url, options));
    OpenOptions chosen = options;
    SHERD_TRY(scale, find_scale(node, resolution));
    chosen.scale = scale;
    return open_array(url, chosen);
  });
}
Result<Array> open_scale(std::shared_ptr<Store> store, const std::array<double, 3>& resolution,
                         const OpenOptions& options) {
  return as_call(options.config, [&]() -> Result<Array> {
    SHERD_TRY(node, open(store, options));
    OpenOptions chosen = options;
    SHERD_TRY(scale, find_scale(node, resolution));
    chosen.scale = scale;
    return open_array(std::move(store), chosen);
  });
}

Result<VolumeLinks> volume_links(std::shared_ptr<Store> store, std::string_view path, const Config& config) {
  return as_call(config, [&]() -> Result<VolumeLinks> {
    SHERD_TRY(location, volume_location(std::move(store), path, config));
    SHERD_TRY(node, location.format->open(*location.store, location.path, config.limits));
    return node ? links_of(*info_in(node->document)) : VolumeLinks{};
  });
}
Result<VolumeLinks> volume_links(std::string_view url, const Config& config) {
  SHERD_TRY(store, open_store(url, config));
  return volume_links(std::move(store), "", config);
}

Result<VolumeLinks> link_collections(std::shared_ptr<Store> store, std::string_view path, const VolumeLinks& links,
                                     const Config& config) {
  return as_call(config, [&]() -> Result<VolumeLinks> {
    SHERD_TRY(location, volume_location(std::move(store), path, config));
    location.writable = true;
    return link_volume(location, links);
  });
}
Result<VolumeLinks> link_collections(std::string_view url, const VolumeLinks& links, const Config& config) {
  SHERD_TRY(store, open_store(url, config));
  SHERD_TRY(linked, link_collections(store, "", links, config));
  SHERD_TRY(in_store(store->finish(), store->url()));
  return linked;
}

}  // namespace sherd::neuroglancer
