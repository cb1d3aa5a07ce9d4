// A part of a selection as dimensions of a copy: lists up to the last one that is a list, and axes after it.
#include "array/strided.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/scalar.hpp"

namespace sherd {
namespace {

void copy_points(std::size_t size, const std::byte* chunk, std::span<const std::int64_t> strides, const Region& part,
                 std::byte* memory, std::int64_t stride, bool out) {
  const std::uint64_t count = part.element_count();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t offset = part.point_offset(i, strides);
    auto* const there = memory + static_cast<std::int64_t>(part.axes[0].position(i)) * stride;
    if (out)
      std::memcpy(there, chunk + offset, size);
    else
      std::memcpy(const_cast<std::byte*>(chunk) + offset, there, size);  // NOLINT: copy_in passes a mutable chunk
  }
}

CopyList list_of(const AxisPart& axis, std::int64_t stride, std::int64_t memory_stride, bool out) {
  CopyList table;
  table.from.resize(axis.count);
  table.to.resize(axis.count);
  for (std::uint64_t i = 0; i < axis.count; ++i) {
    table.from[i] = static_cast<std::int64_t>(axis.coordinate(i)) * stride;
    table.to[i] = static_cast<std::int64_t>(axis.position(i)) * memory_stride;
  }
  if (!out) std::swap(table.from, table.to);
  return table;
}

// `out`: chunk -> memory, otherwise memory -> chunk. Both are mutable, but only the destination is written.
void copy_part(std::size_t size, std::byte* chunk, std::span<const std::int64_t> strides, const Region& part,
               std::byte* memory, std::span<const std::int64_t> memory_strides, bool out) {
  if (part.points) return copy_points(size, chunk, strides, part, memory, memory_strides[0], out);
  std::size_t listed = part.axes.size();
  while (listed > 0 && !part.axes[listed - 1].is_list()) --listed;
  std::vector<CopyList> lists;
  std::vector<CopyAxis> axes;
  for (std::size_t d = 0; d < part.axes.size(); ++d) {
    const AxisPart& axis = part.axes[d];
    if (axis.count == 0) return;
    if (d < listed) {
      lists.push_back(list_of(axis, strides[d], memory_strides[d], out));
      continue;
    }
    chunk += axis.start * strides[d];
    memory += static_cast<std::int64_t>(axis.first) * memory_strides[d];
    const std::int64_t step = axis.step * strides[d];
    axes.push_back(out ? CopyAxis{axis.count, step, memory_strides[d]} : CopyAxis{axis.count, memory_strides[d], step});
  }
  const std::byte* from = out ? chunk : memory;
  std::byte* to = out ? memory : chunk;
  copy_elements(size, lists, std::move(axes), from, to);
}

}  // namespace

Result<std::vector<std::int64_t>> fitting_strides(const Selection& selection, const Shape& shape,
                                                  std::span<const std::int64_t> strides) {
  const Shape wanted = selection.shape();
  std::vector<std::int64_t> result(wanted.size(), 0);
  std::size_t given = 0;
  bool fits = strides.size() == shape.size();
  for (std::size_t d = 0; fits && d < wanted.size(); ++d) {
    const bool left_out =
        wanted[d] == 1 && shape.size() - given < wanted.size() - d && (given == shape.size() || shape[given] != 1);
    if (left_out) continue;
    fits = given < shape.size() && shape[given] == wanted[d];
    if (fits) result[d] = strides[given++];
  }
  if (!fits || given != shape.size())
    return invalid_argument("the selection has shape " + to_string(wanted) + ", the view " + to_string(shape));
  return result;
}

std::vector<std::int64_t> chunk_strides(const Shape& shape, std::size_t element_size) {
  return dense_strides(shape, static_cast<std::int64_t>(element_size));
}

void copy_out(std::size_t element_size, const std::byte* chunk, std::span<const std::int64_t> strides,
              const Region& part, const ReadTarget& to) {
  copy_part(element_size, const_cast<std::byte*>(chunk), strides, part, to.data, to.strides,
            true);  // NOLINT: read only
}

void copy_in(std::size_t element_size, std::byte* chunk, std::span<const std::int64_t> strides, const Region& part,
             const WriteSource& from) {
  copy_part(element_size, chunk, strides, part, const_cast<std::byte*>(from.data), from.strides,
            false);  // NOLINT: read only
}

void fill_out(std::size_t element_size, const std::byte* element, const Region& part, const ReadTarget& to) {
  const std::vector<std::int64_t> still(part.axes.size(), 0);
  copy_out(element_size, element, still, part, to);
}

bool all_equal(const DType& dtype, const std::byte* elements, std::uint64_t count, const std::byte* element) {
  const std::size_t size = dtype.size();
  if (dtype.is_variable()) {
    for (std::uint64_t i = 0; i < count; ++i)
      if (!equal_elements(dtype, elements + i * size, element)) return false;
    return true;
  }
  // The first equals it, and each of the others the one before.
  return count == 0 ||
         (std::memcmp(elements, element, size) == 0 && std::memcmp(elements, elements + size, (count - 1) * size) == 0);
}

std::pair<std::uint64_t, std::uint64_t> byte_range(const Region& region, std::span<const std::int64_t> strides,
                                                   std::uint64_t element_size) {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  if (region.points) {
    low = ~std::uint64_t{0};
    for (std::uint64_t i = 0; i < region.axes[0].count; ++i) {
      const auto at = static_cast<std::uint64_t>(region.point_offset(i, strides));
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

}  // namespace sherd
