// The handle: made from a store and a sharding, with their properties.
#include "neuroglancer/sharded_store.hpp"
#include "base/try.hpp"

namespace sherd::neuroglancer {

Result<std::shared_ptr<ShardedStore::State>> ShardedStore::State::make(std::shared_ptr<Store> store,
                                                                       const Json& sharding, CodecTable table,
                                                                       const ShardedStoreOptions& options) {
  if (options.writable && store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
  SHERD_TRY(parsed, Uint64Sharding::parse(sharding).in_member("sharding"));
  SHERD_TRY(format, Uint64Format::build(parsed, table, options.config.limits, options.config.gzip_level));
  if (options.config.recorder) store = recorded_store(std::move(store), options.config.recorder);
  return std::make_shared<State>(std::move(store), std::move(format), options);
}

ShardedStore::ShardedStore(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

const std::string& ShardedStore::url() const noexcept { return state_->store->url(); }
Json ShardedStore::sharding() const { return state_->format.sharding.json(); }
const ShardedStoreOptions& ShardedStore::options() const noexcept { return state_->options; }

}  // namespace sherd::neuroglancer
