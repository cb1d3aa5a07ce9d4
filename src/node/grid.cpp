// Finds cells by division if they are equal, and by binary search over runs if they are not.
#include "node/grid.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace sherd {

namespace {

constexpr std::string_view kShardSuffix = ".shard";

/// The key of the only chunk of an array without dimensions.
std::string_view scalar_key(const KeyEncoding& keys) {
  if (keys.kind == KeyEncoding::Kind::v2) return "0";
  return keys.kind == KeyEncoding::Kind::standard || keys.bare ? "c" : "c0";
}

/// An order that is given, or that of the numbers.
std::vector<std::size_t> full_order(std::vector<std::size_t> order, std::size_t rank) {
  if (!order.empty()) return order;
  order.resize(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

}  // namespace

AxisGrid::AxisGrid(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& runs) {
  std::uint64_t cell = 0;
  std::uint64_t begin = 0;
  for (const auto& [length, count] : runs) {
    if (count == 0) continue;
    runs_.push_back({cell, begin, length, begin + length * count});
    cell += count;
    begin += length * count;
  }
  if (runs_.empty()) runs_.push_back({0, 0, 1, 0});
}

std::uint64_t AxisGrid::cell_of(std::uint64_t coordinate) const noexcept {
  if (regular()) return coordinate / length_;
  const auto run = std::upper_bound(runs_.begin(), runs_.end() - 1, coordinate,
                                    [](std::uint64_t at, const Run& each) { return at < each.end; });
  return run->first_cell + (coordinate - run->begin) / run->length;
}

const AxisGrid::Run& AxisGrid::run_of_cell(std::uint64_t cell) const noexcept {
  const auto next = std::upper_bound(runs_.begin() + 1, runs_.end(), cell,
                                     [](std::uint64_t at, const Run& each) { return at < each.first_cell; });
  return *(next - 1);
}

std::uint64_t AxisGrid::begin(std::uint64_t cell) const noexcept {
  if (regular()) return cell * length_;
  const Run& run = run_of_cell(cell);
  return run.begin + (cell - run.first_cell) * run.length;
}

bool AxisGrid::has(std::uint64_t cell) const noexcept {
  const Run run = regular() ? Run{0, 0, length_, 0} : run_of_cell(cell);
  const auto from = checked_mul(cell - run.first_cell, run.length);
  const auto begin = from ? checked_add(run.begin, *from) : std::nullopt;
  return begin && checked_add(*begin, run.length);
}

std::uint64_t AxisGrid::length(std::uint64_t cell) const noexcept {
  return regular() ? std::min(length_, end_ - cell * length_) : run_of_cell(cell).length;
}

std::uint64_t AxisGrid::count(std::uint64_t extent) const noexcept {
  if (extent == 0) return 0;
  return regular() ? ceil_div(extent, length_) : cell_of(extent - 1) + 1;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> AxisGrid::runs(std::uint64_t extent) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  const std::uint64_t cells = count(extent);
  if (regular() && cells != 0) found.emplace_back(length_, cells);
  for (const Run& run : runs_) {
    if (run.first_cell >= cells) break;
    const std::uint64_t end = std::min(cells, run.first_cell + (run.end - run.begin) / run.length);
    if (!found.empty() && found.back().first == run.length)
      found.back().second += end - run.first_cell;
    else
      found.emplace_back(run.length, end - run.first_cell);
  }
  if (cells == 0 || begin(cells - 1) + length(cells - 1) == extent) return found;
  if (--found.back().second == 0) found.pop_back();
  found.emplace_back(extent - begin(cells - 1), 1);
  return found;
}

ChunkGrid::ChunkGrid(const ArraySpec& spec) : keys_(spec.keys) {
  const auto* regular = std::get_if<RegularGrid>(&spec.grid);
  const bool has_ranges = keys_.kind == KeyEncoding::Kind::ranges;
  keys_.order = full_order(keys_.order, has_ranges           ? keys_.offsets.size()
                                        : regular != nullptr ? regular->chunk_shape.size()
                                                             : std::get<RectilinearGrid>(spec.grid).axes.size());
  if (regular != nullptr) {
    for (std::size_t d = 0; d < regular->chunk_shape.size(); ++d) {
      if (regular->clipped)
        axes_.emplace_back(regular->chunk_shape[d], spec.shape[d]);
      else
        axes_.emplace_back(regular->chunk_shape[d]);
    }
    if (!spec.ids) return;
    const auto morton = CompressedMorton::of(spec.ids->grid);
    if (!morton) return;  // refused when the layout is built
    const std::vector<std::size_t> order = full_order(spec.ids->order, axes_.size());
    Shape chunks(regular->chunk_shape);
    for (std::size_t j = 0; j < order.size(); ++j)
      chunks[order[j]] = ceil_div(chunks[order[j]], spec.ids->chunk_shape[j]);
    shards_ = Shards{spec.ids->sharding, *morton, std::move(chunks), spec.ids->hashed, order};
    return;
  }
  for (const auto& axis : std::get<RectilinearGrid>(spec.grid).axes) {
    if (axis.regular)
      axes_.emplace_back(*axis.regular);
    else
      axes_.emplace_back(axis.runs);
  }
}

Shape ChunkGrid::cell_begin(const Shape& cell) const {
  Shape begin(cell.size());
  for (std::size_t d = 0; d < cell.size(); ++d) begin[d] = axes_[d].begin(cell[d]);
  return begin;
}

Shape ChunkGrid::cell_shape(const Shape& cell) const {
  Shape shape(cell.size());
  for (std::size_t d = 0; d < cell.size(); ++d) shape[d] = axes_[d].length(cell[d]);
  return shape;
}

Shape ChunkGrid::count(const Shape& array_shape) const {
  Shape count(array_shape.size());
  for (std::size_t d = 0; d < count.size(); ++d) count[d] = axes_[d].count(array_shape[d]);
  return count;
}

std::string ChunkGrid::key(const Shape& cell) const {
  if (shards_) return shards_->hashed ? std::to_string(first_id(cell)) : shard_key(cell);
  if (keys_.kind == KeyEncoding::Kind::ranges) return range_key(cell);
  if (keys_.order.empty()) return std::string(scalar_key(keys_));
  std::string key = keys_.kind == KeyEncoding::Kind::v2 ? "" : "c";
  for (std::size_t j = 0; j < keys_.order.size(); ++j) {
    if (keys_.kind == KeyEncoding::Kind::standard || j > 0) key += keys_.separator;
    key += std::to_string(cell[keys_.order[j]]);
  }
  return key;
}

std::optional<Shape> ChunkGrid::parse_key(std::string_view key) const {
  if (shards_) return shards_->hashed ? parse_id_key(key) : parse_shard_key(key);
  if (keys_.kind == KeyEncoding::Kind::ranges) return parse_range_key(key);
  if (keys_.order.empty()) return key == scalar_key(keys_) ? std::optional(Shape(axes_.size(), 0)) : std::nullopt;
  if (keys_.kind != KeyEncoding::Kind::v2) {
    if (key.empty() || key.front() != 'c') return std::nullopt;
    key.remove_prefix(1);
  }
  if (keys_.kind == KeyEncoding::Kind::standard) {
    if (key.empty() || key.front() != keys_.separator) return std::nullopt;
    key.remove_prefix(1);
  }
  Shape cell(axes_.size(), 0);
  for (std::size_t j = 0; j < keys_.order.size(); ++j) {
    const std::size_t d = keys_.order[j];
    const auto end = j + 1 < keys_.order.size() ? key.find(keys_.separator) : key.size();
    if (end == std::string_view::npos || end == 0 || (end > 1 && key.front() == '0')) return std::nullopt;
    const auto number = parse_number<std::uint64_t>(key.substr(0, end));
    if (!number || !axes_[d].has(*number)) return std::nullopt;
    cell[d] = *number;
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return cell;
}

std::uint64_t ChunkGrid::first_id(const Shape& cell) const {
  if (!shards_) return 0;
  Shape chunk(cell.size());
  for (std::size_t j = 0; j < chunk.size(); ++j) {
    const std::size_t d = shards_->order[j];
    chunk[j] = cell[d] * shards_->chunks[d];
  }
  return shards_->morton.encode(chunk);
}

// The cell that contains the chunk with this id.
Shape ChunkGrid::cell_of_id(std::uint64_t id) const {
  const Shape chunk = shards_->morton.decode(id);
  Shape cell(chunk.size());
  for (std::size_t j = 0; j < chunk.size(); ++j) {
    const std::size_t d = shards_->order[j];
    cell[d] = chunk[j] / shards_->chunks[d];
  }
  return cell;
}

std::string ChunkGrid::shard_key(const Shape& cell) const {
  return shards_->sharding.name(shards_->sharding.locate(first_id(cell)).shard) + std::string(kShardSuffix);
}

std::optional<Shape> ChunkGrid::parse_shard_key(std::string_view key) const {
  if (!key.ends_with(kShardSuffix)) return std::nullopt;
  const std::string_view digits = key.substr(0, key.size() - kShardSuffix.size());
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  const unsigned low = shards_->sharding.preshift_bits + shards_->sharding.minishard_bits;
  Shape cell = cell_of_id(low < 64 ? number << low : 0);
  return shard_key(cell) == key ? std::optional(std::move(cell)) : std::nullopt;
}

std::optional<Shape> ChunkGrid::parse_id_key(std::string_view key) const {
  const auto id = parse_number<std::uint64_t>(key);
  if (!id) return std::nullopt;
  Shape cell = cell_of_id(*id);
  return std::to_string(first_id(cell)) == key ? std::optional(std::move(cell)) : std::nullopt;
}

std::string ChunkGrid::range_key(const Shape& cell) const {
  std::string key;
  for (std::size_t j = 0; j < keys_.offsets.size(); ++j) {
    const std::size_t d = keys_.order[j];
    const auto begin = keys_.offsets[j] + static_cast<std::int64_t>(axes_[d].begin(cell[d]));
    const auto end = begin + static_cast<std::int64_t>(axes_[d].length(cell[d]));
    key += (j == 0 ? "" : "_") + std::to_string(begin) + "-" + std::to_string(end);
  }
  return key;
}

// The ends follow from the beginnings, so only those are parsed; the key of that cell is then compared.
std::optional<Shape> ChunkGrid::parse_range_key(std::string_view key) const {
  Shape cell(axes_.size(), 0);
  std::string_view rest = key;
  for (std::size_t j = 0; j < keys_.offsets.size(); ++j) {
    const std::size_t d = keys_.order[j];
    std::int64_t begin = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + rest.size(), begin);
    if (error != std::errc() || begin < keys_.offsets[j]) return std::nullopt;
    cell[d] = axes_[d].cell_of(static_cast<std::uint64_t>(begin) - static_cast<std::uint64_t>(keys_.offsets[j]));
    if (axes_[d].begin(cell[d]) >= axes_[d].end()) return std::nullopt;
    rest.remove_prefix(std::min(rest.size(), rest.find('_')));
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return range_key(cell) == key ? std::optional(std::move(cell)) : std::nullopt;
}

}  // namespace sherd
