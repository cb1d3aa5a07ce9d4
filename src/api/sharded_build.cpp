// The public entry point for building shards: opens the store of a URL and adds the codecs.
#include "sherd/sharded_build.hpp"

#include "api/location.hpp"
#include "api/registry.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "neuroglancer/codecs.hpp"
#include "neuroglancer/object_values.hpp"
#include "neuroglancer/sharded_build.hpp"

namespace sherd::neuroglancer {

Result<ShardedBuilder> ShardedBuilder::create(std::shared_ptr<Store> store, const Json& sharding,
                                              BuildOptions options) {
  return as_call(options.config, [&]() -> Result<ShardedBuilder> {
    SHERD_TRY(parameters, Uint64Sharding::parse_given(sharding).in_member("sharding"));
    SHERD_TRY(format,
              Uint64Format::build(parameters, precomputed_codecs(), options.config.limits, options.config.gzip_level));
    SHERD_TRY(check_given(*store, parameters, options.config));
    if (!options.preceding) {
      SHERD_TRY(rule, rule_of_info(*store, options.config.limits));
      options.preceding = std::move(rule);
    }
    if (options.config.recorder) store = recorded_store(std::move(store), options.config.recorder);
    return Build::start(std::move(store), std::move(format), options);  // the call needs its hooks until the end
  });
}

Result<ShardedBuilder> ShardedBuilder::create(std::string_view url, const Json& sharding, BuildOptions options) {
  SHERD_TRY(store, open_store(url, options.config));
  return create(std::move(store), sharding, std::move(options));
}

}  // namespace sherd::neuroglancer
