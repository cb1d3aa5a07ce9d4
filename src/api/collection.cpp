// The public entry points for collections of Neuroglancer's objects: opens the store of a URL and adds the codecs.
#include "neuroglancer/collection.hpp"

#include <algorithm>

#include "api/location.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "neuroglancer/annotation_build.hpp"
#include "store/key.hpp"

namespace sherd::neuroglancer {

Result<Collection> Collection::open(std::shared_ptr<Store> store, const CollectionOptions& options) {
  return as_call(options.config, [&]() -> Result<Collection> {
    SHERD_TRY(location, collection_location(std::move(store), options.path, options.writable, options.config));
    SHERD_TRY(state, State::open(std::move(location)));
    return Collection(std::move(state));
  });
}

Result<Collection> Collection::open(std::string_view url, const CollectionOptions& options) {
  SHERD_TRY(store, open_store(url, options.config));
  return open(std::move(store), options);
}

Result<Collection> Collection::create(std::shared_ptr<Store> store, const CollectionInfo& info,
                                      const NewCollection& options) {
  return as_call(options.config, [&]() -> Result<Collection> {
    SHERD_TRY(location, collection_location(std::move(store), options.path, true, options.config));
    SHERD_TRY(state, State::create(std::move(location), info, options.overwrite));
    return Collection(std::move(state));
  });
}

Result<Collection> Collection::create(std::string_view url, const CollectionInfo& info, const NewCollection& options) {
  SHERD_TRY(store, open_store(url, options.config));
  return create(std::move(store), info, options);
}

Result<AnnotationBuilder> AnnotationBuilder::create(std::shared_ptr<Store> store, AnnotationInfo info,
                                                    AnnotationBuildOptions options) {
  return as_call(options.config, [&]() -> Result<AnnotationBuilder> {
    SHERD_TRY(location, collection_location(std::move(store), options.path, true, options.config));
    return Build::start(std::move(location), std::move(info), options);  // the call needs its hooks until the end
  });
}

Result<AnnotationBuilder> AnnotationBuilder::create(std::string_view url, AnnotationInfo info,
                                                    AnnotationBuildOptions options) {
  SHERD_TRY(store, open_store(url, options.config));
  return create(std::move(store), std::move(info), std::move(options));
}

std::vector<VolumeCollection> collections_in(const Group& group) {
  std::vector<VolumeCollection> found;
  if (group.format() != "precomputed") return found;
  const auto listing = group.store()->list_dir(prefix_of(group.path()));
  if (!listing) return found;
  for (const std::string& name : listing->prefixes) {
    const auto is_scale = group.contains(name);
    if (!is_scale.has_value() || *is_scale) continue;
    const auto collection = Collection::open(group.store(), {.path = prefix_of(group.path()) + name});
    if (collection) found.push_back({name, std::string(kind_name(collection->info()))});
  }
  std::ranges::sort(found, {}, &VolumeCollection::name);
  return found;
}

}  // namespace sherd::neuroglancer
