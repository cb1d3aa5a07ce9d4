// Builds the tree of chains and shards from codec metadata, and refuses what the sharding specification forbids: ranks
// that differ, inner chunks that do not divide the shard, index codecs of variable size.
#include "shard/layout.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "base/checked.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "codec/configuration.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kListEntryBytes = 24;                       // of a chunk in the list of its minishard
constexpr std::uint64_t kPlausibleBytes = std::uint64_t{64} << 10;  // of any chunk; checked first, as it costs nothing

Result<Shape> parse_inner_shape(const Json& value, const Shape& stored) {
  if (!value.is_array()) return std::move(invalid_argument("must be a list of integers")).in_member("chunk_shape");
  Shape inner;
  for (const Json& length : value.elements()) {
    const auto number = length.as_uint();
    if (!number || *number == 0)
      return std::move(invalid_argument("must be a list of integers of at least 1")).in_member("chunk_shape");
    inner.push_back(*number);
  }
  if (inner.size() != stored.size())
    return std::move(invalid_argument("has " + std::to_string(inner.size()) + " dimensions, the shard " +
                                      std::to_string(stored.size())))
        .in_member("chunk_shape");
  for (std::size_t d = 0; d < inner.size(); ++d)
    if (stored[d] % inner[d] != 0)
      return std::move(invalid_argument("inner chunk " + to_string(inner) + " does not divide the shard " +
                                        to_string(stored) + " along dimension " + std::to_string(d) +
                                        "; only the draft of version 1.1 of sharding_indexed allows that"))
          .in_member("chunk_shape");
  return inner;
}

Result<IndexLocation> parse_location(const Json* value) {
  if (value == nullptr || value->text() == "end") return IndexLocation::end;
  if (value->is_string() && value->text() == "start") return IndexLocation::start;
  return std::move(invalid_argument("must be \"start\" or \"end\"")).in_member("index_location");
}

Result<std::vector<CodecSpec>> required_codecs(const Json& configuration, std::string_view member) {
  const Json* list = configuration.find(member);
  if (list == nullptr) return std::move(invalid_argument("is missing")).in_member(member);
  return parse_codec_list(*list).in_member(member);
}

Result<void> check_members(const Json& configuration) {
  if (!configuration.is_object()) return invalid_argument("sharding_indexed needs a configuration object");
  for (const auto& [name, value] : configuration.members())
    if (name != "chunk_shape" && name != "codecs" && name != "index_codecs" && name != "index_location")
      return std::move(unsupported("unknown member")).in_member(name);
  return {};
}

Result<void> check_decoded_size(const Shape& shape, const DType& dtype, const Limits& limits) {
  const auto count = element_count(shape);
  const auto bytes = count ? checked_mul(*count, dtype.size()) : std::nullopt;
  if (bytes && *bytes <= limits.chunk_bytes) return {};
  return unsupported("a chunk of shape " + to_string(shape) + " exceeds the limit chunk_bytes (" +
                     std::to_string(limits.chunk_bytes) + ")");
}

// What is the same on every level, and the level.
struct Building {
  CodecTable table;
  const Limits& limits;
  std::uint64_t level = 0;
};

// A chunk on some level, and the element of missing ones.
struct Inside {
  ChunkType type;
  Scalar fill;
};

Result<ChunkLayout> build_level(std::span<const CodecSpec> specs, const Inside& in, const Building& building);

Result<ShardLayout> build_shard(const Json& configuration, const Inside& inside, const Building& building) {
  const auto& [table, limits, level] = building;
  const ChunkType& in = inside.type;
  SHERD_TRY(check_members(configuration));
  if (level >= limits.shard_nesting)
    return unsupported("shards are nested deeper than the limit shard_nesting (" +
                       std::to_string(limits.shard_nesting) + ")");
  const Json* chunk_shape = configuration.find("chunk_shape");
  if (chunk_shape == nullptr) return std::move(invalid_argument("is missing")).in_member("chunk_shape");
  ShardLayout shard;
  SHERD_TRY(inner_shape, parse_inner_shape(*chunk_shape, in.shape));
  shard.inner_shape = std::move(inner_shape);
  SHERD_TRY(location, parse_location(configuration.find("index_location")));
  IndexFormat index;
  index.location = location;

  const Shape grid = shard.grid(in.shape);
  Shape index_shape = grid;
  index_shape.push_back(2);
  SHERD_TRY(index_specs, required_codecs(configuration, "index_codecs"));
  SHERD_TRY(index_chain,
            CodecChain::build(index_specs, table, {DType::uint64, index_shape}, limits).in_member("index_codecs"));
  if (index_chain.sharding())
    return std::move(invalid_argument("cannot be sharding_indexed")).in_member("index_codecs");
  index.codecs = std::move(index_chain);
  SHERD_TRY(index.encoded_size(grid, limits));
  shard.index = std::move(index);

  SHERD_TRY(inner_specs, required_codecs(configuration, "codecs"));
  SHERD_TRY(inner, build_level(inner_specs, {{in.dtype, shard.inner_shape}, inside.fill}, {table, limits, level + 1})
                       .in_member("codecs"));
  shard.inner = std::make_unique<ChunkLayout>(std::move(inner));
  return shard;
}

std::string sharding_member(std::span<const CodecSpec> specs) {
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (specs[i].name == "sharding_indexed") return "[" + std::to_string(i) + "].configuration";
  return {};
}

// The fill value after the array->array codecs, which must convert it whether or not a shard follows.
Result<Scalar> encoded_fill(const CodecChain& chain, const Inside& in) {
  if (!chain.has_array_codecs()) return in.fill;
  SHERD_TRY(encoded, chain.encode_fill(chain.stored_shape(in.type.shape), in.fill.bytes()));
  return Scalar(std::move(encoded));
}

Result<ChunkLayout> build_level(std::span<const CodecSpec> specs, const Inside& in, const Building& building) {
  const Limits& limits = building.limits;
  ChunkLayout layout;
  layout.dtype = in.type.dtype;
  layout.fill = in.fill;
  SHERD_TRY(chain, CodecChain::build(specs, building.table, in.type, limits));
  layout.chain = std::move(chain);
  if (!layout.chain.sharding() || layout.chain.has_array_codecs() || layout.chain.has_bytes_codecs())
    SHERD_TRY(check_decoded_size(in.type.shape, in.type.dtype, limits));
  SHERD_TRY(fill, encoded_fill(layout.chain, in));
  if (!layout.chain.sharding()) return layout;
  SHERD_TRY(inner_type, layout.chain.inner_type(layout.chain.stored_shape(in.type.shape)));
  SHERD_TRY(shard, build_shard(layout.chain.sharding()->configuration, {inner_type, std::move(fill)}, building)
                       .in_member(sharding_member(specs)));
  layout.shard = std::make_unique<ShardLayout>(std::move(shard));
  return layout;
}

CodecSpec transpose(const std::vector<std::size_t>& order) {
  Json list{Json::Array{}};
  for (const std::size_t dimension : order) list.push_back(std::uint64_t{dimension});
  return {.name = "transpose", .configuration = Json(Json::Object{{"order", std::move(list)}})};
}

std::vector<std::size_t> inverse(const std::vector<std::size_t>& order) {
  std::vector<std::size_t> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = i;
  return result;
}

// The chunks of a box, with slots in C order. An amendment has only the minishards of some slots.
class BoxIdCoding final : public IndexCoding {
 public:
  BoxIdCoding(const Uint64Format& format, std::span<const std::uint64_t> ids, const Limits& limits)
      : BoxIdCoding(format, ids, limits, Entries::all) {
    slots_.resize(ids.size());
    std::iota(slots_.begin(), slots_.end(), std::uint64_t{0});
    sort(ids);
  }
  BoxIdCoding(const Uint64Format& format, std::span<const std::uint64_t> ids, const Limits& limits,
              std::span<const std::uint64_t> changed)
      : BoxIdCoding(format, ids, limits, Entries::each) {
    const auto minishard = [&](std::uint64_t slot) { return format.sharding.locate(ids[slot]).minishard; };
    std::set<std::uint64_t> minishards;
    for (const std::uint64_t slot : changed) minishards.insert(minishard(slot));
    for (std::uint64_t slot = 0; slot < ids.size(); ++slot)
      if (minishards.contains(minishard(slot))) slots_.push_back(slot);
    sort(ids);
  }
  [[nodiscard]] std::uint64_t slots() const noexcept override { return count_; }
  [[nodiscard]] Result<std::uint64_t> head_bytes() const override { return coding().head_bytes(); }
  [[nodiscard]] Result<std::vector<Part>> encode(const ShardIndex& index, std::uint64_t end) const override {
    ShardIndex sorted(slots_.size());
    for (std::uint64_t i = 0; i < slots_.size(); ++i)
      if (!index.empty(slots_[i])) sorted.set(i, index.placed(slots_[i]));
    return coding().encode(sorted, end);
  }

 private:
  using Entries = Uint64IndexCoding::Entries;

  BoxIdCoding(const Uint64Format& format, std::span<const std::uint64_t> ids, const Limits& limits, Entries entries)
      : format_(format), limits_(limits), entries_(entries), count_(ids.size()) {}
  void sort(std::span<const std::uint64_t> ids) {
    const auto location = [&](std::uint64_t slot) {
      return std::pair(format_.sharding.locate(ids[slot]).minishard, ids[slot]);
    };
    std::ranges::sort(slots_, {}, location);
    ids_.reserve(slots_.size());
    for (const std::uint64_t slot : slots_) ids_.push_back(ids[slot]);
  }
  [[nodiscard]] Uint64IndexCoding coding() const { return {format_, ids_, limits_, {.entries = entries_}}; }

  const Uint64Format& format_;
  const Limits& limits_;
  const Entries entries_;
  const std::uint64_t count_;
  std::vector<std::uint64_t> slots_;  // by minishard, then by id
  std::vector<std::uint64_t> ids_;    // of these
};

}  // namespace

Shape ShardLayout::grid(const Shape& stored) const {
  Shape grid(stored.size());
  for (std::size_t d = 0; d < stored.size(); ++d) grid[d] = ceil_div(stored[d], inner_shape[d]);
  return grid;
}

Shape ShardLayout::inner_shape_at(const Shape& cell, const Shape& stored) const {
  Shape shape(cell.size());
  for (std::size_t d = 0; d < cell.size(); ++d)
    shape[d] = std::min(inner_shape[d], stored[d] - cell[d] * inner_shape[d]);
  return shape;
}

Result<std::vector<std::uint64_t>> ShardLayout::all_ids(const Shape& grid, std::uint64_t first_id,
                                                        const Limits& limits) const {
  const auto count = element_count(grid);
  if (!count || *count > limits.index_bytes / kListEntryBytes)
    return unsupported("the index of a shard of " + to_string(grid) + " chunks exceeds the limit index_bytes (" +
                       std::to_string(limits.index_bytes) + ")");
  std::vector<std::uint64_t> all;
  all.reserve(*count);
  Shape cell(grid.size(), 0);
  for (std::uint64_t slot = 0; slot < *count; ++slot) {
    all.push_back(first_id + ids()->morton.encode(cell));
    for (std::size_t d = cell.size(); d-- > 0 && ++cell[d] == grid[d];) cell[d] = 0;
  }
  return all;
}

Result<std::unique_ptr<IndexCoding>> ShardLayout::coding(const Shape& grid, std::uint64_t first_id,
                                                         const Limits& limits) const {
  std::unique_ptr<IndexCoding> made;
  if (const IndexFormat* format = slots()) {
    made = std::make_unique<SlotIndexCoding>(*format, grid, limits);
    if (!second) return made;
    SHERD_TRY(both, second->slots(grid, first_id, limits));
    made = std::make_unique<SecondIndexCoding>(std::move(made), *second, std::move(both), limits);
    return made;
  }
  SHERD_TRY(all, all_ids(grid, first_id, limits));
  made = std::make_unique<BoxIdCoding>(ids()->format, all, limits);
  return made;
}

Result<std::unique_ptr<IndexCoding>> ShardLayout::part_coding(const Shape& grid, std::uint64_t first_id,
                                                              std::span<const std::uint64_t> changed,
                                                              const Limits& limits) const {
  if (ids() == nullptr) return coding(grid, first_id, limits);  // one index, which changes as a whole
  SHERD_TRY(all, all_ids(grid, first_id, limits));
  std::unique_ptr<IndexCoding> made = std::make_unique<BoxIdCoding>(ids()->format, all, limits, changed);
  return made;
}

std::uint64_t ShardLayout::max_encoded_size() const {
  if (!inner->shard) return inner->max_encoded_size(inner_shape);
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t index_bytes = 32;  // per entry, however the index is encoded
  const ShardLayout& within = *inner->shard;
  const std::uint64_t slots = element_count(within.grid(inner->chain.stored_shape(inner_shape))).value_or(most);
  const auto slot = checked_add(within.max_encoded_size(), index_bytes);
  const auto all = slot ? checked_mul(*slot, slots) : std::nullopt;
  return all ? checked_mul(*all, 2).value_or(most) : most;
}

Shape ChunkLayout::leaf_shape(const Shape& shape) const {
  if (!shard) return shape;
  const Shape stored = shard->inner->leaf_shape(shard->inner_shape);
  Shape natural(stored.size());
  for (std::size_t j = 0; j < stored.size(); ++j) natural[chain.permutation()[j]] = stored[j];
  return natural;
}

std::uint64_t ChunkLayout::max_encoded_size(const Shape& shape) const {
  return std::max(
      {kPlausibleBytes, *element_count(shape) * dtype.size(), chain.max_encoded_size(chain.stored_shape(shape))});
}

Result<void> ChunkLayout::check_encoded_size(const Shape& shape, std::uint64_t bytes) const {
  if (bytes <= kPlausibleBytes || bytes <= *element_count(shape) * dtype.size()) return {};
  const std::uint64_t most = max_encoded_size(shape);
  if (bytes <= most) return {};
  return corrupt("holds " + std::to_string(bytes) + " bytes; an encoded chunk of shape " + to_string(shape) +
                 " has at most " + std::to_string(most));
}

Result<void> ChunkLayout::check_object_size(const Shape& shape, std::uint64_t bytes, const Limits& limits) const {
  if (bytes > max_shard_bytes(limits))
    return unsupported("an object of " + std::to_string(bytes) + " bytes exceeds the limit chunk_bytes");
  return shard ? Result<void>() : check_encoded_size(shape, bytes);
}

Result<ChunkLayout> ChunkLayout::build(std::span<const CodecSpec> specs, CodecTable table, const ChunkType& in,
                                       const Scalar& fill, const Limits& limits) {
  return build_level(specs, {in, fill}, {table, limits});
}

// Only the order of the ids surrounds such a shard, so its own chain is elements in C order.
Result<ChunkLayout> ChunkLayout::build(const IdSharding& ids, std::span<const CodecSpec> specs, CodecTable table,
                                       const ChunkType& in, const Scalar& fill, const Limits& limits) {
  std::vector<CodecSpec> around{{.name = "bytes", .configuration = Json(Json::Object{{"endian", "little"}})}};
  std::vector<CodecSpec> inside(specs.begin(), specs.end());
  if (!ids.order.empty()) {
    around.insert(around.begin(), transpose(ids.order));
    inside.insert(inside.begin(), transpose(inverse(ids.order)));
  }
  ChunkLayout layout;
  layout.dtype = in.dtype;
  layout.fill = fill;
  SHERD_TRY(chain, CodecChain::build(around, table, in, limits));
  layout.chain = std::move(chain);
  ShardLayout shard;
  shard.inner_shape = ids.chunk_shape;
  SHERD_TRY(format, Uint64Format::build(ids.sharding, table, limits));
  SHERD_TRY(morton, CompressedMorton::of(ids.grid));
  shard.index = IdIndex{std::move(format), std::move(morton)};
  SHERD_TRY(inner, build_level(inside, {{in.dtype, ids.chunk_shape}, fill}, {table, limits, 1}));
  shard.inner = std::make_unique<ChunkLayout>(std::move(inner));
  layout.shard = std::make_unique<ShardLayout>(std::move(shard));
  return layout;
}

Result<void> ChunkLayout::check_shape(const Shape& shape, const Limits& limits) const {
  if (!shard || opaque_shard()) SHERD_TRY(check_decoded_size(shape, dtype, limits));
  if (!shard) return {};
  const Shape stored = chain.stored_shape(shape);
  for (std::size_t d = 0; d < stored.size(); ++d)
    if (stored[d] % shard->inner_shape[d] != 0)
      return invalid_argument("inner chunk " + to_string(shard->inner_shape) + " does not divide a shard of shape " +
                              to_string(stored) + " along dimension " + std::to_string(d));
  if (const IndexFormat* index = shard->slots()) SHERD_TRY(index->encoded_size(shard->grid(stored), limits));
  return {};
}

}  // namespace sherd
