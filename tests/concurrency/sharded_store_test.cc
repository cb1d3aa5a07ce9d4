// A store of values by id, used by many threads: some replace values in place, others read all of them.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/buffer.hpp"
#include "shard/uint64.hpp"
#include "sherd/sharded_store.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd {
namespace sharded_store_test {

void write_and_read(const std::shared_ptr<Store>& store) {
  constexpr std::uint64_t kIds = 32, kWriters = 4, kRounds = 20;
  neuroglancer::ShardedStoreOptions options{.writable = true};
  options.config.threads = 2;
  const Json sharding = Uint64Sharding{.minishard_bits = 3, .shard_bits = 1, .gzip_data = true}.json();
  const auto ids = neuroglancer::ShardedStore::open(store, sharding, options).value();
  std::vector<std::uint64_t> all;
  for (std::uint64_t id = 0; id < kIds; ++id) all.push_back(id);
  std::vector<std::thread> threads;
  for (std::uint64_t writer = 0; writer < kWriters; ++writer)
    threads.emplace_back([&, writer] {
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        const std::string value = std::to_string(round) + std::string(500, 'x');
        std::vector<neuroglancer::ShardedStore::Item> items;
        for (std::uint64_t id = writer; id < kIds; id += kWriters) items.push_back({id, as_bytes(value)});
        ids.put_many(items).value();
      }
    });
  for (int reader = 0; reader < 2; ++reader)
    threads.emplace_back([&] {
      std::vector<unsigned long> newest(kIds, 0);
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        const auto values = ids.get_many(all).value();
        for (std::uint64_t id = 0; id < kIds; ++id) {
          const unsigned long seen = values[id] ? std::stoul(*values[id]) : 0;
          EXPECT_GE(seen, newest[id]) << id;
          newest[id] = seen;
        }
      }
    });
  threads.emplace_back([&] {
    for (int round = 0; round < 5; ++round) ids.compact().value();
  });
  for (auto& thread : threads) thread.join();
  const auto left = ids.get_many(all).value();
  for (const auto& value : left) EXPECT_EQ(value.value_or(""), std::to_string(kRounds) + std::string(500, 'x'));
}

TEST(ConcurrentShardedStore, LosesNothingInMemory) { write_and_read(memory_store()); }

TEST(ConcurrentShardedStore, LosesNothingInFilesThatChangeInPlace) {
  const TempDir dir;
  Config config;
  config.durable = false;
  write_and_read(file_store(dir.path(), config).value());
}

}  // namespace sharded_store_test
}  // namespace sherd
