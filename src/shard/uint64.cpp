// Converts ids to locations and lists of ids to bytes. All arithmetic on stored words is modulo 2^64, as in the format:
// deltas may wrap, so lists in any order can be represented. Extents are checked when they are requested.
#include "shard/uint64.hpp"

#include <algorithm>
#include <bit>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/nearest.hpp"
#include "base/try.hpp"
#include "base/whole_number.hpp"

namespace sherd {
namespace {

constexpr std::string_view kType = "neuroglancer_uint64_sharded_v1";
constexpr std::uint64_t kChunkEntryBytes = 24;  // of a chunk in a list
constexpr std::uint64_t kPlaceBytes = 16;       // of a list in the array

constexpr int kLevel = 6;
constexpr int kRawLevel = 3;  // for chunks compressed only by gzip, which is most of the work of writing them

std::uint64_t low_bits(std::uint64_t word, unsigned bits) noexcept {
  return bits >= 64 ? word : word & ((std::uint64_t{1} << bits) - 1);
}
std::uint64_t shifted(std::uint64_t word, unsigned bits) noexcept { return bits >= 64 ? 0 : word >> bits; }

std::uint32_t avalanche(std::uint32_t h) noexcept {
  h = (h ^ (h >> 16)) * 0x85ebca6bU;
  h = (h ^ (h >> 13)) * 0xc2b2ae35U;
  return h ^ (h >> 16);
}

Result<unsigned> bits(const Json& json, std::string_view member, unsigned most) {
  const Json* value = json.find(member);
  if (value == nullptr) return std::move(invalid_argument("is missing")).in_member(member);
  const auto number = whole_uint(*value);
  if (!number || *number > most)
    return std::move(invalid_argument("must be an integer from 0 to " + std::to_string(most))).in_member(member);
  return static_cast<unsigned>(*number);
}

Result<bool> is_gzip(const Json& json, std::string_view member) {
  const Json* value = json.find(member);
  if (value == nullptr) return false;
  if (value->is_string() && value->text() == "raw") return false;
  if (value->is_string() && value->text() == "gzip") return true;
  return std::move(invalid_argument("must be \"raw\" or \"gzip\"")).in_member(member);
}

}  // namespace

std::uint64_t murmurhash3(std::uint64_t id) noexcept {
  constexpr std::uint32_t c1 = 0x239b961bU, c2 = 0xab0e9789U, c3 = 0x38b34ae5U, length = 8;
  // All eight bytes are the tail: the upper four go into the second lane, the lower four into the first.
  std::uint32_t h2 = std::rotl(static_cast<std::uint32_t>(id >> 32) * c2, 16) * c3 ^ length;
  std::uint32_t h1 = std::rotl(static_cast<std::uint32_t>(id) * c1, 15) * c2 ^ length;
  const std::uint32_t h3 = length;  // of the third and the fourth
  h1 += h2 + 2 * h3;
  h2 += h1;
  const std::uint32_t rest = avalanche(h3 + h1);
  h1 = avalanche(h1) + avalanche(h2) + 2 * rest;
  h2 = avalanche(h2) + h1;
  return std::uint64_t{h2} << 32 | h1;
}

Uint64Sharding::Location Uint64Sharding::locate(std::uint64_t id) const noexcept {
  const std::uint64_t routed = shifted(id, preshift_bits);
  const std::uint64_t hashed = hash == Hash::identity ? routed : murmurhash3(routed);
  return {low_bits(shifted(hashed, minishard_bits), shard_bits), low_bits(hashed, minishard_bits)};
}

std::string Uint64Sharding::name(std::uint64_t shard) const {
  constexpr char digits[] = "0123456789abcdef";
  std::string name(std::max(1U, (shard_bits + 3) / 4), '0');
  for (auto digit = name.rbegin(); digit != name.rend(); ++digit, shard >>= 4) *digit = digits[shard & 15];
  return name;
}

Result<Uint64Sharding> Uint64Sharding::parse(const Json& json) {
  if (!json.is_object()) return invalid_argument("must be an object");
  const Json* type = json.find("@type");
  if (type == nullptr) return std::move(invalid_argument("is missing")).in_member("@type");
  if (!type->is_string() || type->text() != kType)
    return std::move(unsupported("must be \"" + std::string(kType) + "\"")).in_member("@type");
  Uint64Sharding sharding;
  SHERD_TRY(preshift, bits(json, "preshift_bits", 64));
  SHERD_TRY(minishard, bits(json, "minishard_bits", 32));
  SHERD_TRY(shard, bits(json, "shard_bits", 64 - minishard));
  sharding.preshift_bits = preshift;
  sharding.minishard_bits = minishard;
  sharding.shard_bits = shard;
  const Json* hash = json.find("hash");
  if (hash == nullptr) return std::move(invalid_argument("is missing")).in_member("hash");
  if (hash->is_string() && hash->text() == "murmurhash3_x86_128")
    sharding.hash = Hash::murmurhash3_x86_128;
  else if (!hash->is_string() || hash->text() != "identity")
    return std::move(unsupported("must be \"identity\" or \"murmurhash3_x86_128\"")).in_member("hash");
  SHERD_TRY(gzip_index, is_gzip(json, "minishard_index_encoding"));
  SHERD_TRY(gzip_data, is_gzip(json, "data_encoding"));
  sharding.gzip_index = gzip_index;
  sharding.gzip_data = gzip_data;
  return sharding;
}

Result<Uint64Sharding> Uint64Sharding::parse_given(const Json& json) {
  const Json names = Uint64Sharding().json();
  std::vector<std::string_view> known;
  for (const auto& [name, value] : names.members()) known.push_back(name);
  for (const auto& [name, value] : json.members())
    if (names.find(name) == nullptr)
      return std::move(invalid_argument("unknown member '" + name + "'" + did_you_mean(name, known))).in_member(name);
  return parse(json);
}

Json Uint64Sharding::json() const {
  return Json::Object{{"@type", std::string(kType)},
                      {"preshift_bits", std::uint64_t{preshift_bits}},
                      {"hash", hash == Hash::identity ? "identity" : "murmurhash3_x86_128"},
                      {"minishard_bits", std::uint64_t{minishard_bits}},
                      {"shard_bits", std::uint64_t{shard_bits}},
                      {"minishard_index_encoding", gzip_index ? "gzip" : "raw"},
                      {"data_encoding", gzip_data ? "gzip" : "raw"}};
}

CodecSpec gzip_spec(std::optional<int> level) { return {"gzip", Json::Object{{"level", level.value_or(kLevel)}}}; }

int gzip_level(const Config& config, std::span<const CodecSpec> codecs) {
  const bool raw = std::ranges::find(codecs, "bytes", &CodecSpec::name) != codecs.end();
  return config.gzip_level.value_or(raw ? kRawLevel : kLevel);
}

Result<Uint64Format> Uint64Format::build(const Uint64Sharding& sharding, CodecTable table, const Limits& limits,
                                         std::optional<int> gzip_level) {
  const auto chain = [&](bool gzip) {
    std::vector<CodecSpec> specs(1);
    specs[0].name = "bytes";
    if (gzip) specs.push_back(gzip_spec(gzip_level));
    return CodecChain::build(specs, table, {DType::uint8, {1}}, limits);
  };
  SHERD_TRY(index_codecs, chain(sharding.gzip_index));
  SHERD_TRY(data_codecs, chain(sharding.gzip_data));
  return Uint64Format{sharding, std::move(index_codecs), std::move(data_codecs)};
}

Result<MinishardIndex> MinishardIndex::decode(std::span<const std::byte> decoded, std::uint64_t head_bytes,
                                              std::uint64_t object_size) {
  if (decoded.size() % kChunkEntryBytes != 0)
    return corrupt("a minishard index has " + std::to_string(decoded.size()) + " bytes, which is not a multiple of 24");
  const std::size_t count = decoded.size() / kChunkEntryBytes;
  const auto word = [&](std::size_t row, std::size_t i) {
    return load_little<std::uint64_t>(decoded.data() + 8 * (row * count + i));
  };
  MinishardIndex index;
  index.object_size_ = object_size;
  index.chunks_.reserve(count);
  std::uint64_t id = 0;
  std::uint64_t end = head_bytes;
  bool ascending = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t before = std::exchange(id, id + word(0, i));
    ascending = ascending && (i == 0 || id > before);
    const Chunk chunk{id, end + word(1, i), word(2, i)};
    end = chunk.offset + chunk.length;
    index.chunks_.push_back(chunk);
  }
  if (ascending) return index;
  const auto by_id = [](const Chunk& a, const Chunk& b) { return a.id < b.id; };
  std::stable_sort(index.chunks_.begin(), index.chunks_.end(), by_id);
  const auto kept = std::unique(index.chunks_.begin(), index.chunks_.end(), [&](const Chunk& a, const Chunk& b) {
    if (a.id == b.id) index.repeated_.push_back(a.id);
    return a.id == b.id;
  });
  index.chunks_.erase(kept, index.chunks_.end());
  return index;
}

const MinishardIndex::Chunk* MinishardIndex::find(std::uint64_t id) const noexcept {
  const auto found = std::lower_bound(chunks_.begin(), chunks_.end(), id,
                                      [](const Chunk& chunk, std::uint64_t wanted) { return chunk.id < wanted; });
  return found == chunks_.end() || found->id != id ? nullptr : &*found;
}

Result<std::optional<Extent>> MinishardIndex::extent(std::uint64_t id) const {
  const Chunk* chunk = find(id);
  if (chunk == nullptr) return std::optional<Extent>();
  SHERD_TRY(extent, extent(*chunk));
  return std::optional(extent);
}

Result<Extent> MinishardIndex::extent(const Chunk& chunk) const {
  const auto end = checked_add(chunk.offset, chunk.length);
  if (end && *end <= object_size_) return Extent{chunk.offset, chunk.length};
  return corrupt("chunk " + std::to_string(chunk.id) + ": its entry (offset " + std::to_string(chunk.offset) +
                 ", size " + std::to_string(chunk.length) + ") reaches beyond the shard's " +
                 std::to_string(object_size_) + " bytes");
}

Result<void> MinishardIndex::check(const Uint64Sharding::Location& minishard, const Uint64Sharding& sharding) const {
  for (const Chunk& chunk : chunks_) {
    const auto location = sharding.locate(chunk.id);
    if (location != minishard)
      return corrupt("holds chunk " + std::to_string(chunk.id) + ", which belongs to minishard " +
                     std::to_string(location.minishard) + " of " + sharding.name(location.shard) +
                     ".shard: is the sharding the right one?");
    SHERD_TRY(extent, extent(chunk));
    if (extent.length > 0 && extent.offset < sharding.head_bytes())
      return corrupt("chunk " + std::to_string(chunk.id) + " overlaps the index");
  }
  return {};
}

Result<std::uint64_t> Uint64IndexCoding::head_bytes() const {
  const std::uint64_t bytes = format_.sharding.head_bytes();
  if (bytes <= limits_.index_bytes || options_.entries == Entries::each) return bytes;
  return unsupported("an index of 2^" + std::to_string(format_.sharding.minishard_bits) +
                     " minishards exceeds the limit index_bytes (" + std::to_string(limits_.index_bytes) + ")");
}

Result<void> Uint64IndexCoding::encode_minishard(const ShardIndex& index, std::size_t first, std::size_t last,
                                                 Buffer& to) const {
  std::size_t count = 0;
  for (std::size_t slot = first; slot < last; ++slot) count += index.empty(slot) ? 0 : 1;
  to.truncate(0);
  if (count == 0) return {};
  Scratch decoded;
  SHERD_TRY(decoded->resize(count * kChunkEntryBytes));
  std::byte* at = decoded->data();
  std::uint64_t id = 0;
  std::uint64_t end = format_.sharding.head_bytes();
  for (std::size_t slot = first; slot < last; ++slot) {
    if (index.empty(slot)) continue;
    Extent extent = index.placed(slot);
    if (!options_.preceding.empty()) {
      extent.offset += options_.preceding[slot];
      extent.length -= options_.preceding[slot];
    }
    store_little(at, ids_[slot] - std::exchange(id, ids_[slot]));
    store_little(at + 8 * count, extent.offset - std::exchange(end, extent.end()));
    store_little(at + 16 * count, extent.length);
    at += 8;
  }
  return format_.index_codecs.encode_bytes(decoded->span(), to);
}

Result<std::vector<IndexCoding::Part>> Uint64IndexCoding::encode(const ShardIndex& index, std::uint64_t end) const {
  const std::uint64_t head = format_.sharding.head_bytes();
  const auto minishard_of = [&](std::size_t slot) { return format_.sharding.locate(ids_[slot]).minishard; };
  const bool amends = options_.entries == Entries::each;
  const bool range = options_.entries == Entries::range && !ids_.empty();
  const std::uint64_t first_entry = range ? minishard_of(0) : 0;
  const std::uint64_t last_entry = range ? minishard_of(ids_.size() - 1) + 1 : amends ? 0 : head / kPlaceBytes;
  Part array{first_entry * kPlaceBytes, {}}, lists{end, {}};
  std::vector<Part> parts;
  SHERD_TRY(array.bytes.resize((last_entry - first_entry) * kPlaceBytes));
  std::fill(array.bytes.data(), array.bytes.data() + array.bytes.size(), std::byte{0});
  Buffer list;
  for (std::size_t first = 0, last = 0; first < ids_.size(); first = last) {
    const std::uint64_t minishard = minishard_of(first);
    while (last < ids_.size() && minishard_of(last) == minishard) ++last;
    SHERD_TRY(encode_minishard(index, first, last, list));
    const std::size_t at = lists.bytes.size();
    SHERD_TRY(lists.bytes.append(list.span()));
    Buffer own;
    if (amends) SHERD_TRY(own.resize(kPlaceBytes));
    std::byte* entry = amends ? own.data() : array.bytes.data() + kPlaceBytes * (minishard - first_entry);
    store_little(entry, list.size() == 0 ? 0 : end - head + at);
    store_little(entry + 8, list.size() == 0 ? 0 : end - head + lists.bytes.size());
    if (amends) parts.push_back({kPlaceBytes * minishard, std::move(own)});
  }
  parts.push_back(std::move(array));
  parts.push_back(std::move(lists));
  return parts;
}

}  // namespace sherd
