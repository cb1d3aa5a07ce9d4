// Determines to which shard and slot a chunk's key leads, through any number of transformers, and which chunks match a
// prefix of keys. A transformer's shards are levels of sharding_indexed in the lowered document, so this is arithmetic
// on the layout; read.cpp and write.cpp make the requests.
#include "draft2022/transformer.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace sherd::draft2022 {
namespace {

std::vector<Level> levels_of(const Array::State& array) {
  std::vector<Level> levels;
  const ChunkLayout* layout = &array.layout;
  Shape shape = *array.shards;
  while (layout->shard) {
    const ShardLayout& shard = *layout->shard;
    Level level{shard, shard.grid(shape), shard.inner_shape};
    for (std::size_t d = 0; d < shape.size(); ++d) level.slot_chunks[d] /= array.chunks[d];
    levels.push_back(std::move(level));
    shape = shard.inner_shape;
    layout = shard.inner.get();
  }
  return levels;
}

Shape chunk_counts_of(const Array::State& array) {
  Shape counts = array.shape();
  for (std::size_t d = 0; d < counts.size(); ++d) counts[d] = ceil_div(counts[d], array.chunks[d]);
  return counts;
}

// Digits as in keys, without a leading zero.
bool begins_number(std::string_view digits) {
  const bool all_digits = digits.find_first_not_of("0123456789") == std::string_view::npos;
  return all_digits && (digits.size() < 2 || digits.front() != '0');
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  return begins_number(digits) ? parse_number<std::uint64_t>(digits) : std::nullopt;
}

}  // namespace

std::uint64_t Level::slot_of(const Shape& chunk) const {
  Shape cell(chunk.size());
  for (std::size_t d = 0; d < chunk.size(); ++d) cell[d] = chunk[d] / slot_chunks[d] % grid[d];
  return ravel(cell, grid);
}

std::optional<ChunkPrefix> ChunkPrefix::parse(std::string_view text, std::size_t rank, char separator) {
  ChunkPrefix prefix;
  for (std::size_t end = text.find(separator); end != text.npos; end = text.find(separator)) {
    const auto number = number_of(text.substr(0, end));
    if (!number) return std::nullopt;
    prefix.fixed_.push_back(*number);
    text.remove_prefix(end + 1);
  }
  if (prefix.fixed_.size() >= rank || !begins_number(text)) return std::nullopt;
  prefix.digits_ = text;
  return prefix;
}

ChunkPrefix::Share ChunkPrefix::of_axis(std::size_t axis, std::uint64_t begin, std::uint64_t end) const {
  if (axis < fixed_.size()) {
    if (fixed_[axis] < begin || fixed_[axis] >= end) return Share::none;
    return end - begin == 1 ? Share::all : Share::some;
  }
  if (axis > fixed_.size() || digits_.empty()) return Share::all;
  bool some = false;
  bool all = true;
  for (std::uint64_t number = begin; number < end && (all || !some); ++number) {
    const bool meant = std::to_string(number).starts_with(digits_);
    some = some || meant;
    all = all && meant;
  }
  return all ? Share::all : some ? Share::some : Share::none;
}

ChunkPrefix::Share ChunkPrefix::of(const Box& chunks) const {
  Share share = Share::all;
  for (std::size_t d = 0; d < chunks.shape.size(); ++d) {
    const Share part = of_axis(d, chunks.origin[d], chunks.origin[d] + chunks.shape[d]);
    if (part == Share::none) return part;
    if (part == Share::some) share = part;
  }
  return share;
}

ShardingTransformer::State::State(Array handle, EraseMode erase_mode)
    : owner(std::move(handle)),
      array(owner.state()),
      erase(erase_mode),
      chunk_counts(chunk_counts_of(array)),
      keys(array.document().array->keys),
      levels(levels_of(array)),
      chunk_layout(array.layout.leaf()) {}

Config ShardingTransformer::State::request_config() const {
  Config config = array.config();
  config.threads = std::max(1U, store().traits().parallel_requests);
  return config;
}

std::optional<Shape> ShardingTransformer::State::cell_of(std::string_view key) const {
  if (!key.starts_with(array.prefix)) return std::nullopt;
  key.remove_prefix(array.prefix.size());
  // Both spellings for the one chunk without dimensions are in use.
  if (chunk_counts.empty() && (key == "c" || key == "c0")) return Shape();
  return array.grid.parse_key(key);
}

Shape ShardingTransformer::State::shard_of(const Shape& chunk) const {
  Shape shard(chunk.size());
  for (std::size_t d = 0; d < chunk.size(); ++d) shard[d] = chunk[d] / levels[0].slot_chunks[d] / levels[0].grid[d];
  return shard;
}

namespace {

// Numbers come from keys, so anything except the part inside the array may have any size.
std::uint64_t chunks_along(std::uint64_t begin, std::uint64_t length, std::uint64_t count) {
  const std::uint64_t longest = std::min(length, ~std::uint64_t{0} - begin);
  return begin < count ? std::min(longest, count - begin) : longest;
}

}  // namespace

Box ShardingTransformer::State::chunks_of(const Shape& shard) const {
  Box box{shard, shard};
  for (std::size_t d = 0; d < shard.size(); ++d) {
    const std::uint64_t length = levels[0].slot_chunks[d] * levels[0].grid[d];
    box.origin[d] = checked_mul(shard[d], length).value_or(~std::uint64_t{0});
    box.shape[d] = chunks_along(box.origin[d], length, chunk_counts[d]);
  }
  return box;
}

Box ShardingTransformer::State::chunks_of(const Level& level, const Shape& origin, std::uint64_t slot) const {
  Box box{unravel(slot, level.grid), level.slot_chunks};
  for (std::size_t d = 0; d < origin.size(); ++d) {
    box.origin[d] = checked_add(origin[d], box.origin[d] * level.slot_chunks[d]).value_or(~std::uint64_t{0});
    box.shape[d] = chunks_along(box.origin[d], level.slot_chunks[d], chunk_counts[d]);
  }
  return box;
}

bool ShardingTransformer::State::is_inside(const Shape& chunk) const {
  for (std::size_t d = 0; d < chunk.size(); ++d)
    if (chunk[d] >= chunk_counts[d]) return false;
  return true;
}

std::optional<ChunkPrefix> ShardingTransformer::State::chunks_below(std::string_view prefix) const {
  if (array.prefix.starts_with(prefix)) return ChunkPrefix();
  if (!prefix.starts_with(array.prefix)) return std::nullopt;
  prefix.remove_prefix(array.prefix.size());
  if (chunk_counts.empty()) return array.grid.key({}).starts_with(prefix) ? std::optional(ChunkPrefix()) : std::nullopt;
  if (prefix.front() != 'c') return std::nullopt;
  return ChunkPrefix::parse(prefix.substr(1), chunk_counts.size(), keys.separator);
}

std::string ShardingTransformer::State::directory_of(std::string_view prefix,
                                                     const std::optional<ChunkPrefix>& chunks) const {
  if (!chunks || prefix.size() < array.prefix.size()) return std::string(prefix.substr(0, prefix.rfind('/') + 1));
  std::string directory = array.prefix;
  if (keys.separator != '/') return directory;
  for (std::size_t d = 0; d < chunks->fixed().size(); ++d)
    directory +=
        (d == 0 ? "c" : "") + std::to_string(chunks->fixed()[d] / levels[0].slot_chunks[d] / levels[0].grid[d]) + "/";
  return directory;
}

ShardingTransformer::ShardingTransformer(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<ShardingTransformer> ShardingTransformer::of(const Array& array, EraseMode erase) {
  SHERD_TRY(array.state().check_access());
  if (array.format() != "draft2022" || !array.state().layout.shard)
    return invalid_argument("the array has no sharding transformer")
        .in_member("storage_transformers")
        .in_key(array.state().document_key);
  return ShardingTransformer(std::make_shared<const State>(array, erase));
}

const Array& ShardingTransformer::array() const noexcept { return state_->owner; }

}  // namespace sherd::draft2022
