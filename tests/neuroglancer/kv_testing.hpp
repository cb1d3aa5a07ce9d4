// Stores of ids for tests: shardings by name, values that can be told apart.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "shard/uint64.hpp"
#include "sherd/sharded_store.hpp"

namespace sherd::kv_testing {

using neuroglancer::ShardedStore;
using neuroglancer::ShardedStoreOptions;
using Values = std::map<std::uint64_t, std::string>;

inline ShardedStore open(const std::shared_ptr<Store>& store, const Uint64Sharding& sharding,
                         ShardedStoreOptions options = {}) {
  options.writable = true;
  return ShardedStore::open(store, sharding.json(), options).value();
}

inline std::vector<ShardedStore::Item> items_of(const Values& values) {
  std::vector<ShardedStore::Item> items;
  for (const auto& [id, value] : values) items.push_back({id, as_bytes(value)});
  return items;
}
inline void put(const ShardedStore& store, const Values& values) { store.put_many(items_of(values)).value(); }

/// Everything that list() and get_many() return; they must agree.
inline Values all_of(const ShardedStore& store) {
  std::vector<std::uint64_t> ids;
  store
      .list([&](std::uint64_t id, std::uint64_t) {
        ids.push_back(id);
        return true;
      })
      .value();
  const auto values = store.get_many(ids).value();
  Values all;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_TRUE(values[i].has_value()) << ids[i];
    EXPECT_TRUE(all.emplace(ids[i], values[i].value_or("")).second) << ids[i];
  }
  return all;
}

/// Ids spread over all bits; values of 0 to 200 bytes that are hardly compressible.
inline Values some_values(std::uint64_t count, std::uint64_t seed = 0) {
  Values values;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t id = murmurhash3(i + seed * 1000003);
    std::string& value = values[i % 3 == 0 ? i : id];
    for (std::uint64_t k = 0; k < id % 26; ++k) {
      const std::uint64_t word = murmurhash3(id ^ k);
      value.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
  }
  return values;
}

inline std::uint64_t size_of(Store& store, const std::string& key) { return store.open(key).value()->size().value(); }

}  // namespace sherd::kv_testing
