// The operations of the sharding transformer that change values: changes are collected by shard, and each shard becomes
// one new version of its object. A shard that is replaced completely is written at once. Everything else happens under
// the store's lock and, if that does not exclude all writers, on condition that no other writer was first.
#include <algorithm>
#include <map>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "draft2022/plan.hpp"
#include "node/document.hpp"
#include "store/condition.hpp"
#include "store/read_into.hpp"
#include "store/retry.hpp"

namespace sherd::draft2022 {
namespace {

using State = ShardingTransformer::State;
using Share = ChunkPrefix::Share;
using Bytes = std::span<const std::byte>;

using EditsByChunk = std::map<Shape, Edit>;

// Carries out changes, shard by shard.
class Changes {
 public:
  explicit Changes(const State& state) : state_(state) {}

  Result<void> run(const EditsByChunk& edits) const {
    std::map<std::string, std::pair<Shape, Change>> by_shard;  // writers are made in sorted order
    for (const auto& [chunk, edit] : edits) {
      const Shape shard = state_.shard_of(chunk);
      auto& [cell, change] = by_shard[state_.array.key(shard)];
      cell = shard;
      change.edits.push_back(&edit);
    }
    std::vector<const std::pair<Shape, Change>*> shards;
    shards.reserve(by_shard.size());
    for (const auto& [key, shard] : by_shard) shards.push_back(&shard);
    return parallel_for(shards.size(), state_.request_config(),
                        [&](std::size_t i) { return run(shards[i]->first, shards[i]->second); });
  }

  Result<void> run(const Shape& shard, const Change& change) const {
    const std::string key = state_.array.key(shard);
    const Box chunks = state_.chunks_of(shard);
    const auto put = [&] {
      return covers(state_, change.edits, chunks) ? replace(key, chunks, change) : update(key, chunks, change);
    };
    return retry_conflicts(state_.array.config(), put).in_key(key);
  }

 private:
  // The old version is not read.
  Result<void> replace(const std::string& key, const Box& chunks, const Change& change) const {
    SHERD_TRY(plan, plan_change(state_, chunks, nullptr, change));
    return write(key, plan, nullptr, {});
  }

  Result<void> update(const std::string& key, const Box& chunks, const Change& change) const {
    SHERD_TRY(lock, state_.store().lock(key));
    SHERD_TRY(old, state_.store().open(key));
    SHERD_TRY(condition, unchanged_since(old.get()));
    SHERD_TRY(plan, plan_change(state_, chunks, old.get(), change));
    if (plan.steps.empty()) return {};
    return write(key, plan, old.get(), condition);
  }

  Result<void> write(const std::string& key, const Plan& plan, ByteSource* old, const Condition& condition) const {
    const bool conditional = condition.kind != Condition::Kind::always;
    if (!plan.remains && (!conditional || state_.store().traits().conditional_erase)) {
      SHERD_TRY(state_.store().erase(key, condition));
      return {};
    }
    SHERD_TRY(moved, store_plan(state_, plan, {state_.store(), key, old, condition}));
    if (const auto& recorder = state_.array.config().recorder)
      recorder->chunks_moved.fetch_add(moved, std::memory_order_relaxed);
    return {};
  }

  const State& state_;
};

// Why a chunk cannot have a value of this length.
Result<void> check_value(const State& state, const Shape& chunk, std::uint64_t length) {
  if (!state.is_inside(chunk))
    return invalid_argument("the array has " + to_string(state.chunk_counts) +
                            " chunks, and this key is not one of them; after a resize, open the transformer again");
  const std::uint64_t most = state.chunk_layout.max_encoded_size(state.array.chunks);
  if (length > most)
    return invalid_argument("the value has " + std::to_string(length) + " bytes; an encoded chunk has at most " +
                            std::to_string(most));
  return {};
}

Result<std::vector<Patch>> in_order(std::vector<Patch> patches) {
  std::stable_sort(patches.begin(), patches.end(), [](const Patch& a, const Patch& b) { return a.start < b.start; });
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const auto end = checked_add(patches[i].start, patches[i].bytes.size());
    if (!end) return invalid_argument("a part ends beyond 2^64 bytes");
    if (i + 1 < patches.size() && patches[i + 1].start < *end)
      return invalid_argument("the parts that begin at " + std::to_string(patches[i].start) + " and " +
                              std::to_string(patches[i + 1].start) + " overlap");
  }
  return patches;
}

// For a value that is not a chunk.
Result<void> patch_object(const State& state, const std::string& key, std::span<const Patch> patches) {
  Store& store = state.store();
  return retry_conflicts(state.array.config(), [&]() -> Result<void> {
    SHERD_TRY(lock, store.lock(key));
    SHERD_TRY(old, store.open(key));
    SHERD_TRY(condition, unchanged_since(old.get()));
    Buffer value;
    if (old != nullptr) {
      SHERD_TRY(size, old->size());
      SHERD_TRY(read_into(*old, {0, size}, value));
    }
    SHERD_TRY(apply_patches(patches, value));
    return store.set(key, value.span(), condition);
  });
}

// Whether every shard that contains these chunks contains no others.
bool goes_whole(const State& state, const ChunkPrefix& prefix) {
  Shape first(state.chunk_counts.size(), 0);
  std::copy(prefix.fixed().begin(), prefix.fixed().end(), first.begin());
  const Box chunks = state.chunks_of(state.shard_of(first));
  for (std::size_t d = 0; d < prefix.fixed().size(); ++d)
    if (chunks.shape[d] != 1) return false;
  return true;
}

}  // namespace

Result<void> ShardingTransformer::set(const std::string& key, std::span<const std::byte> value) {
  const KeyValue one{key, value};
  return set_values({&one, 1});
}

Result<void> ShardingTransformer::set_values(std::span<const KeyValue> key_values) {
  SHERD_TRY(require_writable(state_->array.location));
  std::map<std::string_view, Bytes> others;
  EditsByChunk edits;
  for (const auto& [key, value] : key_values) {
    auto chunk = state_->cell_of(key);
    if (chunk) SHERD_TRY(check_value(*state_, *chunk, value.size()).in_key(key));
    const bool is_new = chunk ? edits.try_emplace(*chunk, Edit{Edit::Kind::set, *chunk, value}).second
                              : others.try_emplace(key, value).second;
    if (!is_new) return invalid_argument("is given twice among the keys").in_key(key);
  }
  SHERD_TRY(Changes(*state_).run(edits));
  for (const auto& [key, value] : others) SHERD_TRY(state_->store().set(std::string(key), value));
  return {};
}

Result<void> ShardingTransformer::set_partial_values(std::span<const KeyStartValue> key_start_values) {
  SHERD_TRY(require_writable(state_->array.location));
  std::map<std::string, std::vector<Patch>> by_key;
  for (const auto& [key, start, value] : key_start_values) {
    const auto chunk = state_->cell_of(key);
    by_key[chunk ? state_->array.key(*chunk) : key].push_back({start, value});
  }
  const ChunkLayout& layout = state_->chunk_layout;
  std::optional<std::uint64_t> size;  // of every chunk
  if (!layout.dtype.is_variable()) size = layout.chain.encoded_size(layout.chain.stored_shape(state_->array.chunks));
  EditsByChunk edits;
  std::vector<std::pair<std::string, std::vector<Patch>>> others;
  std::vector<Buffer> wholes;
  for (auto& [key, parts] : by_key) {
    SHERD_TRY(patches, in_order(std::move(parts)).in_key(key));
    auto chunk = state_->cell_of(key);
    if (!chunk) {
      others.emplace_back(key, std::move(patches));
      continue;
    }
    SHERD_TRY(check_value(*state_, *chunk, patches.back().start + patches.back().bytes.size()).in_key(key));
    Edit edit{Edit::Kind::patch, *std::move(chunk), {}, std::move(patches)};
    if (size && overwrites(edit.patches, *size)) {
      SHERD_TRY(apply_patches(edit.patches, wholes.emplace_back()));
      edit.kind = Edit::Kind::set;
      edit.value = wholes.back().span();
    }
    edits.emplace(edit.chunk, std::move(edit));
  }
  SHERD_TRY(Changes(*state_).run(edits));
  for (const auto& [key, patches] : others) SHERD_TRY(patch_object(*state_, key, patches).in_key(key));
  return {};
}

Result<void> ShardingTransformer::erase(const std::string& key) { return erase_values({&key, 1}); }

Result<void> ShardingTransformer::erase_values(std::span<const std::string> keys) {
  SHERD_TRY(require_writable(state_->array.location));
  EditsByChunk edits;
  std::vector<const std::string*> others;
  for (const std::string& key : keys) {
    auto chunk = state_->cell_of(key);
    if (chunk)
      edits.try_emplace(*chunk, Edit{Edit::Kind::erase, *chunk});
    else
      others.push_back(&key);
  }
  SHERD_TRY(Changes(*state_).run(edits));
  for (const std::string* key : others) SHERD_TRY(state_->store().erase(*key));
  return {};
}

Result<void> ShardingTransformer::erase_prefix(const std::string& prefix) {
  SHERD_TRY(require_writable(state_->array.location));
  const auto chunks = state_->chunks_below(prefix);
  const bool in_grid = chunks && prefix.size() > state_->array.prefix.size();
  if (!in_grid) return state_->store().erase_prefix(prefix);
  const std::string directory = state_->directory_of(prefix, chunks);
  if (prefix.ends_with('/') && goes_whole(*state_, *chunks)) return state_->store().erase_prefix(directory);
  std::vector<Shape> shards;
  SHERD_TRY(state_->store().list(directory, [&](const std::string& key, std::uint64_t) {
    auto shard = state_->cell_of(key);
    if (shard && chunks->of(state_->chunks_of(*shard)) != Share::none) shards.push_back(*std::move(shard));
    return true;
  }));
  return parallel_for(shards.size(), state_->request_config(), [&](std::size_t i) -> Result<void> {
    if (chunks->of(state_->chunks_of(shards[i])) != Share::all)
      return Changes(*state_).run(shards[i], {.edits = {}, .erased = &*chunks});
    SHERD_TRY(state_->store().erase(state_->array.key(shards[i])));
    return {};
  });
}

}  // namespace sherd::draft2022
