// Turns what a user specifies (store or URL, path, name of a format) into the location of a node with its format.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neuroglancer/collection.hpp"
#include "node/node_location.hpp"
#include "store/store_url.hpp"

namespace sherd {

/// The formats with this name; all formats if it is empty.
Result<std::vector<const Format*>> formats_called(const std::string& name);

/// The store of a URL whose node exists. That belongs to the hierarchy around it, also if a new one would not.
Result<std::shared_ptr<Store>> open_existing(std::string_view url, const Config& config);
Result<std::shared_ptr<Store>> open_existing(const StoreUrl& url, const Config& config);
/// What open_existing() opens, and the format of the node: that of the URL, or `format`.
struct NamedStore {
  std::shared_ptr<Store> store;
  std::string format;
};
Result<NamedStore> open_named(std::string_view url, const std::string& format, const Config& config);
/// invalid_argument if the storage option `standalone` is set, which concerns only new nodes.
Result<void> refuse_standalone(const Config& config);

/// A location without a format yet. `path` is as given by the user.
Result<NodeLocation> make_location(std::shared_ptr<Store> store, std::string_view path, const Config& config);
/// A location of a collection of Neuroglancer's objects. `path` is as given by the user.
Result<neuroglancer::Collection::State::Location> collection_location(std::shared_ptr<Store> store,
                                                                      std::string_view path, bool writable,
                                                                      const Config& config);
/// How a document that cannot be read is treated: as something recognized, or as an error.
enum class Unreadable : std::uint8_t { counts, fails };
/// `location` with the first of the formats that recognizes something there; nullopt if none does.
Result<std::optional<NodeLocation>> find_format_of(NodeLocation location, const std::vector<const Format*>& formats,
                                                   Unreadable unreadable = Unreadable::counts);

/// The location of a new array or group: its format is that of the store's hierarchy unless another is requested.
Result<NodeLocation> new_location(const std::shared_ptr<Store>& store, std::string_view path, const std::string& format,
                                  const Config& config);
/// The location of a new node at a URL: in the hierarchy that contains it, or in a store of its own. `conflict` if the
/// group that it would be in is erased or renamed again and again.
Result<NodeLocation> new_location(std::string_view url, const std::string& format, const Config& config);
Result<NodeLocation> new_location(const StoreUrl& url, const std::string& format, const Config& config);
/// A hierarchy, and a location in it.
struct Enclosure {
  std::shared_ptr<Store> store;
  std::string path;
  std::shared_ptr<const Format> format = nullptr;  ///< of the node at the store's root, if enclosure() found one
};
/// The hierarchy around the root of a store that contains this root as a node: some formats keep a hierarchy in one
/// store as a whole, so that the URL of a member does not name a store. nullopt if there is none.
Result<std::optional<Enclosure>> find_around(const Store& store, const std::vector<const Format*>& formats,
                                             const Config& config);
/// The hierarchy to which the root of a store would belong: that of the nearest directory above it that is a node or,
/// without one, the hierarchy that begins at the nearest directory whose name ends in ".zarr", or at the root of an
/// archive. An empty group contains only what is created through its path: not what is below a directory that exists
/// and is not a node, unless the group is at such a place. nullopt if the store is standalone.
Result<std::optional<Enclosure>> enclosure(const Store& store, const Config& config);
/// The outermost hierarchy to which it belongs.
Result<std::optional<Enclosure>> outermost(const Store& store, const Config& config);
/// `conflict` if the root of a store is inside a Neuroglancer volume or a collection of objects: a node created there
/// would not belong to it. The same if it is inside a node that is being made in a store without locks.
Result<void> refuse_inside(const Store& store, const Config& config);
/// How to go on after a new node was refused because of the hierarchy around it; for messages.
inline constexpr std::string_view kStandalone =
    ": choose another directory, or make the node standalone (--standalone, storage_options={\"standalone\": True})";
/// enclosure() of a new array or group, after refuse_inside() has accepted it.
Result<std::optional<Enclosure>> enclosure_of_new(const Store& store, const Config& config);

/// A copy cannot be inside its own source nor, if it replaces something, contain it.
Result<void> check_apart(const NodeLocation& source, const NodeLocation& destination, bool one_store);

namespace neuroglancer {
/// Whether values may be written to the shards at the root of a store with this sharding. `conflict` if the info
/// document next to them, or one above, has a different sharding; `unsupported` if it says that they are also the
/// shards of a Zarr array.
Result<void> check_given(Store& store, const Uint64Sharding& sharding, const Config& config);
}  // namespace neuroglancer

}  // namespace sherd
