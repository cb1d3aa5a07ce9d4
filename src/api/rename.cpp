// Renames the node at a URL: finds the hierarchy that contains it, and moves it there as its group would.
#include "api/location.hpp"
#include "api/members.hpp"
#include "api/open_hints.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "node/move.hpp"
#include "node/path.hpp"
#include "sherd/group.hpp"

namespace sherd {
namespace {

/// The new path from the store's root: `to` is relative to the root or to the group that contains the node.
Result<std::string> target_path(const std::string& node, std::string_view to) {
  SHERD_TRY(path, normal_path(to));
  const std::size_t end = to.starts_with('/') ? node.npos : node.rfind('/');
  return end == node.npos ? path : join_path(node.substr(0, end), path);
}

}  // namespace

Result<std::optional<Enclosure>> outermost(const Store& store, const Config& config) {
  SHERD_TRY(found, enclosure(store, config));
  while (found) {
    SHERD_TRY(outer, enclosure(*found->store, config));
    if (!outer) break;
    found = Enclosure{outer->store, join_path(outer->path, found->path)};
  }
  return found;
}

Result<void> rename(std::shared_ptr<Store> store, std::string_view to, const OpenOptions& options) {
  return as_call(options.config, [&]() -> Result<void> {
    if (store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
    SHERD_TRY(location, make_location(std::move(store), options.path, options.config));
    location.writable = true;
    SHERD_TRY(formats, formats_called(options.format));
    SHERD_TRY(target, target_path(location.path, to));
    SHERD_TRY(found, find_format_of(location, formats));
    if (!found) return nothing_found(location, formats);
    SHERD_TRY(move_node(*found, target));
    SHERD_TRY(follow_in_metadata(*found, target));
    return {};
  });
}

Result<void> rename(std::string_view url, std::string_view to, const OpenOptions& options) {
  return as_call(options.config, [&]() -> Result<void> {
    SHERD_TRY(refuse_standalone(options.config));
    SHERD_TRY(named, open_named(url, options.format, options.config));
    const std::shared_ptr<Store>& store = named.store;
    OpenOptions inside = options;
    inside.format = named.format;
    SHERD_TRY(above, outermost(*store, options.config));
    if (!above) {
      auto renamed = rename(store, to, inside);
      if (renamed) return in_store(store->finish(), store->url());
      if (renamed.error().code() != ErrorCode::not_found) return renamed;
      SHERD_TRY(formats, formats_called(inside.format));
      SHERD_TRY(around, find_around(*store, formats, options.config));
      if (!around) return renamed;
      above = std::move(around);  // a scale of a volume, which is refused
    }
    inside.path = above->path + "/" + options.path;
    const std::string name = above->store->url();
    SHERD_TRY(in_store(rename(above->store, to, inside), name));
    return in_store(above->store->finish(), name);
  });
}

}  // namespace sherd
