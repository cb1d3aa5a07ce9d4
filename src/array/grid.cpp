// Cells by division where they are equal, by binary search over runs where they are not.
#include "array/grid.hpp"

#include <algorithm>
#include <charconv>

#include "base/checked.hpp"

namespace sherd {

namespace {

/// The key of the only chunk of an array without dimensions.
std::string_view scalar_key(const KeyEncoding& keys) {
  if (keys.kind == KeyEncoding::Kind::v2) return "0";
  return keys.kind == KeyEncoding::Kind::standard || keys.bare ? "c" : "c0";
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

std::uint64_t AxisGrid::length(std::uint64_t cell) const noexcept {
  return regular() ? length_ : run_of_cell(cell).length;
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
  if (const auto* regular = std::get_if<RegularGrid>(&spec.grid)) {
    for (const auto length : regular->chunk_shape) axes_.emplace_back(length);
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
  if (cell.empty()) return std::string(scalar_key(keys_));
  std::string key = keys_.kind == KeyEncoding::Kind::v2 ? "" : "c";
  for (std::size_t d = 0; d < cell.size(); ++d) {
    if (keys_.kind == KeyEncoding::Kind::standard || d > 0) key += keys_.separator;
    key += std::to_string(cell[d]);
  }
  return key;
}

std::optional<Shape> ChunkGrid::parse_key(std::string_view key) const {
  if (axes_.empty()) return key == scalar_key(keys_) ? std::optional<Shape>(Shape{}) : std::nullopt;
  if (keys_.kind != KeyEncoding::Kind::v2) {
    if (key.empty() || key.front() != 'c') return std::nullopt;
    key.remove_prefix(1);
  }
  if (keys_.kind == KeyEncoding::Kind::standard) {
    if (key.empty() || key.front() != keys_.separator) return std::nullopt;
    key.remove_prefix(1);
  }
  Shape cell;
  for (std::size_t d = 0; d < axes_.size(); ++d) {
    const auto end = d + 1 < axes_.size() ? key.find(keys_.separator) : key.size();
    if (end == std::string_view::npos || end == 0 || (end > 1 && key.front() == '0')) return std::nullopt;
    std::uint64_t number = 0;
    const auto [stop, error] = std::from_chars(key.data(), key.data() + end, number);
    if (error != std::errc() || stop != key.data() + end) return std::nullopt;
    cell.push_back(number);
    key.remove_prefix(std::min(end + 1, key.size()));
  }
  return cell;
}

}  // namespace sherd
