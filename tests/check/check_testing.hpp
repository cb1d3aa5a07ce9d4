// Stores to check, ways to damage their shards, and what a check finds.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"

namespace sherd::check_testing {

inline constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

inline CreateOptions sharded(std::vector<Json> codecs = {"zstd:1"}) {
  return {.shape = {8, 8}, .dtype = DType::uint16, .chunks = {4, 4}, .shards = {8, 8}, .codecs = std::move(codecs)};
}

inline std::shared_ptr<Store> store_with(const CreateOptions& options, const std::string& path = "") {
  auto store = memory_store();
  const Array array = create_array(store, path, options).value();
  std::vector<std::uint16_t> values(*element_count(options.shape));
  std::iota(values.begin(), values.end(), std::uint16_t{1});
  array.write(Box{Shape(options.shape.size(), 0), options.shape}, std::span<const std::uint16_t>(values)).value();
  return store;
}

inline std::string load(Store& store, const std::string& key) { return store.get(key).value().value(); }
inline void save(Store& store, const std::string& key, const std::string& bytes) { store.set(key, bytes).value(); }

/// The index at the end of the shard of 2 x 2 chunks, sealed again after a change.
struct Index {
  static constexpr std::size_t kWords = 8;
  static constexpr std::size_t kBytes = kWords * 8 + 4;
  std::uint64_t words[kWords];

  explicit Index(const std::string& shard) { std::memcpy(words, shard.data() + shard.size() - kBytes, sizeof words); }
  void put(std::string& shard) const {
    char* at = shard.data() + shard.size() - kBytes;
    std::memcpy(at, words, sizeof words);
    const std::uint32_t sum = crc32c(as_bytes(std::string_view(at, sizeof words)));
    std::memcpy(at + sizeof words, &sum, 4);
  }
  std::uint64_t& offset(std::size_t slot) { return words[2 * slot]; }
  std::uint64_t& length(std::size_t slot) { return words[2 * slot + 1]; }
};

template <class Change>
void change_index(Store& store, const Change& change, const std::string& key = "c/0/0") {
  std::string shard = load(store, key);
  Index index(shard);
  change(index, shard);
  index.put(shard);
  save(store, key, shard);
}

inline CheckReport checked(std::shared_ptr<Store> store, bool data = false) {
  return check(std::move(store), {.data = data}).value();
}

/// The one fault that there is.
inline Fault only(const CheckReport& report) {
  if (report.faults.size() == 1) return report.faults.front();
  ADD_FAILURE() << report.to_json().dump(1);
  return {};
}

}  // namespace sherd::check_testing
