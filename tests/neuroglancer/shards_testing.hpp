// The contents of a store of shards of ids, read back without the code that built it.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "api/registry.hpp"
#include "base/buffer.hpp"
#include "base/cache.hpp"
#include "base/endian.hpp"
#include "neuroglancer/codecs.hpp"
#include "shard/reader.hpp"
#include "sherd/sharded_build.hpp"
#include "store/span.hpp"
#include "tests/store/tree.hpp"

namespace sherd::kv_testing {

using Values = std::map<std::uint64_t, std::string>;
/// The values of one shard, each found at the location of its id.
inline void read_shard(const std::string& bytes, const Uint64Format& format, const std::string& name, Values& into) {
  const Limits limits;
  SpanSource source(name, as_bytes(bytes));
  Cache cache(std::uint64_t{64} << 20);
  std::vector<std::uint64_t> minishards(std::size_t{1} << format.sharding.minishard_bits);
  std::iota(minishards.begin(), minishards.end(), 0);
  const auto lists = read_minishards(source, minishards, {format, limits, cache}).value();
  for (const std::uint64_t minishard : minishards) {
    if (lists[minishard] == nullptr) continue;
    ASSERT_TRUE(lists[minishard]->repeated().empty());
    for (const MinishardIndex::Chunk& chunk : lists[minishard]->chunks()) {
      const auto location = format.sharding.locate(chunk.id);
      ASSERT_EQ(format.sharding.name(location.shard) + ".shard", name) << chunk.id;
      ASSERT_EQ(location.minishard, minishard) << chunk.id;
      const Extent extent = lists[minishard]->extent(chunk).value();
      Buffer decoded;
      format.data_codecs.decode_bytes(as_bytes(bytes).subspan(extent.offset, extent.length), 1 << 26, decoded).value();
      into.emplace(chunk.id, std::string(reinterpret_cast<const char*>(decoded.data()), decoded.size()));
    }
  }
}

inline Values values_of(const Tree& objects, const Uint64Sharding& sharding) {
  const Uint64Format format = Uint64Format::build(sharding, precomputed_codecs(), Limits()).value();
  Values values;
  for (const auto& [name, bytes] : objects) read_shard(bytes, format, name, values);
  return values;
}

/// Numbers that look random and are the same in every run.
inline std::uint64_t scrambled(std::uint64_t number) {
  number = (number ^ (number >> 31)) * 0x9e3779b97f4a7c15U;
  return number ^ (number >> 29);
}

inline Result<void> add(neuroglancer::ShardedBuilder& builder, std::uint64_t id, std::string_view text) {
  return builder.add(id, as_bytes(text));
}

}  // namespace sherd::kv_testing
