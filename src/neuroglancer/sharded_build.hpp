// A build in progress: sorts ids of values that come in any order, and writes shards from them.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "neuroglancer/spill_file.hpp"
#include "neuroglancer/value_arena.hpp"
#include "shard/uint64.hpp"
#include "sherd/sharded_build.hpp"

namespace sherd::neuroglancer {

class ShardedBuilder::Build {
 public:
  /// Starts a build and returns it as the builder that holds it.
  static Result<ShardedBuilder> start(std::shared_ptr<Store> store, Uint64Format format, BuildOptions options);

  Result<void> add(const Value& value);
  Result<void> add(std::span<const Value> values);
  /// A value that could not be added is missing, so finish() returns the error that add() returned.
  Result<void> unless_failed(Result<void> added);
  Result<BuildReport> finish();
  [[nodiscard]] Store& store() const noexcept { return *store_; }

 private:
  Build(std::shared_ptr<Store> store, Uint64Format format, BuildOptions options)
      : store_(std::move(store)), format_(std::move(format)), options_(std::move(options)) {}

  /// Refuses values that could not be read back.
  [[nodiscard]] Result<void> check(const Value& value) const;
  Result<void> keep(std::uint64_t id, const ValueArena::Parts& encoded);
  /// Makes space for `bytes` in `filling_`, emptying it if necessary; requires the lock.
  Result<void> make_room(std::uint64_t bytes, std::unique_lock<std::mutex>& hold);
  Result<Extent> spill_larger(const ValueArena::Parts& encoded);
  Result<Extent> spill(ValueArena& arena);
  Result<void> need_file();

  Result<BuildReport> write_in_memory();
  Result<BuildReport> write_spilled();
  /// Merges all lists into one.
  Result<Extent> merge_lists();
  Result<Extent> merge(std::span<const Extent> lists);
  Result<void> find_existing();
  /// `conflict` if a shard of these ids exists already.
  Result<void> check_absent(std::span<const StoredKey> sorted) const;
  Result<BuildReport> write_shards(KeyStream keys, ByteSource& values);

  std::shared_ptr<Store> store_;
  const Uint64Format format_;
  const BuildOptions options_;

  std::mutex mutex_;  // guards what follows until finish()
  std::condition_variable spilled_;
  std::optional<ValueArena> filling_, spare_;
  bool spilling_ = false;
  std::optional<Error> failed_;
  std::unique_ptr<SpillFile> file_;
  std::vector<Extent> lists_;  // sorted keys in the file
  std::uint64_t ids_ = 0;
  std::uint64_t value_bytes_ = 0;
  std::set<std::string> existing_;  // objects of the store, if they may not be replaced
};

}  // namespace sherd::neuroglancer
