// Sorted lists of ids, in memory or in a temporary file, and how many of them are merged into one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shard/uint64.hpp"
#include "sherd/store.hpp"
#include "store/extent.hpp"

namespace sherd {

/// An id, and the location of its encoded value among all values of a build, including the bytes before it that belong
/// to it. Written to temporary files in this form.
struct StoredKey {
  std::uint64_t id;
  Extent value;
  std::uint64_t preceding;  ///< bytes of the extent
};

/// The number by which ids are ordered: by shard and then by minishard.
[[nodiscard]] inline std::uint64_t route_of(const Uint64Sharding& sharding, std::uint64_t id) noexcept {
  const Uint64Sharding::Location location = sharding.locate(id);
  return sharding.minishard_bits == 0 ? location.shard : location.shard << sharding.minishard_bits | location.minishard;
}

/// Reads a list once, from its beginning to its end.
class KeyStream {
 public:
  /// Of keys that the caller keeps.
  explicit KeyStream(std::span<const StoredKey> keys) : ready_(keys) {}
  /// Of keys at an offset of a source, with `at_once` of them in memory.
  KeyStream(ByteSource& source, Extent where, std::size_t at_once)
      : source_(&source), where_(where), buffer_(std::max<std::size_t>(1, at_once)) {}

  /// The next key, valid until another is requested; nullptr at the end.
  Result<const StoredKey*> peek() {
    if (next_ < ready_.size() || where_.length == 0) return next_ < ready_.size() ? &ready_[next_] : nullptr;
    return refill();
  }
  void pop() noexcept { ++next_; }

 private:
  Result<const StoredKey*> refill();

  std::span<const StoredKey> ready_;
  std::size_t next_ = 0;
  ByteSource* source_ = nullptr;
  Extent where_;  ///< not read yet
  std::vector<StoredKey> buffer_;
};

/// Merges sorted streams; `invalid_argument` names an id that occurs twice.
class KeyMerger {
 public:
  KeyMerger(const Uint64Sharding& sharding, std::vector<KeyStream> streams)
      : sharding_(sharding), streams_(std::move(streams)) {}
  Result<void> start();
  /// Replaces `into` with the next keys, at most `most`; none at the end.
  Result<void> next(std::size_t most, std::vector<StoredKey>& into);

 private:
  struct Head {
    std::uint64_t route;
    StoredKey key;
    std::size_t stream;
    /// For a heap with the first key at the top.
    friend bool operator<(const Head& a, const Head& b) noexcept {
      return a.route != b.route ? a.route > b.route : a.key.id > b.key.id;
    }
  };
  Result<void> push(std::size_t stream);

  const Uint64Sharding sharding_;
  std::vector<KeyStream> streams_;
  std::vector<Head> heads_;
  std::optional<std::uint64_t> last_;
};

[[nodiscard]] Error given_twice(std::uint64_t id);

}  // namespace sherd
