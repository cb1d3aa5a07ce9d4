// Divides the ids of a shard into its parts. A shard with many ids is written in sections, so that only the lists of
// one section are in memory: the values of some whole minishards, then their lists. The ids alone determine where a
// section ends. Sections of a shard are written one after the other; the values within one, and shards, in parallel.
#include "neuroglancer/shard_set.hpp"

#include <algorithm>
#include <cstring>

#include "base/pool.hpp"
#include "base/try.hpp"
#include "shard/choose.hpp"
#include "shard/reader.hpp"
#include "store/read_into.hpp"

namespace sherd {
namespace {

/// A section ends at the next minishard after this many ids, or after this many minishards. This is part of the written
/// format: other numbers give different bytes.
constexpr std::size_t kSectionIds = std::size_t{1} << 14;
constexpr std::uint64_t kSectionMinishards = std::uint64_t{1} << 14;

constexpr std::uint64_t kReadBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kReadGap = 512;
/// Memory per id of a group: its key, its slot, its entry in a list before and after encoding.
constexpr std::uint64_t kGroupIdBytes = 128;

/// The ends of the runs of keys whose values make up a batch.
std::vector<std::size_t> cut_batches(std::span<const StoredKey> keys, std::uint64_t& largest) {
  std::vector<std::size_t> ends;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t length = keys[i].value.length;
    if (bytes != 0 && bytes + length > kReadBytes) {
      ends.push_back(i);
      bytes = 0;
    }
    bytes += length;
    largest = std::max(largest, bytes);
  }
  ends.push_back(keys.size());
  return ends;
}

}  // namespace

std::string shard_key(const Uint64Sharding& sharding, std::uint64_t shard) { return sharding.name(shard) + ".shard"; }

ShardSetWriter::~ShardSetWriter() {
  carried_.object.reset();
  if (kept_ || target_.overwrite) return;
  // Shards made by this build were absent before. An error here would hide the one that led here.
  for (const std::uint64_t shard : made_) (void)target_.store.erase(shard_key(target_.format.sharding, shard));
}

Result<void> ShardSetWriter::write(KeyStream& keys, std::atomic<std::uint64_t>& written) {
  for (;;) {
    SHERD_TRY(next_group(keys));
    if (sections_.empty()) return {};
    SHERD_TRY(write_group(target_.config, written));
  }
}

Result<void> ShardSetWriter::next_group(KeyStream& keys) {
  keys_.clear();
  sections_.clear();
  const std::uint64_t enough = std::clamp<std::uint64_t>(memory_ / 4 / kGroupIdBytes, 1, std::uint64_t{1} << 20);
  while (keys_.size() < enough) {
    SHERD_TRY(key, keys.peek());
    if (key == nullptr) return {};
    SHERD_TRY(section, next_section(keys));
    sections_.push_back(section);
  }
  return {};
}

Result<ShardSetWriter::Section> ShardSetWriter::next_section(KeyStream& keys) {
  const Uint64Sharding& sharding = target_.format.sharding;
  std::optional<Uint64Sharding::Location> begin, last;
  Section section{0, keys_.size(), keys_.size(), !in_shard_, true};
  for (;;) {
    SHERD_TRY(key, keys.peek());
    if (key == nullptr) break;
    const auto location = sharding.locate(key->id);
    if (!begin) begin = last = location;
    if (location.shard != begin->shard) break;
    const bool full =
        section.last - section.first >= kSectionIds || location.minishard - begin->minishard >= kSectionMinishards;
    if (full && location.minishard != last->minishard) {
      section.ends = false;
      break;
    }
    last = location;
    keys_.push_back(*key);
    ++section.last;
    keys.pop();
  }
  section.shard = begin->shard;
  in_shard_ = !section.ends;
  return section;
}

Result<void> ShardSetWriter::write_group(const Config& config, std::atomic<std::uint64_t>& written) {
  std::vector<std::span<const Section>> shards;
  for (std::size_t first = 0, last = 0; first < sections_.size(); first = last) {
    while (last < sections_.size() && sections_[last].shard == sections_[first].shard) ++last;
    shards.push_back(std::span(sections_).subspan(first, last - first));
  }
  OpenShard carried = std::move(carried_);
  carried_ = {};
  return parallel_for(shards.size(), config, [&](std::size_t i) -> Result<void> {
    OpenShard open;
    if (!shards[i].front().begins) open = std::move(carried);
    SHERD_TRY(left, write_sections(shards[i], std::move(open), config, written)
                        .in_key(shard_key(target_.format.sharding, shards[i].front().shard)));
    if (left.object != nullptr) carried_ = std::move(left);
    return {};
  });
}

// Returns the shard if it continues in the next group.
Result<ShardSetWriter::OpenShard> ShardSetWriter::write_sections(std::span<const Section> sections, OpenShard shard,
                                                                 const Config& config,
                                                                 std::atomic<std::uint64_t>& written) {
  if (shard.object == nullptr) {
    SHERD_TRY(object, target_.store.write(shard_key(target_.format.sharding, sections.front().shard)));
    shard.object = std::move(object);
  }
  for (const Section& section : sections)
    SHERD_TRY(write_section(std::span<const StoredKey>(keys_).subspan(section.first, section.last - section.first),
                            shard, config, written));
  if (sections.back().ends) SHERD_TRY(commit(sections.back().shard, shard));
  return shard;
}

Result<void> ShardSetWriter::write_section(std::span<const StoredKey> keys, OpenShard& shard, const Config& config,
                                           std::atomic<std::uint64_t>& written) const {
  std::vector<std::uint64_t> ids, preceding;
  ids.reserve(keys.size());
  preceding.reserve(keys.size());
  for (const StoredKey& key : keys) {
    ids.push_back(key.id);
    preceding.push_back(key.preceding);
  }
  std::uint64_t largest = 1;
  const auto ends = cut_batches(keys, largest);
  const std::uint64_t threads = thread_count(config.threads);
  // Each thread may be in a different shard, with its own window.
  const std::uint64_t window = std::clamp<std::uint64_t>(memory_ / 2 / threads / largest, 1, 2 * threads);
  const Uint64IndexCoding coding(target_.format, ids, config.limits, {preceding, Uint64IndexCoding::Entries::range});
  // What earlier sections have written is unchanged.
  const OldShard before{std::make_shared<const ShardIndex>(keys.size(), shard.end)};
  SHERD_TRY(update, plan_update(UpdateKind::amend, before, {}, coding));
  ShardWriter writer(coding, std::move(update), window);
  SHERD_TRY(writer.start(*shard.object));
  SHERD_TRY(writer.put(ends.size(), config, [&](std::size_t i) -> Result<EncodedBatch> {
    const std::size_t first = i == 0 ? 0 : ends[i - 1];
    SHERD_TRY(batch, gather(keys.subspan(first, ends[i] - first), first));
    written.fetch_add(batch.bytes->size(), std::memory_order_relaxed);
    return batch;
  }));
  SHERD_TRY(writer.finish());
  shard.end = writer.end();
  return {};
}

Result<EncodedBatch> ShardSetWriter::gather(std::span<const StoredKey> keys, std::uint64_t first_slot) const {
  EncodedBatch batch;
  batch.chunks.reserve(keys.size());
  std::uint64_t bytes = 0;
  for (const StoredKey& key : keys) {
    batch.chunks.push_back({first_slot + batch.chunks.size(), key.value.length, true});
    bytes += key.value.length;
  }
  SHERD_TRY(batch.bytes->resize(bytes));
  if (!view_) {
    SHERD_TRY(read_values(keys, *batch.bytes));
    return batch;
  }
  std::byte* to = batch.bytes->data();
  for (const StoredKey& key : keys) {
    if (key.value.length != 0) std::memcpy(to, view_->data() + key.value.offset, key.value.length);
    to += key.value.length;
  }
  return batch;
}

// The neighbours come from every sorted list of ids, and are contiguous in each of them.
Result<void> ShardSetWriter::read_values(std::span<const StoredKey> keys, Buffer& to) const {
  if (keys.size() == 1) return read_into(values_, keys[0].value.offset, to.span());
  std::vector<Wanted> wanted;
  wanted.reserve(keys.size());
  std::uint64_t at = 0;  // position in the batch
  for (const StoredKey& key : keys) {
    if (key.value.length != 0) wanted.push_back({key.value, at});
    at += key.value.length;
  }
  const auto runs = coalesce(wanted, kReadGap, kReadBytes);
  for (const Run& run : runs)
    SHERD_TRY(read_runs(values_, {&run, 1}, wanted, [&](const Wanted& value, std::span<const std::byte> bytes) {
      std::memcpy(to.data() + value.tag, bytes.data(), bytes.size());
      return Result<void>();
    }));
  return {};
}

Result<void> ShardSetWriter::commit(std::uint64_t shard, OpenShard& open) {
  SHERD_TRY(open.object->commit(target_.overwrite ? Condition{} : Condition::absent()));
  open.object.reset();
  const std::lock_guard hold(mutex_);
  made_.push_back(shard);
  bytes_ += open.end;
  return {};
}

}  // namespace sherd
