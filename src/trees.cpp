// The public ways into what is done with whole trees: copy and check. A URL names a store whose root is the node; the
// format is the first of the table that knows something there, readable or not.
#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "registry.hpp"
#include "sherd/tools.hpp"
#include "tools/check.hpp"

namespace sherd {

namespace {

Result<NodePlace> make_place(std::shared_ptr<Store> store, const std::string& path, const Config& config) {
  SHERD_TRY(normal, normal_path(path));
  if (config.recorder) store = recorded_store(std::move(store), config.recorder);
  return NodePlace{.store = std::move(store), .path = std::move(normal), .tables = tables(), .config = config};
}

Result<NodePlace> find_place(std::shared_ptr<Store> store, const std::string& path, const Config& config) {
  SHERD_TRY(place, make_place(std::move(store), path, config));
  for (const Format* format : place.tables.formats) {
    for (const std::string& key : format->probes(place.path)) {
      auto source = place.store->open(key);
      // What stands there but cannot be opened is for the reader of the document to tell.
      if (source && *source == nullptr) continue;
      place.format = format;
      return place;
    }
  }
  return not_found("no array and no group in " + place.store->url())
      .in_key(place.tables.formats.front()->document_key(place.path));
}

}  // namespace

Result<CheckReport> check(std::shared_ptr<Store> store, const CheckOptions& options) {
  SHERD_TRY(place, find_place(std::move(store), options.path, options.config));
  return check_nodes(place, options);
}

Result<CheckReport> check(std::string_view url, const CheckOptions& options) {
  SHERD_TRY(store, open_store(url, options.config));
  return check(std::move(store), options);
}

}  // namespace sherd
