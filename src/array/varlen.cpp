// Counts and moves the bytes of variable-length elements. A decoded chunk keeps all of its bytes in one block, so a
// reader of one element in each of many chunks would keep them all.
#include "array/varlen.hpp"

#include <cstring>
#include <memory>

#include "base/buffer.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

VarBytes load(const std::byte* at) noexcept {
  VarBytes value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Copies the bytes of an element to `to`, and makes the element point there; moves `to` behind them.
void move_bytes(std::byte* element, std::byte*& to) noexcept {
  VarBytes value = load(element);
  if (value.size > 0) std::memcpy(to, value.data, value.size);
  value.data = reinterpret_cast<const char*>(to);
  std::memcpy(element, &value, sizeof value);
  to += value.size;
}

/// Visits the locations of a part's elements; `number` returns an axis' coordinate or position.
template <class Number, class Visit>
void visit_axes(std::span<const AxisPart> axes, const std::int64_t* strides, std::int64_t offset, const Number& number,
                const Visit& visit) {
  if (axes.empty()) return visit(offset);
  for (std::uint64_t i = 0; i < axes[0].count; ++i)
    visit_axes(axes.subspan(1), strides + 1, offset + static_cast<std::int64_t>(number(axes[0], i)) * strides[0],
               number, visit);
}

template <class Visit>
void visit_in_chunk(const Region& part, std::span<const std::int64_t> strides, const Visit& visit) {
  const auto coordinate = [](const AxisPart& axis, std::uint64_t i) { return axis.coordinate(i); };
  if (!part.points) return visit_axes(part.axes, strides.data(), 0, coordinate, visit);
  for (std::uint64_t i = 0; i < part.element_count(); ++i) visit(part.point_offset(i, strides));
}

template <class Visit>
void visit_in_memory(const Region& part, std::span<const std::int64_t> strides, const Visit& visit) {
  // Points are along a single dimension.
  const std::span<const AxisPart> axes(part.axes.data(), part.points ? 1 : part.axes.size());
  visit_axes(axes, strides.data(), 0, [](const AxisPart& axis, std::uint64_t i) { return axis.position(i); }, visit);
}

}  // namespace

std::uint64_t varlen_bytes(std::span<const std::byte> elements) noexcept {
  std::uint64_t total = 0;
  for (std::size_t at = 0; at < elements.size(); at += sizeof(VarBytes)) total += load(elements.data() + at).size;
  return total;
}

std::uint64_t varlen_bytes(const Region& part, const WriteSource& from) noexcept {
  std::uint64_t total = 0;
  visit_in_memory(part, from.strides, [&](std::int64_t offset) { total += load(from.data + offset).size; });
  return total;
}

Result<void> own_varlen_bytes(const Region& part, std::byte* elements, std::span<const std::int64_t> strides,
                              Buffer& bytes) {
  SHERD_TRY(bytes.resize(varlen_bytes(part, {elements, {strides.begin(), strides.end()}})));
  std::byte* to = bytes.data();
  visit_in_memory(part, strides, [&](std::int64_t offset) { move_bytes(elements + offset, to); });
  return {};
}

Result<void> keep_wanted(std::span<std::byte> elements, std::span<const std::int64_t> strides,
                         std::span<const ReadPart> parts, VarBytesArena decoded, VarBytesArena& arena) {
  const auto visit_wanted = [&](const auto& visit) {
    for (const ReadPart& part : parts) visit_in_chunk(part.region, strides, visit);
  };
  std::uint64_t wanted = 0;
  visit_wanted([&](std::int64_t offset) { wanted += load(elements.data() + offset).size; });
  if (wanted >= varlen_bytes(elements) / 2) {
    arena.keep(std::make_shared<VarBytesArena>(std::move(decoded)));
    return {};
  }
  const auto block = std::make_shared<Buffer>();
  SHERD_TRY(block->resize(wanted));
  std::byte* to = block->data();
  visit_wanted([&](std::int64_t offset) { move_bytes(elements.data() + offset, to); });
  arena.keep(block);
  return {};
}

}  // namespace sherd
