// Makes the sharding transformer of the 2022 draft from a store and a path or an array document, and provides the
// tables that are needed to interpret the document.
#include "sherd/draft2022.hpp"
#include "array/nodes.hpp"

#include "api/location.hpp"
#include "api/registry.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "node/document.hpp"

namespace sherd::draft2022 {

Result<ShardingTransformer> ShardingTransformer::open(std::shared_ptr<Store> store, std::string_view path,
                                                      const TransformerOptions& options) {
  const bool writable = !store->read_only();
  SHERD_TRY(
      array,
      open_array(std::move(store),
                 {.path = std::string(path), .writable = writable, .format = "draft2022", .config = options.config}));
  return of(array, options.erase);
}

Result<ShardingTransformer> ShardingTransformer::make(std::shared_ptr<Store> store, const Json& document,
                                                      std::string_view path, const TransformerOptions& options) {
  return as_call(options.config, [&]() -> Result<ShardingTransformer> {
    SHERD_TRY(location, make_location(std::move(store), path, options.config));
    const EntryPoint& hierarchy = *capability<EntryPoint>(*find_format("draft2022"));
    SHERD_TRY(format, hierarchy.bind(*location.store, options.config.limits));
    // The transformer needs no hierarchy, and works even if the store has one of another format.
    location.format = format != nullptr ? std::move(format) : hierarchy.created();
    location.writable = !location.store->read_only();
    SHERD_TRY(node, location.format->lower(document, options.config.limits));
    if (node.type != NodeType::array) return invalid_argument("the document is a group's, not an array's");
    SHERD_TRY(array, make_array(std::move(location), std::move(node)));
    return of(array, options.erase);
  });
}

}  // namespace sherd::draft2022
