// From what a user says (store or URL, path, name of a format) to the location of a node with its format.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/state.hpp"
#include "neuroglancer/collection.hpp"

namespace sherd {

/// The formats that a name means; all if it is empty.
Result<std::vector<const Format*>> formats_called(const std::string& name);

/// A location without a format yet. `path` is as the user says it.
Result<NodeLocation> make_location(std::shared_ptr<Store> store, std::string_view path, const Config& config);
/// A location of a collection of Neuroglancer's objects, likewise.
Result<neuroglancer::Collection::State::Location> collection_location(std::shared_ptr<Store> store,
                                                                      std::string_view path, bool writable,
                                                                      const Config& config);
/// What is made of a document that cannot be looked at: something that is known, or an error.
enum class Unreadable : std::uint8_t { counts, fails };
/// The same location with the first of the formats that knows something there; nullopt where none does.
Result<std::optional<NodeLocation>> find_format_of(NodeLocation location, const std::vector<const Format*>& formats,
                                                   Unreadable unreadable = Unreadable::counts);

/// Where a new array or group goes: its format is that of the store's hierarchy unless another is asked for.
Result<NodeLocation> new_location(std::shared_ptr<Store> store, std::string_view path, const std::string& format,
                                  const Config& config);
/// The same for the node of a URL: in the hierarchy in which it lies, or in a store of its own.
Result<NodeLocation> new_location(std::string_view url, const std::string& format, const Config& config);
/// Calls visit(store around, path from there to the store's root) for the stores around a store (Store::parent()), from
/// the inside out, until it returns true.
using VisitAbove = std::function<Result<bool>(const std::shared_ptr<Store>& outer, const std::string& path)>;
Result<void> for_each_above(const Store& store, const VisitAbove& visit);
/// A hierarchy, and a location in it.
struct Enclosure {
  std::shared_ptr<Store> store;
  std::string path;
};
/// The hierarchy around the root of a store in which that root is a node: some formats keep a hierarchy in one store as
/// a whole, so that the URL of a member names no store of its own. nullopt where there is none.
Result<std::optional<Enclosure>> find_around(const Store& store, const std::vector<const Format*>& formats,
                                             const Config& config);
/// The hierarchy to which the root of a store would belong: that of the nearest directory above it which is a node or,
/// where none is, the one that begins at the nearest directory whose name ends in ".zarr". Nullopt where the store is
/// on its own.
Result<std::optional<Enclosure>> enclosure(const Store& store, const Config& config);
/// The outermost hierarchy to which it belongs.
Result<std::optional<Enclosure>> outermost(const Store& store, const Config& config);
/// `conflict` where the root of a store lies inside a volume of Neuroglancer's or a collection of objects:
/// a node that is created there would not belong to it.
Result<void> refuse_inside(const Store& store, const Config& config);
/// enclosure() of a new array or group, which refuse_inside() lets come to be.
Result<std::optional<Enclosure>> enclosure_of_new(const Store& store, const Config& config);

namespace neuroglancer {
/// Whether values may be written to the shards at the root of a store by this sharding: `conflict` where the info
/// document next to them or above says another one of them, `unsupported` where it says that they are those of a Zarr
/// array, too.
Result<void> check_given(Store& store, const Uint64Sharding& sharding, const Config& config);
}  // namespace neuroglancer

}  // namespace sherd
