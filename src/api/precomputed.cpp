// New volumes of Neuroglancer's precomputed format.
#include "sherd/precomputed.hpp"

#include <utility>

#include "api/location.hpp"
#include "api/registry.hpp"
#include "base/try.hpp"
#include "neuroglancer/create.hpp"
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

}  // namespace sherd::neuroglancer
