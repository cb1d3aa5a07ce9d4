// The `indexed` sharding transformer of the Zarr v3 draft of 2022, which the draft describes as a key-value store on
// top of another one. It packs the values of chunks into shards, under the keys of the shards. Other keys are passed
// through unchanged. Layout: docs/format/draft2022.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/array.hpp"
#include "sherd/export.hpp"
#include "sherd/json.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"
#include "sherd/store.hpp"

namespace sherd::draft2022 {

/// Bytes of a value, cut off where the value ends.
struct ByteRange {
  std::int64_t start = 0;                    ///< negative: from the value's end
  std::optional<std::uint64_t> length = {};  ///< nullopt: up to the end
};
struct KeyRange {
  std::string key;
  ByteRange range = {};
};
struct KeyValue {
  std::string key;
  std::span<const std::byte> value;
};
struct KeyStartValue {
  std::string key;
  std::uint64_t start = 0;
  std::span<const std::byte> value;
};

/// The result of list_dir(): full keys and prefixes, sorted; prefixes end in `/`.
struct KeysAndPrefixes {
  std::vector<std::string> keys;
  std::vector<std::string> prefixes;
};

/// How chunks are erased from a shard that keeps others. In both cases a new version replaces the object atomically.
enum class EraseMode : std::uint8_t {
  rewrite,   ///< the other chunks are compacted
  in_place,  ///< offsets stay, the index is marked, and the erased bytes become zeros that later chunks may reuse
};

struct TransformerOptions {
  EraseMode erase = EraseMode::rewrite;
  Config config = {};
};

/// All transformers in the document of one array: the first is nearest to the caller, the last to the store.
///
/// Keys are those of the store, such as `data/root/vol/em/c1/23` for chunk (1, 23) of the array `vol/em`. Values of
/// chunks are encoded chunks; a value longer than the array's codecs can produce is refused.
/// Nothing is cached between calls: each reads the indexes that it needs, so read many chunks in one call. The shape of
/// the array is the one that it had when the transformer was made.
/// Each changed shard is written once and replaced under the store's lock, so that no change by another writer is
/// lost. A call that changes several shards changes them one by one. Thread-safe.
class SHERD_API ShardingTransformer {
 public:
  /// An internal representation; see src/draft2022.
  struct State;

  /// Of the array at `path`. invalid_argument if it has no transformer, `unsupported` if it has an unknown one.
  static Result<ShardingTransformer> open(std::shared_ptr<Store> store, std::string_view path,
                                          const TransformerOptions& options = {});
  /// From an array document, which need not be in the store, of an array at `path`.
  static Result<ShardingTransformer> make(std::shared_ptr<Store> store, const Json& document, std::string_view path,
                                          const TransformerOptions& options = {});
  /// Of an open array, with its settings; read-only if the array is read-only.
  static Result<ShardingTransformer> of(const Array& array, EraseMode erase = EraseMode::rewrite);

  [[nodiscard]] const Array& array() const noexcept;

  /// The whole value, or nullopt.
  [[nodiscard]] Result<std::optional<std::string>> get(const std::string& key) const;
  /// One value per range, in the order of the ranges; nullopt if the value does not exist. A key may be repeated. All
  /// indexes are read first, then all values: two batches of requests, plus one for each further transformer.
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> get_partial_values(
      std::span<const KeyRange> key_ranges) const;

  Result<void> set(const std::string& key, std::span<const std::byte> value);
  /// Sets whole values; each key may occur once. A shard is not read if all of its chunks inside the array are given.
  /// Otherwise its index is read, and its other chunks are moved unchanged.
  Result<void> set_values(std::span<const KeyValue> key_values);
  /// Sets parts of values. A key may be repeated with parts that do not overlap. Together, parts may extend or create a
  /// value if they leave no gap. Reads what set_values() reads, and the chunks that are kept in part. If chunks have a
  /// fixed size (no compressor), parts that cover a chunk are treated as a whole value.
  Result<void> set_partial_values(std::span<const KeyStartValue> key_start_values);

  /// Erasing a missing value is not an error. Erasing its last chunk erases the shard.
  Result<void> erase(const std::string& key);
  /// A shard is not read if all of its chunks inside the array are given.
  Result<void> erase_values(std::span<const std::string> keys);
  /// Erases all keys that begin with `prefix`, which is empty or ends in `/`; inside the array's chunk grid it may end
  /// anywhere. Shards that are erased as a whole are not read; if this applies to all affected shards, it takes one
  /// request to the store.
  Result<void> erase_prefix(const std::string& prefix);

  /// All keys, sorted.
  [[nodiscard]] Result<std::vector<std::string>> list() const;
  /// The keys that begin with `prefix`, sorted.
  [[nodiscard]] Result<std::vector<std::string>> list_prefix(const std::string& prefix) const;
  /// The keys directly below `prefix`, which is empty or ends in `/`, and the prefixes of deeper keys. All keys exist.
  /// A prefix may contain no chunk, since no index is read for it: the shards below it may hold only other chunks.
  [[nodiscard]] Result<KeysAndPrefixes> list_dir(const std::string& prefix) const;

 private:
  explicit ShardingTransformer(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace sherd::draft2022
