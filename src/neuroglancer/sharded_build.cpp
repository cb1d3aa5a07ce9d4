// The steps of a build. Values are encoded as they come and fill an arena. When it is full, another one is used while
// its values and ids are sorted and written to a temporary file: a list of ids, and the values in the same order. At
// the end all lists are merged into one, which reveals repeated ids and existing shards. Only then are shards written.
// If everything fits into the first arena, no file is created.
#include "neuroglancer/sharded_build.hpp"

#include <cstdio>

#include "base/pool.hpp"
#include "base/size.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "neuroglancer/shard_set.hpp"
#include "neuroglancer/value_rules.hpp"
#include "store/span.hpp"
#include "store/with_writers.hpp"

namespace sherd::neuroglancer {
namespace {

constexpr std::uint64_t kMinMemory = std::uint64_t{8} << 20;
constexpr std::uint64_t kMinReadBytes = std::uint64_t{32} << 10;
constexpr std::uint64_t kMaxReadBytes = std::uint64_t{1} << 20;
constexpr std::size_t kMergedKeys = std::size_t{1} << 14;
/// Fewer bytes are not worth another thread.
constexpr std::size_t kEncodeBytes = std::size_t{64} << 10;

std::string directory_for(const Store& store, const std::string& given) {
  if (!given.empty()) return given;
  return path_of_store(store.url()).value_or(P_tmpdir);
}

std::uint64_t keys_at_once(std::uint64_t bytes) {
  return std::clamp(bytes, kMinReadBytes, kMaxReadBytes) / sizeof(StoredKey);
}

}  // namespace

ShardedBuilder::ShardedBuilder(std::unique_ptr<Build> build) : build_(std::move(build)) {}
ShardedBuilder::ShardedBuilder(ShardedBuilder&&) noexcept = default;
ShardedBuilder& ShardedBuilder::operator=(ShardedBuilder&&) noexcept = default;
ShardedBuilder::~ShardedBuilder() = default;

Result<void> ShardedBuilder::add(const Value& value) { return build_->unless_failed(build_->add(value)); }

Result<void> ShardedBuilder::add(std::span<const Value> values) { return build_->unless_failed(build_->add(values)); }

Result<BuildReport> ShardedBuilder::finish() {
  SHERD_TRY(report, build_->finish());
  SHERD_TRY(build_->store().finish());
  return report;
}

Result<ShardedBuilder> ShardedBuilder::Build::start(std::shared_ptr<Store> store, Uint64Format format,
                                                    BuildOptions options) {
  if (store->read_only()) return invalid_argument("the store " + store->url() + " is read-only");
  const std::uint64_t memory = options.config.memory_budget;
  if (memory < kMinMemory)
    return invalid_argument("a build needs at least " + print_bytes(kMinMemory) + " of memory, not " +
                            print_bytes(memory));
  const Uint64IndexCoding nothing(format, {}, options.config.limits);
  SHERD_TRY(nothing.head_bytes().in_member("minishard_bits"));
  std::unique_ptr<Build> build(new Build(std::move(store), std::move(format), std::move(options)));
  SHERD_TRY(filling, ValueArena::make(memory / 4));
  SHERD_TRY(spare, ValueArena::make(memory / 4));
  build->filling_ = std::move(filling);
  build->spare_ = std::move(spare);
  return ShardedBuilder(std::move(build));
}

Result<void> ShardedBuilder::Build::check(const Value& value) const {
  const NewValue parts{value.bytes, value.preceding};
  SHERD_TRY(check_size(parts, options_.config.limits));
  return options_.preceding ? check_preceding(parts, options_.preceding) : Result<void>();
}

Result<void> ShardedBuilder::Build::add(const Value& value) {
  SHERD_TRY(check(value).in([&] { return "value of id " + std::to_string(value.id); }));
  if (!format_.sharding.gzip_data) return keep(value.id, {value.preceding, value.bytes});
  Scratch encoded;
  SHERD_TRY(format_.data_codecs.encode_bytes(value.bytes, *encoded));
  if (options_.config.recorder) options_.config.recorder->chunks_encoded.fetch_add(1, std::memory_order_relaxed);
  return keep(value.id, {value.preceding, encoded->span()});
}

Result<void> ShardedBuilder::Build::add(std::span<const Value> values) {
  if (!format_.sharding.gzip_data) {
    for (const Value& value : values) SHERD_TRY(add(value));
    return {};
  }
  std::vector<std::size_t> ends;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    bytes += values[i].bytes.size();
    if (bytes < kEncodeBytes && i + 1 < values.size()) continue;
    ends.push_back(i + 1);
    bytes = 0;
  }
  return parallel_for(ends.size(), options_.config, [&](std::size_t part) -> Result<void> {
    const std::size_t first = part == 0 ? 0 : ends[part - 1];
    for (const Value& value : values.subspan(first, ends[part] - first)) SHERD_TRY(add(value));
    return {};
  });
}

Result<void> ShardedBuilder::Build::unless_failed(Result<void> added) {
  if (added) return {};
  const std::lock_guard hold(mutex_);
  if (!failed_) failed_ = added.error();
  return added;
}

Result<void> ShardedBuilder::Build::keep(std::uint64_t id, const ValueArena::Parts& encoded) {
  const std::uint64_t route = route_of(format_.sharding, id);
  std::unique_lock hold(mutex_);
  if (failed_) return *failed_;
  if (encoded.size() <= filling_->most_value_bytes()) {
    SHERD_TRY(make_room(encoded.size(), hold));
    filling_->add(route, id, encoded);
  } else {
    SHERD_TRY(need_file());
    hold.unlock();
    SHERD_TRY(where, spill_larger(encoded));
    hold.lock();
    SHERD_TRY(make_room(0, hold));
    filling_->add_spilled(route, {id, where, encoded.preceding.size()});
  }
  ++ids_;
  value_bytes_ += encoded.size();
  return {};
}

Result<void> ShardedBuilder::Build::make_room(std::uint64_t bytes, std::unique_lock<std::mutex>& hold) {
  while (!failed_ && !filling_->fits(bytes)) {
    if (spilling_) {
      spilled_.wait(hold);
      continue;
    }
    SHERD_TRY(need_file());
    spilling_ = true;
    ValueArena full = *std::move(filling_);
    filling_ = std::move(spare_);
    hold.unlock();
    auto list = spill(full);
    hold.lock();
    spare_ = std::move(full);
    spilling_ = false;
    if (list)
      lists_.push_back(*list);
    else
      failed_ = std::move(list).error();
    spilled_.notify_all();
  }
  if (failed_) return *failed_;
  return {};
}

Result<Extent> ShardedBuilder::Build::spill_larger(const ValueArena::Parts& encoded) {
  const std::uint64_t offset = file_->reserve(encoded.size());
  SHERD_TRY(file_->write(offset, encoded.preceding));
  SHERD_TRY(file_->write(offset + encoded.preceding.size(), encoded.value));
  return Extent{offset, encoded.size()};
}

Result<Extent> ShardedBuilder::Build::spill(ValueArena& arena) {
  // Without hooks: an exception from one would leave others waiting for this arena.
  Config quiet;
  quiet.threads = options_.config.threads;
  SHERD_TRY(arena.sort(quiet));
  return arena.spill(*file_);
}

Result<void> ShardedBuilder::Build::need_file() {
  if (file_ != nullptr) return {};
  SHERD_TRY(file, SpillFile::make(directory_for(*store_, options_.temporary)));
  file_ = std::move(file);
  return {};
}

Result<BuildReport> ShardedBuilder::Build::finish() {
  if (failed_) return *failed_;
  // The build ends here, even if this fails.
  failed_ = invalid_argument("the build ended with finish(); begin another one");
  SHERD_TRY(find_existing());
  spare_.reset();
  return lists_.empty() && filling_->whole() ? write_in_memory() : write_spilled();
}

Result<BuildReport> ShardedBuilder::Build::write_in_memory() {
  SHERD_TRY(filling_->sort(options_.config));
  const std::vector<StoredKey> keys = filling_->keys();
  const auto twice =
      std::adjacent_find(keys.begin(), keys.end(), [](const StoredKey& a, const StoredKey& b) { return a.id == b.id; });
  if (twice != keys.end()) return given_twice(twice->id);
  SHERD_TRY(check_absent(keys));
  SpanSource values("values", filling_->values());
  return write_shards(KeyStream(keys), values);
}

Result<BuildReport> ShardedBuilder::Build::write_spilled() {
  if (!filling_->empty()) {
    SHERD_TRY(list, spill(*filling_));
    lists_.push_back(list);
  }
  filling_.reset();
  SHERD_TRY(all, merge_lists());
  return write_shards(KeyStream(*file_, all, keys_at_once(options_.config.memory_budget / 16)), *file_);
}

Result<Extent> ShardedBuilder::Build::merge_lists() {
  const std::size_t most = options_.config.memory_budget / 8 / kMinReadBytes;
  while (lists_.size() > most) {
    std::vector<Extent> fewer;
    for (std::size_t first = 0; first < lists_.size(); first += most) {
      SHERD_TRY(list, merge(std::span(lists_).subspan(first, std::min(most, lists_.size() - first))));
      fewer.push_back(list);
    }
    lists_ = std::move(fewer);
  }
  return merge(lists_);
}

Result<Extent> ShardedBuilder::Build::merge(std::span<const Extent> lists) {
  Extent merged;
  std::vector<KeyStream> streams;
  for (const Extent& list : lists) {
    streams.emplace_back(*file_, list, keys_at_once(options_.config.memory_budget / 8 / lists.size()));
    merged.length += list.length;
  }
  merged.offset = file_->reserve(merged.length);
  KeyMerger merger(format_.sharding, std::move(streams));
  SHERD_TRY(merger.start());
  std::vector<StoredKey> keys;
  for (std::uint64_t at = merged.offset; at < merged.end(); at += keys.size() * sizeof(StoredKey)) {
    // Each step is a loop of one iteration, because loops poll for interruption.
    SHERD_TRY(parallel_for(1, options_.config, [&](std::size_t) -> Result<void> {
      SHERD_TRY(merger.next(kMergedKeys, keys));
      SHERD_TRY(check_absent(keys));
      return file_->write(at, std::as_bytes(std::span(keys)));
    }));
  }
  return merged;
}

Result<void> ShardedBuilder::Build::find_existing() {
  if (options_.overwrite) return {};
  SHERD_TRY(listing, store_->list_dir(""));
  for (Listing::Object& object : listing.objects) existing_.insert(std::move(object.name));
  return {};
}

Result<void> ShardedBuilder::Build::check_absent(std::span<const StoredKey> sorted) const {
  if (existing_.empty()) return {};
  std::optional<std::uint64_t> last;
  for (const StoredKey& key : sorted) {
    const std::uint64_t shard = format_.sharding.locate(key.id).shard;
    if (last == shard) continue;
    last = shard;
    // The older form of a shard is two objects.
    for (const std::string& name : {shard_key(format_.sharding, shard), format_.sharding.name(shard) + ".index"})
      if (existing_.contains(name))
        return std::move(conflict("the shard exists already; overwrite it or choose another path")).in_key(name);
  }
  return {};
}

Result<BuildReport> ShardedBuilder::Build::write_shards(KeyStream keys, ByteSource& values) {
  std::atomic<std::uint64_t> written{0};
  Config config = with_progress(options_.config, written, value_bytes_);
  config.memory_budget /= 2;  // the rest holds the values
  config = with_writers(config, store_->traits());
  ShardSetWriter shards({*store_, format_, options_.overwrite, config}, values);
  if (options_.config.progress) options_.config.progress({0, value_bytes_});
  SHERD_TRY(shards.write(keys, written));
  shards.keep();
  if (options_.config.progress) options_.config.progress({written, value_bytes_});
  return BuildReport{ids_, shards.shards(), shards.bytes()};
}

}  // namespace sherd::neuroglancer
