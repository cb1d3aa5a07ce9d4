// Knows the order of requests in which the sharding transformer finds and reads values: the shards that the keys lead
// to are opened, then one index a shard is read, of all shards together and transformer by transformer, then the
// values; where there are many shards, a group of them after the other. A source shows one version of its object, so
// index and values of one shard belong together.
#include <algorithm>
#include <map>
#include <tuple>

#include "base/try.hpp"
#include "draft2022/transformer.hpp"
#include "store/key.hpp"
#include "store/retry.hpp"

namespace sherd::draft2022 {
namespace {

using State = ShardingTransformer::State;
using Share = ChunkPrefix::Share;

constexpr std::size_t kOpenObjects = 64;  // at one time: a process has few descriptors, and other calls open files too

Extent cut(const ByteRange& range, const Extent& value) {
  // -(start + 1) + 1: the lowest number has no negative.
  const std::uint64_t from_end = range.start < 0 ? static_cast<std::uint64_t>(-(range.start + 1)) + 1 : 0;
  const std::uint64_t start = range.start < 0 ? value.length - std::min(value.length, from_end)
                                              : std::min(value.length, static_cast<std::uint64_t>(range.start));
  const std::uint64_t rest = value.length - start;
  return {value.offset + start, std::min(range.length.value_or(rest), rest)};
}

// One call of get_partial_values.
class BatchRead {
 public:
  using Values = std::vector<std::optional<std::string>>;

  BatchRead(const State& state, std::span<const KeyRange> ranges)
      : state_(state), config_(state.request_config()), ranges_(ranges), values_(ranges.size()) {}

  Result<Values> run() {
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const std::size_t target = target_of(ranges_[i].key);
      objects_[targets_[target].object].reads.push_back({i, target});
    }
    for (std::size_t first = 0; first < objects_.size(); first += kOpenObjects) {
      const auto group = std::span(objects_).subspan(first, std::min(kOpenObjects, objects_.size() - first));
      SHERD_TRY(read_group(group));
      for (Object& object : group) object.source.reset();
    }
    return std::move(values_);
  }

 private:
  struct Target {
    std::size_t object;
    std::optional<Shape> chunk;        // none: the value is the object
    std::optional<Extent> where = {};  // in the object; of the shard that is known to hold it, in the end of itself
  };
  struct Read {
    std::size_t range;
    std::size_t target;
  };
  struct Object {
    std::string key;
    std::shared_ptr<ByteSource> source = nullptr;
    std::vector<std::size_t> targets = {};
    std::vector<Read> reads = {};
  };

  std::size_t target_of(const std::string& key) {
    const auto [known, is_new] = by_key_.try_emplace(key, targets_.size());
    if (!is_new) return known->second;
    auto chunk = state_.cell_of(key);
    const std::string stored = chunk ? state_.array.key(state_.shard_of(*chunk)) : key;
    const auto [object, is_new_object] = by_object_.try_emplace(stored, objects_.size());
    if (is_new_object) objects_.push_back({stored});
    objects_[object->second].targets.push_back(targets_.size());
    targets_.push_back({object->second, std::move(chunk)});
    return known->second;
  }

  Result<void> read_group(std::span<Object> group) {
    return retry_read(config_, [&]() -> Result<void> {
      SHERD_TRY(open(group));
      for (const Level& level : state_.levels) SHERD_TRY(follow(level, group));
      return read(group);
    });
  }

  Result<void> open(std::span<Object> group) {
    return parallel_for(group.size(), config_, [&](std::size_t i) -> Result<void> {
      Object& object = group[i];
      SHERD_TRY(source, state_.store().open(object.key).in_key(object.key));
      std::optional<Extent> whole;
      if (source != nullptr) {
        SHERD_TRY(size, source->size().in_key(object.key));
        whole = Extent{0, size};
      }
      object.source = std::move(source);
      for (const std::size_t target : object.targets) targets_[target].where = whole;
      return {};
    });
  }

  // From the shards of this level to the slots of the chunks.
  Result<void> follow(const Level& level, std::span<const Object> group) {
    std::map<std::tuple<const Object*, std::uint64_t, std::uint64_t>, std::vector<Target*>> by_shard;
    for (const Object& object : group)
      for (const std::size_t number : object.targets) {
        Target& target = targets_[number];
        if (target.chunk && target.where)
          by_shard[{&object, target.where->offset, target.where->length}].push_back(&target);
      }
    std::vector<const std::vector<Target*>*> shards;
    shards.reserve(by_shard.size());
    for (const auto& [shard, targets] : by_shard) shards.push_back(&targets);
    return parallel_for(shards.size(), config_, [&](std::size_t i) -> Result<void> {
      const Target& first = *shards[i]->front();
      const Object& object = objects_[first.object];
      const Extent where = *first.where;
      Cache none(0);
      SHERD_TRY(
          index,
          read_index({*object.source, where, level.layout, level.grid}, state_.limits(), none).in_key(object.key));
      for (Target* target : *shards[i]) {
        const std::uint64_t slot = level.slot_of(*target->chunk);
        SHERD_TRY(extent, slot_extent(level, *index, slot).in_key(object.key));
        target->where = extent ? std::optional(Extent{where.offset + extent->offset, extent->length}) : std::nullopt;
      }
      return {};
    });
  }

  static Result<std::optional<Extent>> slot_extent(const Level& level, const ShardIndex& index, std::uint64_t slot) {
    SHERD_TRY(extent, index.extent(slot));
    const ChunkLayout& inner = *level.layout.inner;
    if (extent && !inner.shard)
      SHERD_TRY(inner.check_encoded_size(level.layout.inner_shape, extent->length).in_slot(slot));
    return extent;
  }

  Result<void> read(std::span<const Object> group) {
    std::vector<std::vector<RangeRead>> reads(group.size());
    try {
      for (std::size_t i = 0; i < group.size(); ++i) {
        for (const auto& [range, target] : group[i].reads) {
          std::optional<std::string>& value = values_[range];
          value.reset();
          const std::optional<Extent>& where = targets_[target].where;
          if (!where) continue;
          const Extent part = cut(ranges_[range].range, *where);
          value.emplace(part.length, '\0');
          if (part.length > 0) reads[i].push_back({part.offset, std::as_writable_bytes(std::span(*value))});
        }
      }
    } catch (const std::exception&) {
      return unavailable("no memory for what is to be read");
    }
    return parallel_for(group.size(), config_, [&](std::size_t i) -> Result<void> {
      if (reads[i].empty()) return {};
      return group[i].source->read(reads[i]).in_key(group[i].key);
    });
  }

  const State& state_;
  const Config config_;
  const std::span<const KeyRange> ranges_;
  std::map<std::string, std::size_t, std::less<>> by_key_, by_object_;
  std::vector<Object> objects_;
  std::vector<Target> targets_;
  Values values_;
};

// The chunks of these shards that a prefix means.
class ChunkList {
 public:
  ChunkList(const State& state, const ChunkPrefix& prefix) : state_(state), prefix_(prefix) {}

  Result<void> add(const std::vector<Shape>& shards, std::vector<std::string>& keys) const {
    std::vector<std::vector<std::string>> found(shards.size());
    SHERD_TRY(parallel_for(shards.size(), state_.request_config(), [&](std::size_t i) -> Result<void> {
      const std::string key = state_.array.key(shards[i]);
      SHERD_TRY(source, state_.store().open(key).in_key(key));
      if (source == nullptr) return {};  // erased since it was listed
      SHERD_TRY(size, source->size().in_key(key));
      return visit(*source, {0, size}, 0, state_.chunks_of(shards[i]).origin, found[i]).in_key(key);
    }));
    for (auto& each : found) std::move(each.begin(), each.end(), std::back_inserter(keys));
    return {};
  }

 private:
  Result<void> visit(ByteSource& source, Extent where, std::size_t depth, const Shape& origin,
                     std::vector<std::string>& keys) const {
    const Level& level = state_.levels[depth];
    Cache none(0);
    SHERD_TRY(index, read_index({source, where, level.layout, level.grid}, state_.limits(), none));
    for (std::uint64_t slot = 0; slot < index->slots(); ++slot) {
      if (index->empty(slot)) continue;
      const Box chunks = state_.chunks_of(level, origin, slot);
      if (prefix_.of(chunks) == Share::none) continue;
      SHERD_TRY(extent, index->extent(slot));
      if (depth + 1 == state_.levels.size())
        keys.push_back(state_.array.key(chunks.origin));
      else
        SHERD_TRY(visit(source, {where.offset + extent->offset, extent->length}, depth + 1, chunks.origin, keys)
                      .in_slot(slot));
    }
    return {};
  }

  const State& state_;
  const ChunkPrefix& prefix_;
};

// The prefixes of chunks' keys that mean a directory of shards, according to its name.
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
  return BatchRead(*state_, key_ranges).run();
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
  if (chunks) SHERD_TRY(ChunkList(*state_, *chunks).add(shards, keys));
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
  if (in_grid) SHERD_TRY(ChunkList(*state_, *chunks).add(shards, found.keys));
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
