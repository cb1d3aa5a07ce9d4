// Shards as objects of a store: their names, the older pair of objects, and successive versions while they are read. A
// shard that is amended in place keeps its old bytes, so a reader that notices a change starts again with the newer
// version and loses nothing that it has read.
#include <algorithm>

#include "base/try.hpp"
#include "neuroglancer/sharded_store.hpp"
#include "store/prefetched.hpp"
#include "store/retry.hpp"

namespace sherd::neuroglancer {
namespace {

/// Of a shard with many minishards, as much of their index is read at first.
constexpr std::uint64_t kHeadBytes = std::uint64_t{64} << 10;

/// Two objects as one: the second begins where the first ends.
class PairSource final : public ByteSource {
 public:
  static Result<std::shared_ptr<ByteSource>> make(std::shared_ptr<ByteSource> first,
                                                  std::shared_ptr<ByteSource> second) {
    auto pair = std::make_shared<PairSource>();
    SHERD_TRY(first_size, first->size());
    SHERD_TRY(second_size, second->size());
    SHERD_TRY(generation, first->generation());
    SHERD_TRY(other, second->generation());
    pair->first_size_ = first_size;
    pair->size_ = first_size + second_size;
    pair->generation_.token = std::to_string(generation.token.size()) + ":" + generation.token + other.token;
    pair->first_ = std::move(first);
    pair->second_ = std::move(second);
    return std::shared_ptr<ByteSource>(std::move(pair));
  }

  [[nodiscard]] const std::string& name() const noexcept override { return second_->name(); }
  Result<std::uint64_t> size() override { return size_; }
  Result<Generation> generation() override { return generation_; }

  Result<void> read(std::span<const RangeRead> ranges) override {
    std::vector<RangeRead> here, there;
    for (const RangeRead& range : ranges) {
      const std::uint64_t before = range.offset < first_size_ ? first_size_ - range.offset : 0;
      const auto cut = static_cast<std::size_t>(std::min<std::uint64_t>(before, range.into.size()));
      if (cut > 0) here.push_back({range.offset, range.into.first(cut)});
      if (cut < range.into.size()) there.push_back({range.offset + cut - first_size_, range.into.subspan(cut)});
    }
    if (!here.empty()) SHERD_TRY(first_->read(here));
    if (!there.empty()) SHERD_TRY(second_->read(there));
    return {};
  }

 private:
  std::shared_ptr<ByteSource> first_, second_;
  std::uint64_t first_size_ = 0, size_ = 0;
  Generation generation_;
};

/// Whether a failure may be caused by a change since the shard was opened.
Result<bool> changed_since(const ShardedStore::State& state, std::uint64_t number, ByteSource& source) {
  SHERD_TRY(before, source.generation());
  SHERD_TRY(now, open_shard(state, number));
  if (!now.source) return true;
  SHERD_TRY(after, now.source->generation());
  return before != after;
}

}  // namespace

std::optional<std::uint64_t> shard_number(const Uint64Sharding& sharding, std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot > 16) return std::nullopt;
  const std::string_view suffix = name.substr(dot);
  if (suffix != ".shard" && suffix != ".index" && suffix != ".data") return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : name.substr(0, dot)) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c < 'a' || c > 'f')) return std::nullopt;
    number = number << 4 | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  const bool exists = sharding.shard_bits >= 64 || number >> sharding.shard_bits == 0;
  if (!exists || sharding.name(number) != name.substr(0, dot)) return std::nullopt;
  return number;
}

Result<std::shared_ptr<ByteSource>> open_pair(Store& store, const Uint64Sharding& sharding,
                                              const PairLocation& location) {
  const ShardKeys keys(sharding, location.number);
  SHERD_TRY(index, store.open(location.prefix + keys.index));
  if (!index) return std::shared_ptr<ByteSource>();
  SHERD_TRY(data, store.open(location.prefix + keys.data));
  if (!data) return corrupt(keys.data + " does not exist").in_key(index->name());
  SHERD_TRY(size, index->size());
  if (size != sharding.head_bytes())
    return corrupt("has " + std::to_string(size) + " bytes, but an index of 2^" +
                   std::to_string(sharding.minishard_bits) + " minishards has " + std::to_string(sharding.head_bytes()))
        .in_key(index->name());
  return PairSource::make(std::move(index), std::move(data));
}

Result<OpenedShard> open_shard(const ShardedStore::State& state, std::uint64_t number) {
  const std::uint64_t length =
      std::max(std::min(state.format.sharding.head_bytes(), kHeadBytes), state.store->traits().tail_read_bytes);
  SHERD_TRY(shard, open_with(*state.store, {.key = ShardKeys(state.format.sharding, number).shard, .length = length}));
  if (shard) return OpenedShard{std::move(shard), false};
  SHERD_TRY(pair, open_pair(*state.store, state.format.sharding, {"", number}));
  const bool is_pair = pair != nullptr;
  return OpenedShard{std::move(pair), is_pair};
}

Result<std::vector<std::uint64_t>> shard_numbers(const ShardedStore::State& state) {
  SHERD_TRY(listing, state.store->list_dir(""));
  std::vector<std::uint64_t> numbers;
  const auto add = [&](const std::string& name) {
    const auto number = shard_number(state.format.sharding, name);
    if (number && !name.ends_with(".data")) numbers.push_back(*number);  // which alone is not a shard
  };
  for (const auto& object : listing.objects) add(object.name);
  // A directory at the key of a shard is detected when it is opened; it is never ignored silently.
  for (const std::string& name : listing.prefixes) add(name);
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

Result<void> with_shard(const ShardedStore::State& state, std::uint64_t number, const ShardRead& read) {
  unsigned attempt = 0;
  return retry_limited(state.config(), [&]() -> Result<void> {
    SHERD_TRY(opened, open_shard(state, number));
    auto done = read(opened.source, attempt++);
    if (done || opened.source == nullptr) return done;
    if (done.error().code() == ErrorCode::corrupt) {
      SHERD_TRY(changed, changed_since(state, number, *opened.source));
      if (changed) return conflict("was changed while it was read").in_key(opened.source->name());
    }
    return std::move(done).in_key(opened.source->name());
  });
}

}  // namespace sherd::neuroglancer
