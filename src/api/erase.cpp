// Erases the node at a URL: finds it as open() does, and erases it as its group would.
#include "node/erase.hpp"
#include "api/location.hpp"
#include "api/members.hpp"
#include "api/open_hints.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "check/leftovers.hpp"
#include "node/claim.hpp"
#include "node/presence.hpp"
#include "sherd/group.hpp"

namespace sherd {
namespace {

/// A node, or else what is left of one that was being made or erased; nullopt if there is neither.
Result<std::optional<NodeLocation>> find_erasable(NodeLocation location, const std::vector<const Format*>& formats) {
  std::optional<NodeLocation> left;
  SHERD_TRY(claim, claim_of(location));
  const auto is_left_by_claim = [&] {
    if (!claim->format.empty()) return claim->format == location.format->name();
    return location.format->contents(location.path) == std::vector{prefix_of(location.path)};
  };
  for (const Format* format : formats) {
    SHERD_TRY(bound, format->in(*location.store, location.config.limits));
    if (bound == nullptr) continue;
    location.format = std::move(bound);
    SHERD_TRY(present, own_presence(location));
    if (present != Presence::none) return std::optional(std::move(location));
    if (claim && !left && is_left_by_claim()) left = location;
  }
  return left;
}

/// A collection of objects is not a node.
Result<void> refuse_collection(const NodeLocation& location) {
  SHERD_TRY(there, collection_location(location.store, location.path, false, location.config));
  const auto found = neuroglancer::Collection::State::find(std::move(there));
  if (!found || !*found) return {};
  return unsupported("a collection of " + std::string(neuroglancer::kind_name((**found)->info)) +
                     " is not erased by this version; remove its directory, and links to it ('sherd link')");
}

}  // namespace

Result<void> erase(std::shared_ptr<Store> store, const OpenOptions& options) {
  return as_call(options.config, [&]() -> Result<void> {
    if (store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
    SHERD_TRY(location, make_location(std::move(store), options.path, options.config));
    location.writable = true;
    SHERD_TRY(formats, formats_called(options.format));
    SHERD_TRY(found, find_erasable(location, formats));
    if (!found) {
      SHERD_TRY(refuse_collection(location));
      SHERD_TRY(left, left_without_node(location, true));
      return left.repaired.empty() ? Result<void>(nothing_found(location, formats)) : Result<void>();
    }
    SHERD_TRY(erase_node(*found));
    SHERD_TRY(follow_in_metadata(*found, std::nullopt));
    return {};
  });
}

// Uses the hierarchy around the node, if any: other processes that create a node there take that hierarchy's lock.
Result<void> erase(std::string_view url, const OpenOptions& options) {
  return as_call(options.config, [&]() -> Result<void> {
    SHERD_TRY(refuse_standalone(options.config));
    SHERD_TRY(named, open_named(url, options.format, options.config));
    const std::shared_ptr<Store>& store = named.store;
    OpenOptions inside = options;
    inside.format = named.format;
    SHERD_TRY(formats, formats_called(inside.format));
    SHERD_TRY(above, enclosure(*store, options.config));
    if (!above) {
      SHERD_TRY(around, find_around(*store, formats, options.config));
      above = std::move(around);
    }
    if (!above) {
      SHERD_TRY(erase(store, inside));
      return in_store(store->finish(), store->url());
    }
    inside.path = above->path + "/" + options.path;
    const std::string name = above->store->url();
    SHERD_TRY(in_store(erase(above->store, inside), name));
    return in_store(above->store->finish(), name);
  });
}

}  // namespace sherd
