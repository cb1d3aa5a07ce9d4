// Writes shards from sorted ids: each in one pass, several at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "neuroglancer/stored_keys.hpp"
#include "shard/uint64.hpp"
#include "shard/writer.hpp"
#include "sherd/store.hpp"

namespace sherd {

/// The key of a shard.
[[nodiscard]] std::string shard_key(const Uint64Sharding& sharding, std::uint64_t shard);

class ShardSetWriter {
 public:
  struct Target {
    Store& store;
    const Uint64Format& format;
    bool overwrite;
    const Config& config;  ///< its memory budget has no room for writers (with_writers())
  };
  /// References must outlive this; the extents of keys are ranges of `values`.
  ShardSetWriter(const Target& target, ByteSource& values)
      : target_(target), values_(values), view_(values.view()), memory_(target.config.memory_budget) {}
  ShardSetWriter(const ShardSetWriter&) = delete;
  ShardSetWriter& operator=(const ShardSetWriter&) = delete;
  /// Erases the shards that were written, unless keep() has been called.
  ~ShardSetWriter();

  /// Writes the shards of all ids, which are sorted by shard and id. `written` counts bytes of values.
  Result<void> write(KeyStream& keys, std::atomic<std::uint64_t>& written);
  void keep() noexcept { kept_ = true; }

  [[nodiscard]] std::uint64_t shards() const noexcept { return made_.size(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  /// Consecutive ids of a shard, in whole minishards, whose lists together follow their values.
  struct Section {
    std::uint64_t shard;
    std::size_t first, last;
    bool begins, ends;  ///< whether it begins or ends the shard
  };
  struct OpenShard {
    std::unique_ptr<ObjectWriter> object;
    std::uint64_t end = 0;
  };

  Result<void> next_group(KeyStream& keys);
  Result<Section> next_section(KeyStream& keys);
  Result<void> write_group(const Config& config, std::atomic<std::uint64_t>& written);
  Result<OpenShard> write_sections(std::span<const Section> sections, OpenShard shard, const Config& config,
                                   std::atomic<std::uint64_t>& written);
  Result<void> write_section(std::span<const StoredKey> keys, OpenShard& shard, const Config& config,
                             std::atomic<std::uint64_t>& written) const;
  [[nodiscard]] Result<EncodedBatch> gather(std::span<const StoredKey> keys, std::uint64_t first_slot) const;
  [[nodiscard]] Result<void> read_values(std::span<const StoredKey> keys, Buffer& to) const;
  Result<void> commit(std::uint64_t shard, OpenShard& open);

  const Target target_;
  ByteSource& values_;
  const std::optional<std::span<const std::byte>> view_;
  const std::uint64_t memory_;

  std::vector<StoredKey> keys_;    // of the group in progress
  std::vector<Section> sections_;  // likewise
  bool in_shard_ = false;          // the next section continues the last one's shard
  OpenShard carried_;              // that shard

  std::mutex mutex_;  // guards what follows
  std::vector<std::uint64_t> made_;
  std::uint64_t bytes_ = 0;
  bool kept_ = false;
};

}  // namespace sherd
