// Settings that are chosen at run time and never stored in metadata: limits, budgets, write strategies, hooks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sherd/export.hpp"
#include "sherd/result.hpp"
#include "sherd/view.hpp"

namespace sherd {

class OpenStores;
class Recorder;

/// Bounds on the resources that untrusted bytes may demand. Exceeding one is `unsupported`, and the error names it.
struct Limits {
  std::uint64_t shard_nesting = 16;
  std::uint64_t json_depth = 128;
  std::uint64_t json_values = std::uint64_t{4} << 20;  ///< per document; each value needs about 40 bytes of memory
  std::uint64_t metadata_bytes = std::uint64_t{64} << 20;
  std::uint64_t index_bytes = std::uint64_t{256} << 20;
  std::uint64_t chunk_bytes = std::uint64_t{2} << 30;    ///< decoded
  std::uint64_t element_bytes = std::uint64_t{1} << 20;  ///< of a type of fixed size
  std::uint64_t dimensions = 32;
  std::uint64_t decode_ratio = 0;  ///< ratio of decoded to encoded bytes; 0: the maximum of the codec's format

  /// Sets a limit by name; unknown names are invalid_argument.
  SHERD_API Result<void> set(std::string_view name, std::uint64_t value);
  /// All names with their values.
  [[nodiscard]] SHERD_API std::vector<std::pair<std::string_view, std::uint64_t>> entries() const;
};

/// What a handle keeps between calls, up to cache_bytes. `index`: shard indexes only. `shard`: also encoded objects,
/// read whole at the first access to any part. `chunks`: also decoded chunks, from their first access. Objects and
/// chunks larger than cache_bytes are read as with `index`. Cached data costs no request while the object is the same.
enum class CacheMode : std::uint8_t { index, shard, chunks };

/// The order of inner chunks inside a newly written shard. With `arrival` they are stored in the order in which threads
/// have encoded them: no thread waits for another, and the same call may write different bytes each time.
enum class ChunkOrder : std::uint8_t { c, f, morton, arrival };

/// The room that is left after each chunk of a new shard with the index at the beginning, so that Update::in_place can
/// replace the chunk by a longer one.
struct Slack {
  std::uint64_t bytes = 0;
  double share = 0;  ///< of the chunk's encoded size, in addition
  friend bool operator==(const Slack&, const Slack&) = default;
};

/// The layout of a new array's shards: as defined by its format alone, or as files that are both shards of a Zarr v3
/// array and shards of a Neuroglancer volume (docs/format/dual-format.md). An existing array keeps its layout.
enum class Layout : std::uint8_t { plain, zarr_neuroglancer };

/// How a stored shard is changed: as the format and the store allow it best; by a new object; by appending changed
/// chunks to the object; or by overwriting those that fit where they are, and appending the others. Overwriting is not
/// safe for readers: they may find one chunk half written, and so does everybody if the writer is killed. What cannot
/// be done, or would be too large to append, or would leave more than Config::max_unused dead bytes, is done in the
/// way before it; docs/writing.md has the table. Never stored in metadata.
enum class Update : std::uint8_t { automatic, rewrite, append, in_place };

/// Whether a file store uses locks. With `none` the caller promises that each object (a shard, an unsharded chunk, a
/// document) has one writer at a time. On file systems without locks, changing parts of objects requires `none`.
/// Threads that share a store still exclude each other.
enum class Locking : std::uint8_t { automatic, none };

/// The progress of a long call, in bytes of elements.
struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

/// What tells a server who asks: the keys that sign requests to S3, or a token.
struct Credentials {
  std::string key_id = {}, secret_key = {}, session_token = {};
  std::string bearer_token = {};
  std::optional<std::chrono::system_clock::time_point> expires = {};  ///< nullopt: never
};

/// Run-time settings of a handle.
///
/// memory_budget limits the elements and encodings that one call holds at a time, in addition to the caller's own
/// memory:
/// - read: half of it is for stored bytes, half for decoding. Chunks that are decoded directly into the result need
///   nothing, and large chunks of zstd, gzip and zlib are decoded in blocks.
/// - write, resize, append: chunks before and after encoding, the versions they replace, and data waiting to be written
///   to a shard, also by the store (StoreTraits::writer_bytes). Shards that cannot be written in parts, because of
///   codecs around them, need several times their size.
/// Work that cannot be divided may exceed the limit, and is then done alone: a chunk with its encoding; a shard that
/// must be read whole, because of codecs around it or because of cache = shard.
/// Not included: caches between calls (cache_bytes); indexes (16 bytes per inner chunk) and plans (a few hundred bytes
/// per requested inner chunk) of the shards in progress; variable-length bytes of a result; 6 MiB per thread and
/// 12 MiB per process for buffers, and the tables and windows that a codec keeps per thread (zstd: up to 32 MiB).
struct Config {
  unsigned threads = 0;                                    ///< 0: one per core, or more if they wait for a disk
  std::uint64_t memory_budget = std::uint64_t{256} << 20;  ///< bytes; see above
  CacheMode cache = CacheMode::index;
  std::uint64_t cache_bytes = std::uint64_t{64} << 20;
  std::optional<std::uint64_t> coalesce_gap = {};     ///< default: that of the store
  std::optional<std::uint64_t> tail_read_bytes = {};  ///< default: that of the store
  unsigned parallel_requests = 0;                     ///< of one call to a remote store; 0: as many as the store likes
  bool write_empty_chunks = false;                    ///< store chunks that equal the fill value
  bool durable = true;                                ///< fsync files and directories
  bool missing_is_error = false;                      ///< a missing chunk is not_found, not the fill value
  bool follow_symlinks = true;
  /// How many seconds a writer waits for a lock held by another writer before the call fails with `unavailable`; 0:
  /// does not wait. In stores without locks: how long a change is tried again because others were first; at least one.
  double lock_timeout = 600;
  Locking lock = Locking::automatic;  ///< used when a store is opened
  Order order = Order::c;             ///< of arrays allocated by Sherd (Python)
  ChunkOrder chunk_order = ChunkOrder::morton;
  Layout layout = Layout::plain;  ///< of new arrays
  Update update = Update::automatic;
  double max_unused = 0.5;  ///< share of dead bytes, slack included, above which an update rewrites a shard densely
  Slack slack = {};
  /// 0 … 9: the gzip level of Neuroglancer's chunks, values and minishard indexes, which is not stored in metadata.
  /// Default: 3 for chunks with raw encoding, where gzip is most of the work and level 6 takes several times as long; 6
  /// for everything else. Fixed when a handle is opened. Zarr arrays have the level in their metadata.
  std::optional<int> gzip_level = {};
  Limits limits = {};
  std::function<bool()> interrupted = {};  ///< polled on the calling thread; true ends the call with `unavailable`
  std::function<void(const Progress&)> progress = {};  ///< called on the calling thread
  /// Called on the calling thread with a message for the user of a long call, such as what it is waiting for.
  std::function<void(const std::string&)> notice = {};
  std::shared_ptr<Recorder> recorder = {};       ///< counts requests and chunks; may be null
  std::shared_ptr<OpenStores> open_stores = {};  ///< shares and finishes zip archives; may be null
  /// Options of the store that a URL names; which ones exist depends on its scheme (docs/stores.md). An unknown option
  /// is invalid_argument. Not used for stores that are passed as objects.
  std::map<std::string, std::string> storage_options = {};
  /// Called for the credentials of a remote store: at its first request, and again before they expire. On any thread,
  /// one call at a time. Not used if empty.
  std::function<Result<Credentials>()> credentials = {};
};

}  // namespace sherd
