// A store: bytes by key. The operations that every format needs, and the built-in stores. An absent object is nullopt
// or nullptr. Keys are `/`-separated, never absolute, and have no `.` or `..` segments.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Identifies a version of an object; equal generations mean equal bytes. Opaque. An empty one is that of no version,
/// or of one that the store cannot identify, and equals nothing.
struct Generation {
  std::string token;
  friend bool operator==(const Generation& a, const Generation& b) noexcept {
    return !a.token.empty() && a.token == b.token;
  }
};

/// A read of `into.size()` bytes, beginning at `offset`.
struct RangeRead {
  std::uint64_t offset = 0;
  std::span<std::byte> into;
};

/// How Store::amend() can append to a version of an object in one step, so that readers find all of the appended bytes
/// or none.
struct Appending {
  std::uint64_t alignment = 0;                               ///< of their beginning and end, in bytes; 0: it cannot
  std::string_view obstacle = "the store replaces objects";  ///< why it cannot
};

/// Readable bytes with a name: an object, a range of one, or a decoded buffer. A source reads the same
/// version of its object throughout its life: a file stays open, an S3 source pins its ETag.
/// Thread-safe.
class SHERD_API ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// The object's key, for messages and caches.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  /// The size in bytes. May cost a request if nothing has been read yet.
  virtual Result<std::uint64_t> size() = 0;
  virtual Result<Generation> generation() = 0;
  /// Reads all ranges, each in full; a range that ends beyond the object is `corrupt`.
  virtual Result<void> read(std::span<const RangeRead> ranges) = 0;
  /// The bytes themselves if they are in memory, otherwise nullopt.
  [[nodiscard]] virtual std::optional<std::span<const std::byte>> view() const noexcept { return std::nullopt; }
  /// How the store can append to this version.
  [[nodiscard]] virtual Appending appending() { return {}; }
  /// Whether bytes of the version are still what they were, by what `now` has in their place.
  using IsIntact = std::function<Result<bool>(ByteSource& now)>;
  /// Lets this version stay readable when others append to the object: a read() that finds the object longer fails
  /// only if `is_intact` returns false. It is called during read(), possibly by several threads at a time. Sources that
  /// do not need it ignore it (the default).
  virtual void outlive_appends(IsIntact is_intact);
};

/// One read: a range of an object that is already open, or of the present version of an object.
struct ReadRequest {
  static constexpr std::uint64_t kToEnd = ~std::uint64_t{0};

  std::string key = {};                      ///< opens the present version of this object; unused if `of` is set
  std::shared_ptr<ByteSource> of = nullptr;  ///< the version to read
  std::uint64_t offset = 0;                  ///< of the first byte; 0 if from_end is set
  std::uint64_t length = kToEnd;             ///< in bytes
  bool from_end = false;                     ///< the last `length` bytes; only without `of`
  std::span<std::byte> into = {};            ///< where the `length` bytes go; if empty, the store provides memory
};

/// A store's reply to a ReadRequest.
struct ReadReply {
  std::shared_ptr<ByteSource> source = nullptr;  ///< the version that was read; nullptr if the object does not exist
  std::uint64_t offset = 0;                      ///< of the first of `bytes` in the object
  std::span<const std::byte> bytes = {};
  std::shared_ptr<const void> owner = nullptr;  ///< keeps `bytes` alive unless they are in ReadRequest::into
  std::uint32_t requests = 1;                   ///< that the store made for it: parts and retries count
  std::uint32_t retries = 0;                    ///< those of them that repeated another
};

/// What Store::read() reads: it hands out requests, and receives the replies. All calls come from the thread that
/// called read(), and may use the store, also for other reads.
class SHERD_API ReadQueue {
 public:
  virtual ~ReadQueue() = default;
  /// The next request, or nullopt if there is none at present: a reply that is still due may lead to one. `is_last`
  /// means that no reply is due; then the queue waits for what else it needs, and nullopt ends read().
  virtual std::optional<ReadRequest> next(bool is_last) = 0;
  /// Receives the reply to the request that next() returned as the `number`-th, counted from 0. A failure ends read()
  /// with that failure.
  virtual Result<void> reply(std::size_t number, Result<ReadReply> reply) = 0;
};

/// Receives the reply to requests[number]. A failure ends the reads with that failure.
using OnReply = std::function<Result<void>(std::size_t number, Result<ReadReply> reply)>;

/// The condition under which an object is replaced or erased.
struct Condition {
  enum class Kind : std::uint8_t { always, absent, matches } kind = Kind::always;
  Generation generation;  ///< for `matches`
  static Condition absent() { return {Kind::absent, {}}; }
  static Condition matches(Generation generation) { return {Kind::matches, std::move(generation)}; }
};

/// What is known of an object before it is written.
struct WriteHints {
  std::uint64_t size = 0;       ///< the expected size in bytes; 0 if unknown
  bool is_conditional = false;  ///< commit() may get Condition::matches()
  /// Copies of one version come first, each to the offset that it is from, and bytes that are never written may be
  /// anything: a store may begin with a clone of that version.
  bool keeps_offsets = false;
};

/// The bytes that change an object to its next version. The views are valid during Store::amend().
struct Amendment {
  struct Overwrite {
    std::uint64_t offset = 0;
    std::span<const std::byte> bytes;
  };
  Generation of;           ///< the version that the caller has read
  std::uint64_t size = 0;  ///< of that version, in bytes
  /// Not 0 if `appended` must become visible in one step, if necessary by a copy: it begins at the next multiple of
  /// this after `size`, after zeros, and ends at one. Without a copy that needs Appending::alignment.
  std::uint64_t alignment = 0;
  std::vector<std::span<const std::byte>> appended = {};  ///< after its end, one after the other
  std::vector<Overwrite> overwrites = {};                 ///< inside it, by offset, without overlaps
};

/// A new version of an object, visible only after commit(). If destroyed without commit(), it leaves nothing behind.
class SHERD_API ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;
  /// Writes bytes at an offset. Writes may come in any order and from several threads, and must not overlap. Bytes that
  /// are never written are zeros.
  virtual Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// Copies bytes of another version to an offset, inside the kernel if possible.
  virtual Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length, std::uint64_t to_offset);
  /// Adds a second name, which commit() links in addition to the first: both then name one object of one generation,
  /// and each name is replaced atomically. Every writer of such an object must call this; otherwise the new version has
  /// only one name. Call it once, before commit(). `unsupported` if the store has no second names. `conflict` if the
  /// two names are different objects, unless an interrupted commit caused this, which is repaired. The first name may
  /// exist without the second.
  virtual Result<void> link(const std::string& key);
  /// Makes the whole new version visible at once, and durable if the store was opened so. May be called by another
  /// thread than Store::write(). `conflict` if the condition does not hold, marked as lasting() if a retry would not
  /// help. Ends the writer, even if it fails. For Condition::matches(), WriteHints::is_conditional must have been set:
  /// some stores compare versions only for an object that is sent by one request.
  virtual Result<void> commit(const Condition& condition = {}) = 0;
  /// The generation that commit() made visible; empty before commit(), and if the store does not know it.
  [[nodiscard]] virtual Generation committed() const { return {}; }
};

/// Held while an object is read, changed and replaced. The destructor releases it.
class SHERD_API StoreLock {
 public:
  virtual ~StoreLock() = default;
};

/// What Store::amend() costs: reading and writing the whole object, as its default does; a copy that the store makes
/// itself; or only the changed bytes.
enum class AmendCost : std::uint8_t { copy, on_server, at_once };

/// The cost of requests, so that a plan can choose between few large and many small ones.
struct StoreTraits {
  std::uint64_t coalesce_gap = 0;                         ///< two reads closer than this are merged
  std::uint64_t tail_read_bytes = 0;                      ///< objects up to this size are read whole at first
  std::uint64_t max_run_bytes = std::uint64_t{16} << 20;  ///< maximum length of a merged read
  unsigned parallel_requests = 1;  ///< above 1: requests have latency, and read() has this many under way at a time
  bool read_only = false;          ///< the store has only read() and visit()
  bool locks = false;              ///< lock() excludes other writers, including other processes
  bool conditional_write = false;  ///< commit() compares and replaces in one step, even without lock()
  bool conditional_erase = false;  ///< erase() accepts conditions, and compares and erases in one step
  bool links = false;              ///< an object may have two names (ObjectWriter::link())
  bool can_list = true;            ///< visit() works, and with it everything that removes a prefix
  bool sorted_lists = false;       ///< visit() with ListDepth::all is in the order of the keys
  /// The maximum length of a key. S3 allows 1024 bytes.
  std::uint32_t max_key_bytes = 4096;
  AmendCost amend = AmendCost::copy;
  std::uint64_t amend_from_bytes = 0;  ///< of smaller objects, Store::amend() costs a copy
  /// The memory that an ObjectWriter holds until commit(), for an object of this size or larger that is written about
  /// from front to end, its first bytes at any time; a smaller object is held whole. A call takes it from its memory
  /// budget for each writer that it has open at a time. 0: written bytes are not kept in memory.
  std::uint64_t writer_bytes = 0;
};

/// An entry of a list: an object or, with ListDepth::children, the prefix of deeper objects.
struct ListEntry {
  std::string_view name;   ///< without the listed prefix, and without the trailing `/` of a prefix
  std::uint64_t size = 0;  ///< of an object, in bytes
  bool is_prefix = false;
  std::string_view generation = {};  ///< the token of an object's Generation; empty if the list does not tell
  std::optional<std::chrono::system_clock::time_point> modified = {};  ///< of an object, if the list tells
};

/// Which objects below a prefix are listed: its direct children, with deeper objects combined into one entry per next
/// segment; or every object.
enum class ListDepth : std::uint8_t { children, all };

/// Receives an entry, which is valid during the call. False ends the list; so does a failure, which is returned.
using OnEntry = std::function<Result<bool>(const ListEntry& entry)>;

/// The result of list_dir(): names without the prefix.
struct Listing {
  struct Object {
    std::string name;
    std::uint64_t size = 0;
  };
  std::vector<Object> objects;
  std::vector<std::string> prefixes;  ///< without the trailing `/`
};

/// Whether the call for which this thread works should end, because Config::interrupted returned true. False outside of
/// calls. Store::read() and other store functions that may wait long check this at least every 20 ms, on a thread on
/// which the engine called them, and return `unavailable` if it is true.
[[nodiscard]] SHERD_API bool call_interrupted();

class Store;
/// The store that contains another store.
struct ParentStore {
  std::shared_ptr<Store> store;
  std::string name;  ///< one segment: the key `key` of the inner store is `name/key` in this one
};

/// Whether an erased object existed; some stores do not tell.
enum class Erased : std::uint8_t { nothing, object, unknown };

/// A read-only store implements url(), traits(), read() and visit(); all other functions have defaults.
class SHERD_API Store {
 public:
  virtual ~Store() = default;
  /// The store's name for users, such as `file:///data/a.zarr` or `memory:`. Without secrets.
  [[nodiscard]] virtual const std::string& url() const noexcept = 0;
  [[nodiscard]] virtual StoreTraits traits() const noexcept = 0;
  [[nodiscard]] bool read_only() const noexcept { return traits().read_only; }
  /// The store whose keys begin one segment higher; nullopt (the default) if there is none. Costs no request.
  [[nodiscard]] virtual Result<std::optional<ParentStore>> parent() const;

  /// Answers the requests of a queue, each as soon as possible and in any order. The store takes the next request
  /// whenever it can send it; while it could and there is none, it asks again after each reply, and every few
  /// milliseconds. A request that opens an object gets the part of its range that exists. It costs one request to the
  /// store, without a second one for the size; the source in its reply knows size and generation. A range of an open
  /// version is read in full: `corrupt` if it ends beyond the object, `conflict` if the store can no longer read that
  /// version. A request that fails does not end read(); its reply is the failure. `unavailable` if the call for which
  /// this thread works was interrupted.
  virtual Result<void> read(ReadQueue& queue) = 0;
  /// Calls `visit` for what is stored below `prefix` (which ends in `/` or is empty), in any order, page by page:
  /// only one page of entries is in memory at a time and, with ListDepth::all, possibly the names of prefixes still to
  /// be visited. list() sorts instead, one directory per level, unless traits().sorted_lists. `visit` may use the
  /// store; objects that it stores or erases may or may not be visited. Returns true if everything was visited, false
  /// if `visit` ended the list. A prefix that does not exist has no entries. `unsupported` if the store cannot list
  /// (traits().can_list).
  virtual Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) = 0;

  /// A writer of the object's next version. This and all following functions that change something are `unsupported` by
  /// default.
  virtual Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints = {});
  /// Changes the version `amendment.of`, which the caller has read, to the next one, and returns its generation (empty
  /// if the store does not know it). `conflict` if that version is no longer the present one. Holds the
  /// key's lock meanwhile. The default writes a copy, which becomes visible as a whole. A store that changes objects in
  /// place first stores all appended bytes, to which nothing refers yet unless they have an alignment, and then makes
  /// the overwrites one by one. At most 16 aligned bytes are overwritten at once; readers may see a part of a longer
  /// overwrite, and some of several. Readers of the old version still find its other bytes in place, but its source may
  /// return `conflict`.
  virtual Result<Generation> amend(const std::string& key, const Amendment& amendment);
  /// Waits until no other writer holds the key. If traits().locks is false, this excludes only threads of this process,
  /// or nothing (the default), and the caller must use conditions: it commits, amends or erases on condition that the
  /// object is the version that it read, and starts again after a `conflict`. `unsupported` if neither is available,
  /// unless Config::lock allows it. A lock belongs to its thread: that thread's write(), amend(), erase() and further
  /// lock() of the key proceed under it; those of other threads wait. A writer holds the lock, with or without lock(),
  /// from write() until it commits or is destroyed, which also ends an earlier lock(). A thread has at most one writer
  /// of a key at a time, and makes writers of several keys in sorted order.
  virtual Result<std::unique_ptr<StoreLock>> lock(const std::string& key);
  /// Erases an object. `conflict` if the condition does not hold; `unsupported` if the store cannot compare
  /// (traits().conditional_erase).
  virtual Result<Erased> erase(const std::string& key, const Condition& condition = {});
  /// Erases objects, in any version; missing ones are skipped. As many at a time as the store can; the default erases
  /// one after the other. The first failure ends it.
  virtual Result<void> erase_all(std::span<const std::string> keys);
  /// Erases every object below `prefix` (which ends in `/` or is empty), without waiting for writers: a writer that
  /// commits later creates its object again, or fails with `conflict`. The default lists and erases.
  virtual Result<void> erase_prefix(const std::string& prefix);
  /// Waits for every writer, also of other processes, that holds a key below `prefix` to end; not for writers of this
  /// thread, nor for those that begin meanwhile. The default, for stores without locks, returns at once.
  virtual Result<void> wait_for_writers(const std::string& prefix);
  /// Makes everything that was accepted visible and durable, and reports errors of earlier calls that are known only
  /// now. Most stores have done so at each commit (the default). A store that is one object of another store, such as a
  /// zip archive, replaces that object now; other handles see it then. If it is destroyed without this, that object is
  /// unchanged. The store can be used afterwards.
  virtual Result<void> finish();

  /// The object's present version, or nullptr if it does not exist. One request, which reads nothing.
  Result<std::shared_ptr<ByteSource>> open(const std::string& key);
  /// Answers all requests.
  Result<void> read_all(std::span<const ReadRequest> requests, const OnReply& reply);
  /// The whole object, or nullopt; `unsupported` if it is larger than `max_bytes`.
  Result<std::optional<std::string>> get(const std::string& key, std::uint64_t max_bytes = ~std::uint64_t{0});
  /// Replaces the whole object.
  Result<void> set(const std::string& key, std::span<const std::byte> bytes, const Condition& condition = {});
  Result<void> set(const std::string& key, std::string_view text, const Condition& condition = {});
  /// The direct children of `prefix`, all together and sorted by name.
  Result<Listing> list_dir(const std::string& prefix);
  /// Calls `visit(key, size)` for every object below `prefix`, sorted by key. Stops, and returns false, if `visit`
  /// returns false.
  Result<bool> list(const std::string& prefix, const std::function<bool(const std::string&, std::uint64_t)>& visit);
};

/// The stores inside objects, such as zip archives, that were opened by name with this in their Config: each is opened
/// once however many handles use it, and one with changes stays open until it is finished. Without it each handle has a
/// store of its own. Thread-safe.
class SHERD_API OpenStores {
 public:
  /// Finishes all of them. Each is attempted; the first error is returned.
  Result<void> finish();

  /// The open store with this name, or the one that `open` returns.
  Result<std::shared_ptr<Store>> share(const std::string& name,
                                       const std::function<Result<std::shared_ptr<Store>>()>& open);
  /// Keeps a store open until finish() or finished().
  void keep(std::shared_ptr<Store> store);
  void finished(const Store& store);

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Store>> open_;
  std::vector<std::shared_ptr<Store>> changed_;
};

/// Counts what a handle does; shared by any number of handles. Thread-safe.
class SHERD_API Recorder {
 public:
  struct Request {
    std::string op;  ///< get, put, erase, move, list
    std::string key;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
  };
  struct Stats {
    std::uint64_t requests = 0, bytes_read = 0, bytes_written = 0;
    std::uint64_t chunks_decoded = 0, chunks_encoded = 0, chunks_moved = 0;
    std::uint64_t retries = 0;  ///< requests that repeated another one, which had failed
    /// The length of the longest chain of requests: each waited for the reply to the one before it, or came in a later
    /// call.
    std::uint64_t round_trips = 0;
  };

  /// Requests are kept only between start() and stop(); counters always run. Calls may be nested: stop() returns the
  /// requests since the matching start().
  void start();
  std::vector<Request> stop();
  [[nodiscard]] Stats stats() const noexcept;
  /// Calls `visit` for every request as soon as it is answered, one call at a time. Call this before any requests are
  /// made.
  void follow(std::function<void(const Request&)> visit) { visit_ = std::move(visit); }

  void request(std::string_view op, const std::string& key, std::uint64_t offset, std::uint64_t length);
  /// More requests to the store for a counted one: its parts, and its retries.
  void repeated(std::uint64_t requests, std::uint64_t retries) noexcept;
  /// There is a chain of so many requests (Stats::round_trips) that have been answered.
  void answered(std::uint64_t round_trips) noexcept;
  /// A shard was changed in this way: `append`, `in_place`, or `rewrite` and why it was not appended to (`compacted`).
  void updated(std::string_view how, std::string_view why);
  /// How often shards were changed in each way, by its name and reason: "append", "rewrite: the change is large".
  [[nodiscard]] std::map<std::string, std::uint64_t> updates() const;
  std::atomic<std::uint64_t> chunks_decoded{0}, chunks_encoded{0}, chunks_moved{0};

 private:
  std::atomic<std::uint64_t> requests_{0}, bytes_read_{0}, bytes_written_{0}, retries_{0}, round_trips_{0};
  std::atomic<bool> keeping_{false};
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> updates_;
  std::vector<Request> log_;
  std::vector<std::size_t> begins_;  ///< where in the log each start() was
  std::function<void(const Request&)> visit_;
};

/// An empty store in this process's memory. Uses config.lock_timeout for handles that do not set their own.
SHERD_API std::shared_ptr<Store> memory_store(const Config& config = {});
/// A directory of the local file system, created by the first write. Uses config.durable, config.follow_symlinks and
/// config.lock.
SHERD_API Result<std::shared_ptr<Store>> file_store(const std::string& directory, const Config& config = {});
/// `store` with its requests counted by `recorder`, only once even if it counts them already.
SHERD_API std::shared_ptr<Store> recorded_store(std::shared_ptr<Store> store, std::shared_ptr<Recorder> recorder);
/// How long requests take: the median and, for one of a hundred, the tail.
struct Latency {
  template <class Rep, class Period>
  Latency(std::chrono::duration<Rep, Period> each) : Latency(each, each) {}
  Latency(std::chrono::microseconds typical, std::chrono::microseconds slowest) : median(typical), tail(slowest) {}
  std::chrono::microseconds median, tail;
};
/// `store` with each request delayed by a latency, and at most `parallel` requests in flight: to measure with a local
/// store how a program behaves with a remote store.
SHERD_API std::shared_ptr<Store> delayed_store(std::shared_ptr<Store> store, Latency latency, unsigned parallel);
/// The keys below `prefix` (which ends in `/`) of another store, as a store of its own.
SHERD_API std::shared_ptr<Store> prefixed_store(std::shared_ptr<Store> store, std::string prefix);
/// The store that a path or URL names: a plain path, `file://…`, `memory:`, `http://…`, `https://…`, `s3://…`,
/// `gs://…`, or a zip archive in one of these, `….zip` or `…|zip:` (docs/stores.md). Uses config.storage_options.
SHERD_API Result<std::shared_ptr<Store>> open_store(std::string_view url, const Config& config = {});

}  // namespace sherd
