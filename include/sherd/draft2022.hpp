// The `indexed` sharding transformer of the Zarr v3 draft of 2022, which the draft describes as a key-value store over
// another one. It packs the values of chunks into shards, under the keys of the shards. Other keys are passed on
// unchanged. Layout of the bytes: docs/format/draft2022.md.
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

/// What list_dir() returns: whole keys and prefixes, sorted; prefixes end in `/`.
struct KeysAndPrefixes {
  std::vector<std::string> keys;
  std::vector<std::string> prefixes;
};

/// How chunks are erased from a shard that keeps others. Either way a new version replaces the object atomically.
enum class EraseMode : std::uint8_t {
  rewrite,   ///< the other chunks are moved together
  in_place,  ///< offsets stay, the index is marked, and the erased bytes become zeros that later chunks may use
};

struct TransformerOptions {
  EraseMode erase = EraseMode::rewrite;
  Config config = {};
};

/// All transformers in the document of one array: the first faces the caller, the last the store.
///
/// Keys are those of the store, such as `data/root/vol/em/c1/23` for chunk (1, 23) of the array `vol/em`. Values of
/// chunks are encoded chunks; one that is longer than the array's codecs can make it is refused.
/// Nothing is kept between calls: each reads the indices that it needs, so many chunks are best read in one call. The
/// shape of the array is the one that it had when the transformer was made.
/// Each shard that is changed is written once and replaced under the store's lock, so that no change of another writer
/// is lost. A call that changes several shards changes them one by one. Thread-safe.
class SHERD_API ShardingTransformer {
 public:
  /// An internal representation; see src/draft2022.
  struct State;

  /// Of the array at `path`. invalid_argument where it has no transformer, `unsupported` where one is not known.
  static Result<ShardingTransformer> open(std::shared_ptr<Store> store, std::string_view path,
                                          const TransformerOptions& options = {});
  /// From an array document, which need not be in the store, for an array at `path`.
  static Result<ShardingTransformer> make(std::shared_ptr<Store> store, const Json& document, std::string_view path,
                                          const TransformerOptions& options = {});
  /// Of an open array, with its settings; read-only if the array is.
  static Result<ShardingTransformer> of(const Array& array, EraseMode erase = EraseMode::rewrite);

  [[nodiscard]] const Array& array() const noexcept;

  /// The whole value, or nullopt.
  [[nodiscard]] Result<std::optional<std::string>> get(const std::string& key) const;
  /// One value per range, in the order of the ranges; nullopt if the value does not exist. A key may be repeated. All
  /// indices are read first, then all values: two batches of requests, and one more for each further transformer.
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> get_partial_values(
      std::span<const KeyRange> key_ranges) const;

  Result<void> set(const std::string& key, std::span<const std::byte> value);
  /// Whole values, each key once. A shard all of whose chunks inside the array are given is not read; of others the
  /// index is read, and the other chunks are moved unchanged.
  Result<void> set_values(std::span<const KeyValue> key_values);
  /// Parts of values. A key may be repeated with parts that do not overlap. Together they may extend a value, or
  /// create one, if there is no gap between them. Reads what set_values() reads, and the chunks of which a part is
  /// kept. If chunks have a fixed size (no compressor), parts that cover a chunk are a whole value.
  Result<void> set_partial_values(std::span<const KeyStartValue> key_start_values);

  /// Erasing a missing value is not an error. A shard is erased with its last chunk.
  Result<void> erase(const std::string& key);
  /// A shard all of whose chunks inside the array are given is not read.
  Result<void> erase_values(std::span<const std::string> keys);
  /// All keys that begin with `prefix`, which is empty or ends in `/`; inside the array's grid of chunks it may end
  /// anywhere. Shards that are erased as a whole are not read; if all are that it touches, this is one request to the
  /// store.
  Result<void> erase_prefix(const std::string& prefix);

  /// All keys, sorted.
  [[nodiscard]] Result<std::vector<std::string>> list() const;
  /// Those that begin with `prefix`.
  [[nodiscard]] Result<std::vector<std::string>> list_prefix(const std::string& prefix) const;
  /// Keys directly below `prefix`, which is empty or ends in `/`, and the prefixes of deeper ones. All keys exist. A
  /// prefix may have no chunk, since no index is read for it: the shards below it may hold only other chunks.
  [[nodiscard]] Result<KeysAndPrefixes> list_dir(const std::string& prefix) const;

 private:
  explicit ShardingTransformer(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

}  // namespace sherd::draft2022
