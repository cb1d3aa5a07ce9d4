// The reads of a call of the sharding transformer: one index per transformer for each shard, all those of one level
// together, and then the values. Shards are read together if requests have latency, otherwise on as many threads as the
// call may use. A source shows one version of its object, so index and values of a shard are consistent.
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "array/partial_source.hpp"
#include "array/read_objects.hpp"
#include "base/try.hpp"
#include "draft2022/transformer.hpp"
#include "store/key.hpp"
#include "store/retry.hpp"

namespace sherd::draft2022 {
namespace {

using State = ShardingTransformer::State;
using Share = ChunkPrefix::Share;
using Values = std::vector<std::optional<std::string>>;

Extent cut(const ByteRange& range, const Extent& value) {
  // -(start + 1) + 1, because the lowest number has no negative.
  const std::uint64_t from_end = range.start < 0 ? static_cast<std::uint64_t>(-(range.start + 1)) + 1 : 0;
  const std::uint64_t start = range.start < 0 ? value.length - std::min(value.length, from_end)
                                              : std::min(value.length, static_cast<std::uint64_t>(range.start));
  const std::uint64_t rest = value.length - start;
  return {value.offset + start, std::min(range.length.value_or(rest), rest)};
}

// A shard inside a source. Indexes are small compared with their data, and a transformer keeps none.
Result<std::shared_ptr<const ShardIndex>> index_of(const State& state, const Level& level, ByteSource& source,
                                                   const Extent& where) {
  Cache none(0);
  return read_index({source, where, level.layout, level.grid}, state.limits(), none);
}

// What a call reads from one stored object.
class Reading : public ObjectRead {
 public:
  Reading(const State& state, std::string key) : state_(state), config_(state.array.config()), key_(std::move(key)) {}

  [[nodiscard]] ReadRequest first() const override {
    const std::uint64_t tail = config_.tail_read_bytes.value_or(state_.store().traits().tail_read_bytes);
    const Level& outermost = state_.levels.front();
    const auto index = outermost.layout.slots()->encoded_size(outermost.grid, state_.limits());
    return {.key = key_, .length = std::max(tail, index ? *index : 0), .from_end = true};
  }
  [[nodiscard]] bool has_index() const noexcept override { return false; }
  Result<std::vector<Run>> plan(ByteSource* source) override { return planned(source).in_key(key_); }
  Result<void> take(ByteSource& source, const Run& run, std::span<const std::byte> bytes) override {
    return (void)source, taken(run, bytes), Result<void>();
  }
  Result<void> finish() override { return {}; }
  Result<void> again() override {
    return retry_limited(config_, [&]() -> Result<void> {
      SHERD_TRY(open());
      SHERD_TRY(plan_opened());
      return read_planned();
    });
  }

  /// The three steps of a read, on this thread.
  Result<void> open() {
    SHERD_TRY(source, state_.store().open(key_).in_key(key_));
    source_ = std::move(source);
    return {};
  }
  Result<void> plan_opened() {
    SHERD_TRY(runs, plan(source_.get()));
    has_runs_ = !runs.empty();
    return {};
  }
  Result<void> read_planned() {
    SHERD_TRY(has_runs_ ? read(*source_).in_key(key_) : Result<void>());
    source_.reset();
    return {};
  }

 protected:
  virtual Result<std::vector<Run>> planned(ByteSource* source) = 0;
  /// Reads what was planned, or takes it from the bytes of a run.
  virtual Result<void> read(ByteSource& source) { return (void)source, Result<void>(); }
  virtual void taken(const Run& run, std::span<const std::byte> bytes) { (void)run, (void)bytes; }

  const State& state_;
  const Config config_;

 private:
  const std::string key_;
  std::shared_ptr<ByteSource> source_;
  bool has_runs_ = false;
};

using MakeReading = std::function<std::unique_ptr<Reading>(std::uint64_t)>;

// Without latency: a group of objects at a time, reading all of their indexes before all values.
Result<void> read_in_groups(const Config& config, std::uint64_t count, const MakeReading& make) {
  constexpr std::uint64_t kOpenObjects = 64;  // a process has few descriptors, and other calls open files too
  for (std::uint64_t first = 0; first < count; first += kOpenObjects) {
    std::vector<std::unique_ptr<Reading>> group;
    for (std::uint64_t i = first; i < std::min(count, first + kOpenObjects); ++i) group.push_back(make(i));
    const auto all = [&](Result<void> (Reading::*step)()) {
      return parallel_for(group.size(), config, [&](std::size_t i) { return (*group[i].*step)(); });
    };
    SHERD_TRY(retry_limited(config, [&]() -> Result<void> {
      SHERD_TRY(all(&Reading::open));
      SHERD_TRY(all(&Reading::plan_opened));
      return all(&Reading::read_planned);
    }));
  }
  return {};
}

Result<void> read_all(const State& state, std::uint64_t count, const MakeReading& make) {
  Store& store = state.store();
  if (store.traits().parallel_requests == 1) return read_in_groups(state.request_config(), count, make);
  const Config& config = state.array.config();
  return read_objects({store, config, state.array.cache, config.coalesce_gap.value_or(store.traits().coalesce_gap)},
                      count, make);
}

// The values of a call that are in one object.
class ValueRead final : public Reading {
 public:
  struct Target {
    std::optional<Shape> chunk;        // unset: the value is the object
    std::optional<Extent> where = {};  // in the object; of the last known shard that contains it, finally of itself
    std::vector<std::size_t> ranges = {};
  };

  ValueRead(const State& state, std::string key, std::vector<Target> targets, std::span<const KeyRange> ranges,
            Values& values)
      : Reading(state, std::move(key)), targets_(std::move(targets)), ranges_(ranges), values_(values) {}

 protected:
  Result<std::vector<Run>> planned(ByteSource* source) override {
    std::optional<Extent> whole;
    if (source != nullptr) {
      SHERD_TRY(size, source->size());
      whole = Extent{0, size};
    }
    for (Target& target : targets_) target.where = whole;
    for (const Level& level : state_.levels) {
      if (source == nullptr) break;
      SHERD_TRY(follow(level, *source));
      if (waits_for_bytes(*source)) return std::vector<Run>();
    }
    return make_room();
  }

  Result<void> read(ByteSource& source) override {
    std::ranges::sort(wanted_, {}, &Wanted::tag);  // in the order of the call; the store merges them if that is faster
    std::vector<RangeRead> reads;
    for (const Wanted& each : wanted_) reads.push_back({each.extent.offset, into(each)});
    return source.read(reads);
  }

  void taken(const Run& run, std::span<const std::byte> bytes) override {
    for (const Wanted& each : std::span(wanted_).subspan(run.first, run.last - run.first))
      std::memcpy(into(each).data(), bytes.data() + (each.extent.offset - run.extent.offset), each.extent.length);
  }

 private:
  [[nodiscard]] std::span<std::byte> into(const Wanted& each) {
    return std::as_writable_bytes(std::span(*values_[each.tag]));
  }

  // From the shards of this level to the slots of the chunks.
  Result<void> follow(const Level& level, ByteSource& source) {
    std::map<std::tuple<std::uint64_t, std::uint64_t>, std::vector<Target*>> by_shard;
    for (Target& target : targets_)
      if (target.chunk && target.where) by_shard[{target.where->offset, target.where->length}].push_back(&target);
    for (const auto& [shard, targets] : by_shard) {
      const Extent where = *targets.front()->where;
      const auto index = index_of(state_, level, source, where);
      if (!index && waits_for_bytes(source)) continue;
      if (!index) return index.error();
      for (Target* target : targets) {
        SHERD_TRY(extent, slot_extent(level, **index, level.slot_of(*target->chunk)));
        target->where = extent ? std::optional(Extent{where.offset + extent->offset, extent->length}) : std::nullopt;
      }
    }
    return {};
  }

  static Result<std::optional<Extent>> slot_extent(const Level& level, const ShardIndex& index, std::uint64_t slot) {
    SHERD_TRY(extent, index.extent(slot));
    const ChunkLayout& inner = *level.layout.inner;
    if (extent && !inner.shard)
      SHERD_TRY(inner.check_encoded_size(level.layout.inner_shape, extent->length).in_slot(slot));
    return extent;
  }

  // Allocates memory for each value, and makes the runs that fill it.
  Result<std::vector<Run>> make_room() {
    wanted_.clear();
    try {
      for (const auto& [chunk, where, ranges] : targets_)
        for (const std::size_t range : ranges) {
          std::optional<std::string>& value = values_[range];
          value.reset();
          if (!where) continue;
          const Extent part = cut(ranges_[range].range, *where);
          value.emplace(part.length, '\0');
          if (part.length > 0) wanted_.push_back({part, range});
        }
    } catch (const std::exception&) {
      return unavailable("out of memory for the values to be read");
    }
    const StoreTraits traits = state_.store().traits();
    return coalesce(wanted_, config_.coalesce_gap.value_or(traits.coalesce_gap), traits.max_run_bytes);
  }

  std::vector<Target> targets_;
  const std::span<const KeyRange> ranges_;
  Values& values_;
  std::vector<Wanted> wanted_;  // tagged with the number of the range
};

Result<Values> read_values(const State& state, std::span<const KeyRange> ranges) {
  struct Object {
    std::string key;
    std::vector<ValueRead::Target> targets = {};
    std::map<std::string, std::size_t, std::less<>> by_key = {};
  };
  std::vector<Object> objects;
  std::map<std::string, std::size_t, std::less<>> by_object;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::string& key = ranges[i].key;
    auto chunk = state.cell_of(key);
    const std::string stored = chunk ? state.array.key(state.shard_of(*chunk)) : key;
    const auto [at, is_new] = by_object.try_emplace(stored, objects.size());
    if (is_new) objects.push_back({stored});
    Object& object = objects[at->second];
    const auto [target, is_new_target] = object.by_key.try_emplace(key, object.targets.size());
    if (is_new_target) object.targets.push_back({std::move(chunk)});
    object.targets[target->second].ranges.push_back(i);
  }
  Values values(ranges.size());
  SHERD_TRY(read_all(state, objects.size(), [&](std::uint64_t i) {
    return std::make_unique<ValueRead>(state, objects[i].key, std::move(objects[i].targets), ranges, values);
  }));
  return values;
}

// The keys of one shard's chunks that match a prefix.
class KeysRead final : public Reading {
 public:
  KeysRead(const State& state, const ChunkPrefix& prefix, const Shape& shard, std::vector<std::string>& keys)
      : Reading(state, state.array.key(shard)), prefix_(prefix), origin_(state.chunks_of(shard).origin), keys_(keys) {}

 protected:
  Result<std::vector<Run>> planned(ByteSource* source) override {
    keys_.clear();
    if (source == nullptr) return std::vector<Run>();  // erased since it was listed
    SHERD_TRY(size, source->size());
    SHERD_TRY(visit(*source, {0, size}, 0, origin_));
    return std::vector<Run>();
  }

 private:
  Result<void> visit(ByteSource& source, Extent where, std::size_t depth, const Shape& origin) {
    const Level& level = state_.levels[depth];
    const auto index = index_of(state_, level, source, where);
    if (!index && waits_for_bytes(source)) return {};
    if (!index) return index.error();
    for (std::uint64_t slot = 0; slot < (*index)->slots(); ++slot) {
      if ((*index)->empty(slot)) continue;
      const Box chunks = state_.chunks_of(level, origin, slot);
      if (prefix_.of(chunks) == Share::none) continue;
      SHERD_TRY(extent, (*index)->extent(slot));
      if (depth + 1 == state_.levels.size())
        keys_.push_back(state_.array.key(chunks.origin));
      else
        SHERD_TRY(
            visit(source, {where.offset + extent->offset, extent->length}, depth + 1, chunks.origin).in_slot(slot));
    }
    return {};
  }

  const ChunkPrefix& prefix_;
  const Shape origin_;
  std::vector<std::string>& keys_;
};

// Adds the keys of the chunks of these shards that match a prefix.
Result<void> add_chunks(const State& state, const ChunkPrefix& prefix, const std::vector<Shape>& shards,
                        std::vector<std::string>& keys) {
  std::vector<std::vector<std::string>> found(shards.size());
  SHERD_TRY(read_all(state, shards.size(),
                     [&](std::uint64_t i) { return std::make_unique<KeysRead>(state, prefix, shards[i], found[i]); }));
  for (auto& each : found) std::move(each.begin(), each.end(), std::back_inserter(keys));
  return {};
}

// The prefixes of chunks' keys that are directories of shards, judging by their names.
std::optional<std::vector<std::string>> chunk_directories(const State& state, const ChunkPrefix& chunks,
                                                          std::string_view name) {
  const std::size_t axis = chunks.fixed().size();
  const std::string_view letter = axis == 0 ? "c" : "";
  if (state.keys.separator != '/' || axis + 1 >= state.chunk_counts.size() || !name.starts_with(letter))
    return std::nullopt;
  const auto parsed = ChunkPrefix::parse(std::string(name.substr(letter.size())) + "/", 2, '/');
  if (!parsed || parsed->fixed().size() != 1) return std::nullopt;
  Shape shard(state.chunk_counts.size(), 0);
  shard[axis] = parsed->fixed()[0];
  const Box box = state.chunks_of(shard);
  std::vector<std::string> names;
  names.reserve(box.shape[axis]);
  for (std::uint64_t i = 0; i < box.shape[axis]; ++i)
    names.push_back(std::string(letter) + std::to_string(box.origin[axis] + i) + "/");
  return names;
}

}  // namespace

Result<std::vector<std::optional<std::string>>> ShardingTransformer::get_partial_values(
    std::span<const KeyRange> key_ranges) const {
  return read_values(*state_, key_ranges);
}

Result<std::optional<std::string>> ShardingTransformer::get(const std::string& key) const {
  const KeyRange whole{key};
  SHERD_TRY(values, get_partial_values({&whole, 1}));
  return std::move(values.front());
}

Result<std::vector<std::string>> ShardingTransformer::list() const { return list_prefix(""); }

Result<std::vector<std::string>> ShardingTransformer::list_prefix(const std::string& prefix) const {
  const auto chunks = state_->chunks_below(prefix);
  std::vector<std::string> keys;
  std::vector<Shape> shards;
  SHERD_TRY(state_->store().list(state_->directory_of(prefix, chunks), [&](const std::string& key, std::uint64_t) {
    auto shard = state_->cell_of(key);
    if (!shard || !chunks) {
      if (key.starts_with(prefix)) keys.push_back(key);
    } else if (chunks->of(state_->chunks_of(*shard)) != Share::none) {
      shards.push_back(*std::move(shard));
    }
    return true;
  }));
  if (chunks) SHERD_TRY(add_chunks(*state_, *chunks, shards, keys));
  std::sort(keys.begin(), keys.end());
  return keys;
}

Result<KeysAndPrefixes> ShardingTransformer::list_dir(const std::string& prefix) const {
  SHERD_TRY(check_prefix(prefix));
  const auto chunks = state_->chunks_below(prefix);
  const bool in_grid = chunks && prefix.size() >= state_->array.prefix.size();
  const std::string directory = in_grid ? state_->directory_of(prefix, chunks) : prefix;
  SHERD_TRY(listing, state_->store().list_dir(directory));
  KeysAndPrefixes found;
  std::vector<Shape> shards;
  for (const auto& object : listing.objects) {
    auto shard = in_grid ? state_->cell_of(directory + object.name) : std::nullopt;
    if (shard)
      shards.push_back(*std::move(shard));
    else if (directory == prefix)
      found.keys.push_back(prefix + object.name);
  }
  if (in_grid) SHERD_TRY(add_chunks(*state_, *chunks, shards, found.keys));
  for (const std::string& name : listing.prefixes) {
    const auto names = in_grid ? chunk_directories(*state_, *chunks, name) : std::nullopt;
    if (names)
      for (const std::string& each : *names) found.prefixes.push_back(prefix + each);
    else if (directory == prefix)
      found.prefixes.push_back(prefix + name + "/");
  }
  std::sort(found.keys.begin(), found.keys.end());
  std::sort(found.prefixes.begin(), found.prefixes.end());
  return found;
}

}  // namespace sherd::draft2022
