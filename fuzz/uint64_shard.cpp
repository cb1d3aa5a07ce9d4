// Any bytes as a shard of ids. The first byte chooses the sharding. Every listed id can be read or is rejected; after a
// successful change the new value is read, and all others are unchanged; compaction changes no value.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shard/uint64.hpp"
#include "sherd/sherd.hpp"

namespace {

using namespace sherd;
using neuroglancer::ShardedStore;
using Values = std::map<std::uint64_t, std::string>;

void expect(bool holds) {
  if (!holds) std::abort();
}

ShardedStore open_with(const std::shared_ptr<Store>& store, std::uint8_t choice) {
  const Uint64Sharding sharding{.preshift_bits = (choice & 1U) != 0 ? 64U : 0U,
                                .minishard_bits = (choice & 2U) != 0 ? 2U : 0U,
                                .gzip_index = (choice & 4U) != 0,
                                .gzip_data = (choice & 8U) != 0};
  neuroglancer::ShardedStoreOptions options{.writable = true};
  options.config.threads = 1;
  options.config.cache_bytes = (choice & 16U) != 0 ? 0 : 4096;
  options.config.limits.chunk_bytes = 1 << 20;
  options.config.limits.index_bytes = 1 << 20;
  return ShardedStore::open(store, sharding.json(), options).value();
}

/// Empty if the shard cannot be read completely.
std::optional<Values> read_all(const ShardedStore& ids) {
  std::vector<std::uint64_t> listed;
  const auto whole = ids.list([&](std::uint64_t id, std::uint64_t) {
    listed.push_back(id);
    return true;
  });
  if (!whole.has_value()) return std::nullopt;
  const auto values = ids.get_many(listed);
  if (!values) return std::nullopt;
  Values all;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    expect((*values)[i].has_value());
    all.emplace(listed[i], *(*values)[i]);
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto store = memory_store();
  store->set("0.shard", std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1)).value();
  const ShardedStore ids = open_with(store, data[0]);
  auto before = read_all(ids);
  (void)ids.get(3);
  const std::string_view text = "a new value";
  if (ids.put({3, std::as_bytes(std::span(text))}) && before) {
    (*before)[3] = text;
    expect(read_all(ids) == before);
  }
  if (ids.compact() && before) expect(read_all(open_with(store, data[0])) == before);
  if (const auto erased = ids.erase(3); erased.has_value() && before) {
    before->erase(3);
    expect(read_all(ids) == before);
  }
  return 0;
}
