// Objects that are values in shards, read directly from them, in the version that was opened. Every change of a value
// happens under the lock of its shard, so the lock of one value excludes writers of all others in the shard.
#include "neuroglancer/id_objects.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "store/condition.hpp"
#include "store/listing.hpp"
#include "store/span.hpp"

namespace sherd::neuroglancer {
namespace {

// A part of another source.
class PartSource final : public ByteSource {
 public:
  PartSource(std::string key, std::shared_ptr<ByteSource> whole, Extent part)
      : key_(std::move(key)), whole_(std::move(whole)), part_(part) {}

  [[nodiscard]] const std::string& name() const noexcept override { return key_; }
  Result<std::uint64_t> size() override { return part_.length; }
  Result<Generation> generation() override { return value_generation(*whole_, part_); }
  [[nodiscard]] std::optional<std::span<const std::byte>> view() const noexcept override {
    const auto whole = whole_->view();
    if (!whole) return std::nullopt;
    return whole->subspan(part_.offset, part_.length);
  }
  Result<void> read(std::span<const RangeRead> ranges) override {
    std::vector<RangeRead> inside(ranges.begin(), ranges.end());
    for (RangeRead& range : inside) {
      if (range.offset > part_.length || range.into.size() > part_.length - range.offset)
        return corrupt("ends at byte " + std::to_string(part_.length) + ", but more bytes are expected").in_key(key_);
      range.offset += part_.offset;
    }
    return whole_->read(inside);
  }

 private:
  std::string key_;
  std::shared_ptr<ByteSource> whole_;
  Extent part_;
};

}  // namespace

Result<Generation> value_generation(ByteSource& shard, Extent extent) {
  SHERD_TRY(generation, shard.generation());
  if (!generation.token.empty())
    generation.token += "@" + std::to_string(extent.offset) + "+" + std::to_string(extent.length);
  return generation;
}

// Collects the value and puts it into its shard.
class IdObjects::Writer final : public ObjectWriter {
 public:
  Writer(IdObjects& store, std::string key, std::uint64_t id) : store_(store), key_(std::move(key)), id_(id) {}

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return writer_.write(offset, bytes);
  }
  Result<void> commit(const Condition& condition) override {
    const ShardedStore::Item item{.id = id_, .value = bytes_.span()};
    SHERD_TRY(store_.change_if(key_, id_, &item, condition));
    return {};
  }

 private:
  IdObjects& store_;
  const std::string key_;
  const std::uint64_t id_;
  Buffer bytes_;
  BufferWriter writer_{bytes_};
};

ShardedStoreOptions IdObjects::of_values(const Store& store, const Options& options) {
  ShardedStoreOptions values{.writable = !store.read_only(), .config = options.config};
  values.config.recorder = nullptr;  // requests are counted below, chunks above
  values.config.limits.chunk_bytes = options.max_value_bytes;
  return values;
}

Result<std::shared_ptr<IdObjects>> IdObjects::make(std::shared_ptr<Store> store, std::string prefix,
                                                   const Uint64Sharding& sharding, Options options) {
  SHERD_TRY(state, ShardedStore::State::make(prefix.empty() ? store : prefixed_store(store, prefix), sharding.json(),
                                             options.codecs, of_values(*store, options)));
  return std::shared_ptr<IdObjects>(
      new IdObjects(std::move(store), std::move(prefix), std::move(options), std::move(state)));
}

std::shared_ptr<IdObjects> IdObjects::with_config(const Config& config) const {
  Options options = options_;
  options.config = config;
  auto state = std::make_shared<ShardedStore::State>(state_->store, state_->format, of_values(*store_, options));
  return std::shared_ptr<IdObjects>(new IdObjects(store_, prefix_, std::move(options), std::move(state)));
}

std::optional<std::uint64_t> IdObjects::id_of(std::string_view key) const {
  if (!key.starts_with(prefix_)) return std::nullopt;
  key.remove_prefix(prefix_.size());
  const auto id = parse_number<std::uint64_t>(key);
  return id && std::to_string(*id) == key ? id : std::nullopt;
}

std::string IdObjects::shard_key(std::uint64_t shard) const {
  return prefix_ + ShardKeys(state_->format.sharding, shard).shard;
}

Result<std::shared_ptr<ByteSource>> IdObjects::find(const std::string& key) {
  const auto id = id_of(key);
  return id ? open_value(key, *id) : store_->open(key);
}

Result<std::shared_ptr<ByteSource>> IdObjects::open_value(const std::string& key, std::uint64_t id) const {
  std::shared_ptr<ByteSource> found;
  const auto read = [&](const std::shared_ptr<ByteSource>& shard, unsigned) -> Result<void> {
    found.reset();
    if (shard == nullptr) return {};
    SHERD_TRY(chunk, find_chunk(*state_, *shard, id));
    if (!chunk) return {};
    found = std::make_shared<PartSource>(key, shard, Extent{chunk->offset, chunk->length});
    return {};
  };
  SHERD_TRY(with_shard(*state_, location(id).shard, read));
  return found;
}

Result<std::unique_ptr<ObjectWriter>> IdObjects::write(const std::string& key, const WriteHints& hints) {
  const auto id = id_of(key);
  if (!id) return store_->write(key, hints);
  return std::unique_ptr<ObjectWriter>(std::make_unique<Writer>(*this, key, *id));
}

Result<Generation> IdObjects::amend(const std::string& key, const Amendment& amendment) {
  return id_of(key) ? Store::amend(key, amendment) : store_->amend(key, amendment);
}

// Stores a value, or erases it if there is none, in the version of the shard in which the condition was checked. The
// generation of a value includes its shard's, so a change of another id is also a conflict.
Result<std::uint64_t> IdObjects::change_if(const std::string& key, std::uint64_t id, const ShardedStore::Item* item,
                                           const Condition& condition) {
  const std::span puts(item, item != nullptr ? 1 : 0);
  const std::span erased(&id, item != nullptr ? 0 : 1);
  if (condition.kind == Condition::Kind::always) return change(*state_, puts, erased);
  SHERD_TRY(held, lock(key));
  SHERD_TRY(seen, open_shard(*state_, location(id).shard));
  std::optional<MinishardIndex::Chunk> chunk;
  if (seen.source) {
    SHERD_TRY(found, find_chunk(*state_, *seen.source, id));
    chunk = found;
  }
  const auto generation = [&] { return value_generation(*seen.source, {chunk->offset, chunk->length}); };
  SHERD_TRY(check_condition(condition, chunk.has_value(), generation).in_key(key));
  return change_seen(*state_, std::move(seen), puts, erased);
}

Result<std::unique_ptr<StoreLock>> IdObjects::lock(const std::string& key) {
  const auto id = id_of(key);
  return store_->lock(id ? shard_key(location(*id).shard) : key);
}

Result<Erased> IdObjects::erase(const std::string& key, const Condition& condition) {
  const auto id = id_of(key);
  if (!id) return store_->erase(key, condition);
  SHERD_TRY(count, change_if(key, *id, nullptr, condition));
  return count != 0 ? Erased::object : Erased::nothing;
}

Result<std::vector<Listing::Object>> IdObjects::shard_objects() const {
  SHERD_TRY(listing, store_->list_dir(prefix_));
  std::erase_if(listing.objects,
                [&](const Listing::Object& object) { return !shard_number(state_->format.sharding, object.name); });
  return std::move(listing.objects);
}

Result<bool> IdObjects::visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) {
  if (depth == ListDepth::all) return visit_levels(*this, prefix, visit);
  if (prefix != prefix_) return store_->visit(prefix, depth, visit);
  const auto is_hidden = [&](const ListEntry& entry) {
    if (entry.is_prefix) return false;
    const std::string name(entry.name);
    return shard_number(state_->format.sharding, name) || id_of(prefix_ + name);
  };
  SHERD_TRY(others, store_->visit(prefix, depth, [&](const ListEntry& entry) -> Result<bool> {
    return is_hidden(entry) ? Result<bool>(true) : visit(entry);
  }));
  if (!others) return false;
  Result<bool> more = true;
  SHERD_TRY(ShardedStore(state_).list([&](std::uint64_t id, std::uint64_t bytes) {
    more = visit({.name = std::to_string(id), .size = bytes});
    return more.has_value() && *more;
  }));
  return more;
}

}  // namespace sherd::neuroglancer
