// One part is divided as it is; the cells of several are listed, sorted, and grouped where they are the same.
#include "array/read_cells.hpp"

#include <algorithm>
#include <numeric>

namespace sherd {

std::uint64_t element_count(std::span<const ReadPart> parts) noexcept {
  std::uint64_t count = 0;
  for (const ReadPart& part : parts) count += part.region.element_count();
  return count;
}

std::pair<std::uint64_t, std::uint64_t> byte_range(const Region& region, std::span<const std::int64_t> strides,
                                                   std::uint64_t element_size) {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  if (region.points) {
    low = ~std::uint64_t{0};
    for (std::uint64_t i = 0; i < region.axes[0].count; ++i) {
      std::uint64_t at = 0;
      for (std::size_t d = 0; d < region.axes.size(); ++d)
        at += region.axes[d].coordinate(i) * static_cast<std::uint64_t>(strides[d]);
      low = std::min(low, at);
      high = std::max(high, at);
    }
  } else {
    for (std::size_t d = 0; d < region.axes.size(); ++d) {
      low += region.axes[d].lowest() * static_cast<std::uint64_t>(strides[d]);
      high += region.axes[d].highest() * static_cast<std::uint64_t>(strides[d]);
    }
  }
  return {low, high + element_size};
}

std::pair<std::uint64_t, std::uint64_t> byte_range(std::span<const ReadPart> parts,
                                                   std::span<const std::int64_t> strides, std::uint64_t element_size) {
  auto [low, high] = byte_range(parts.front().region, strides, element_size);
  for (const ReadPart& part : parts.subspan(1)) {
    const auto [begin, end] = byte_range(part.region, strides, element_size);
    low = std::min(low, begin);
    high = std::max(high, end);
  }
  return {low, high};
}

void copy_out(std::size_t element_size, const std::byte* chunk, std::span<const std::int64_t> strides,
              std::span<const ReadPart> parts) {
  for (const ReadPart& part : parts) copy_out(element_size, chunk, strides, part.region, part.target);
}

ReadCells::ReadCells(std::span<const ReadPart> parts, std::span<const AxisGrid> grid) {
  divided_.reserve(parts.size());
  for (const ReadPart& part : parts) {
    Cells cells(part.region, grid);
    if (cells.size() > 0) divided_.push_back({std::move(cells), part.target});
  }
  if (divided_.size() > 1)
    group();
  else
    size_ = divided_.empty() ? 0 : divided_.front().cells.size();
}

void ReadCells::group() {
  std::vector<Member> listed;
  std::vector<std::uint64_t> coordinates;  // of the cell of each member, one after the other
  Shape cell;
  Region region;
  for (std::size_t part = 0; part < divided_.size(); ++part)
    for (std::uint64_t number = 0; number < divided_[part].cells.size(); ++number) {
      divided_[part].cells.get(number, cell, region);
      listed.push_back({part, number});
      coordinates.insert(coordinates.end(), cell.begin(), cell.end());
    }
  const std::size_t rank = cell.size();
  const auto of = [&](std::size_t member) { return std::span(coordinates).subspan(member * rank, rank); };
  std::vector<std::size_t> order(listed.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const auto [x, y] = std::ranges::mismatch(of(a), of(b));
    return x == of(a).end() ? a < b : *x < *y;
  });
  members_.reserve(listed.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !std::ranges::equal(of(order[i - 1]), of(order[i]))) begins_.push_back(i);
    members_.push_back(listed[order[i]]);
  }
  size_ = begins_.size();
  begins_.push_back(members_.size());
}

void ReadCells::get(std::uint64_t i, Shape& cell, std::vector<ReadPart>& parts) const {
  const auto take = [&](const Member& member, ReadPart& part) {
    const Divided& divided = divided_[member.part];
    divided.cells.get(member.number, cell, part.region);
    part.target = divided.target;
  };
  if (members_.empty()) {
    parts.resize(1);
    return take({0, i}, parts.front());
  }
  parts.resize(begins_[i + 1] - begins_[i]);
  for (std::size_t k = 0; k < parts.size(); ++k) take(members_[begins_[i] + k], parts[k]);
}

}  // namespace sherd
