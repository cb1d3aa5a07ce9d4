// One loop nest for every copy: dimensions are ordered so that the destination is written forwards, and merged if both
// sides are contiguous; the innermost loop is specialised by element size. Lists use offset tables, and so do axes
// before them.
#include "array/strided.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sherd {
namespace {

struct Axis {
  std::uint64_t count;
  std::int64_t from;  // bytes per step, source
  std::int64_t to;    // bytes per step, destination
};

template <std::size_t N>
void copy_row_of(const Axis& axis, const std::byte* from, std::byte* to) {
  struct Element {
    std::byte bytes[N];
  };
  for (std::uint64_t i = 0; i < axis.count; ++i) {
    Element element;
    std::memcpy(&element, from, N);
    std::memcpy(to, &element, N);
    from += axis.from;
    to += axis.to;
  }
}

void copy_row(std::size_t size, const Axis& axis, const std::byte* from, std::byte* to) {
  const auto dense = static_cast<std::int64_t>(size);
  if (axis.from == dense && axis.to == dense) {
    std::memcpy(to, from, axis.count * size);
    return;
  }
  if (axis.from == 0 && axis.to == dense) return fill_dense(size, from, axis.count, to);
  switch (size) {
    case 1:
      return copy_row_of<1>(axis, from, to);
    case 2:
      return copy_row_of<2>(axis, from, to);
    case 4:
      return copy_row_of<4>(axis, from, to);
    case 8:
      return copy_row_of<8>(axis, from, to);
    case 16:
      return copy_row_of<16>(axis, from, to);
    default:
      for (std::uint64_t i = 0; i < axis.count; ++i, from += axis.from, to += axis.to) std::memcpy(to, from, size);
  }
}

void copy_nest(std::size_t size, std::span<const Axis> axes, const std::byte* from, std::byte* to) {
  if (axes.empty()) {
    std::memcpy(to, from, size);
    return;
  }
  if (axes.size() == 1) return copy_row(size, axes[0], from, to);
  for (std::uint64_t i = 0; i < axes[0].count; ++i, from += axes[0].from, to += axes[0].to)
    copy_nest(size, axes.subspan(1), from, to);
}

// A destination this wide does not fit in a core's cache.
constexpr std::int64_t kStreamedSpanBytes = std::int64_t{8} << 20;

bool is_wide(const Axis& outermost) {
  return std::abs(outermost.to) * static_cast<std::int64_t>(outermost.count) >= kStreamedSpanBytes;
}

constexpr std::size_t kLine = 64;

// Writes cache lines past the caches, so the processor does not first read what is about to be overwritten. `to` is the
// beginning of a line.
void stream_lines(const std::byte* from, std::byte* to, std::uint64_t bytes) {
#ifdef __SSE2__
  for (; bytes >= kLine; from += kLine, to += kLine, bytes -= kLine) {
    const auto* lines = reinterpret_cast<const __m128i*>(from);
    auto* into = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(lines), b = _mm_loadu_si128(lines + 1);
    const __m128i c = _mm_loadu_si128(lines + 2), d = _mm_loadu_si128(lines + 3);
    _mm_stream_si128(into, a), _mm_stream_si128(into + 1, b);
    _mm_stream_si128(into + 2, c), _mm_stream_si128(into + 3, d);
  }
#endif
  std::memcpy(to, from, bytes);
}

// Makes streamed bytes visible before other threads learn of them.
void end_streams() {
#ifdef __SSE2__
  _mm_sfence();
#endif
}

template <class Word>
struct Lanes {
  typedef Word Vector __attribute__((vector_size(16)));
  static constexpr std::size_t kCount = 16 / sizeof(Word);

  // a[0] b[0] a[1] b[1] ... of the first or second halves; the half begins at `Half`.
  template <std::size_t Half, std::size_t... I>
  static Vector interleave(Vector a, Vector b, std::index_sequence<I...> /*lanes*/) {
    return __builtin_shufflevector(a, b, (Half + I / 2 + I % 2 * kCount)...);
  }
};

// Transposes a square as wide as a vector: each round of interleaving moves a bit of the row's number to the column's.
template <class Word>
void transpose_square(const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step) {
  using Lane = Lanes<Word>;
  constexpr std::size_t n = Lane::kCount;
  constexpr std::make_index_sequence<n> lanes;
  std::array<typename Lane::Vector, n> rows, next;
  for (std::size_t k = 0; k < n; ++k) std::memcpy(&rows[k], from + static_cast<std::int64_t>(k) * from_step, 16);
  for (std::size_t round = 1; round < n; round *= 2) {
    for (std::size_t k = 0; k < n / 2; ++k) {
      next[2 * k] = Lane::template interleave<0>(rows[k], rows[k + n / 2], lanes);
      next[2 * k + 1] = Lane::template interleave<n / 2>(rows[k], rows[k + n / 2], lanes);
    }
    rows = next;
  }
  for (std::size_t k = 0; k < n; ++k) std::memcpy(to + static_cast<std::int64_t>(k) * to_step, &rows[k], 16);
}

// The width of a tile in elements: at least a cache line of the source and of the destination.
constexpr std::size_t tile_side(std::size_t size) { return std::max<std::size_t>(32, 64 / size); }

// Transposes a tile. It is first assembled here, because rows of a destination that are a power of two apart share a
// few cache lines.
template <class Word, bool Streams>
void transpose_tile(const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step) {
  constexpr std::size_t side = tile_side(sizeof(Word)), row = side * sizeof(Word);
  constexpr std::size_t n = Lanes<Word>::kCount;
  alignas(64) std::array<std::byte, side * row> rows;
  for (std::size_t j = 0; j < side; j += n)
    for (std::size_t i = 0; i < side; i += n)
      transpose_square<Word>(from + static_cast<std::int64_t>(j) * from_step + i * sizeof(Word), from_step,
                             rows.data() + i * row + j * sizeof(Word), row);
  for (std::size_t i = 0; i < side; ++i, to += to_step) {
    if constexpr (Streams)
      stream_lines(rows.data() + i * row, to, row);
    else
      std::memcpy(to, rows.data() + i * row, row);
  }
}

using TransposeTile = void (*)(const std::byte* from, std::int64_t from_step, std::byte* to, std::int64_t to_step);

// For a source dense along `outer` and a destination dense along `inner`; nullptr in other cases and for other sizes.
template <bool Streams>
TransposeTile tile_transpose(std::size_t size, const Axis& outer, const Axis& inner) {
  const auto dense = static_cast<std::int64_t>(size);
  if (outer.from != dense || inner.to != dense) return nullptr;
  switch (size) {
    case 1:
      return transpose_tile<std::uint8_t, Streams>;
    case 2:
      return transpose_tile<std::uint16_t, Streams>;
    case 4:
      return transpose_tile<std::uint32_t, Streams>;
    case 8:
      return transpose_tile<std::uint64_t, Streams>;
    default:
      return nullptr;
  }
}

// Copies the last two axes in tiles, if the source runs fastest along the last axis but one.
void copy_tiles(std::size_t size, const Axis& outer, const Axis& inner, bool streams, const std::byte* from,
                std::byte* to) {
  const TransposeTile transpose =
      streams ? tile_transpose<true>(size, outer, inner) : tile_transpose<false>(size, outer, inner);
  const std::uint64_t side = tile_side(size);
  for (std::uint64_t i = 0; i < outer.count; i += side) {
    const Axis rows{std::min(side, outer.count - i), outer.from, outer.to};
    for (std::uint64_t j = 0; j < inner.count; j += side) {
      const Axis row{std::min(side, inner.count - j), inner.from, inner.to};
      const auto* tile_from =
          from + static_cast<std::int64_t>(i) * outer.from + static_cast<std::int64_t>(j) * inner.from;
      auto* tile_to = to + static_cast<std::int64_t>(i) * outer.to + static_cast<std::int64_t>(j) * inner.to;
      if (transpose != nullptr && rows.count == side && row.count == side) {
        transpose(tile_from, inner.from, tile_to, outer.to);
        continue;
      }
      for (std::uint64_t k = 0; k < rows.count; ++k, tile_from += outer.from, tile_to += outer.to)
        copy_row(size, row, tile_from, tile_to);
    }
  }
}

void copy_tiled_nest(std::size_t size, std::span<const Axis> axes, bool streams, const std::byte* from, std::byte* to) {
  if (axes.size() == 2) return copy_tiles(size, axes[0], axes[1], streams, from, to);
  for (std::uint64_t i = 0; i < axes[0].count; ++i, from += axes[0].from, to += axes[0].to)
    copy_tiled_nest(size, axes.subspan(1), streams, from, to);
}

// Whether each row of a tile consists of whole cache lines of a destination that no cache holds.
bool streams_tiles(std::span<const Axis> axes, const std::byte* to) {
  const auto begins_line = [](const Axis& axis) { return axis.to % static_cast<std::int64_t>(kLine) == 0; };
  return reinterpret_cast<std::uintptr_t>(to) % kLine == 0 && std::ranges::any_of(axes, is_wide) &&
         std::ranges::all_of(axes.first(axes.size() - 1), begins_line);
}

// For short rows far apart: shorter ones are not worth it, longer ones are prefetched by the processor.
constexpr std::uint64_t kStreamedRowBytes = 64;
constexpr std::uint64_t kForeseenRowBytes = 512;

void stream_row(const std::byte* from, std::byte* to, std::uint64_t bytes) {
  const std::uint64_t head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  stream_lines(from + head, to + head, bytes - head);
}

void stream_nest(std::uint64_t row_bytes, std::span<const Axis> axes, const std::byte* from, std::byte* to) {
  if (axes.empty()) return stream_row(from, to, row_bytes);
  for (std::uint64_t i = 0; i < axes[0].count; ++i, from += axes[0].from, to += axes[0].to)
    stream_nest(row_bytes, axes.subspan(1), from, to);
}

bool is_streamed(std::size_t size, std::span<const Axis> axes) {
  const auto dense = static_cast<std::int64_t>(size);
  return axes.size() >= 2 && axes.back().from == dense && axes.back().to == dense &&
         axes.back().count * size >= kStreamedRowBytes && axes.back().count * size < kForeseenRowBytes &&
         is_wide(axes[0]);
}

// Orders axes so that the destination is written forwards, and merges those that are contiguous on both sides.
void order_and_merge(std::vector<Axis>& axes) {
  std::erase_if(axes, [](const Axis& axis) { return axis.count == 1; });
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
  for (std::size_t d = axes.size(); d-- > 1;) {
    Axis& outer = axes[d - 1];
    const Axis inner = axes[d];
    const auto count = static_cast<std::int64_t>(inner.count);
    if (outer.from != inner.from * count || outer.to != inner.to * count) continue;
    outer = {outer.count * inner.count, inner.from, inner.to};
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(d));
  }
}

void copy_affine(std::size_t size, std::vector<Axis> axes, const std::byte* from, std::byte* to) {
  order_and_merge(axes);
  const std::size_t rank = axes.size();
  if (rank >= 2 && std::abs(axes[rank - 1].from) > std::abs(axes[rank - 2].from) && axes[rank - 2].from != 0) {
    // The source's fastest dimension goes next to the innermost one, and the two are copied in tiles.
    auto fastest = std::min_element(axes.begin(), axes.end() - 1,
                                    [](const Axis& a, const Axis& b) { return std::abs(a.from) < std::abs(b.from); });
    std::rotate(fastest, fastest + 1, axes.end() - 1);
    const bool streams = streams_tiles(axes, to);
    copy_tiled_nest(size, axes, streams, from, to);
    if (streams) end_streams();
    return;
  }
  if (!is_streamed(size, axes)) return copy_nest(size, axes, from, to);
  stream_nest(axes.back().count * size, std::span(axes).first(rank - 1), from, to);
  end_streams();
}

/// The offsets of an axis in bytes.
struct Offsets {
  std::vector<std::int64_t> from, to;
};

template <std::size_t N>
void copy_elements(const Offsets& axis, const std::byte* from, std::byte* to) {
  for (std::size_t i = 0; i < axis.from.size(); ++i) std::memcpy(to + axis.to[i], from + axis.from[i], N);
}

void copy_elements(std::size_t size, const Offsets& axis, const std::byte* from, std::byte* to) {
  switch (size) {
    case 1:
      return copy_elements<1>(axis, from, to);
    case 2:
      return copy_elements<2>(axis, from, to);
    case 4:
      return copy_elements<4>(axis, from, to);
    case 8:
      return copy_elements<8>(axis, from, to);
    default:
      for (std::size_t i = 0; i < axis.from.size(); ++i) std::memcpy(to + axis.to[i], from + axis.from[i], size);
  }
}

// `rest` are the axes after the last one that is a list.
void copy_listed(std::size_t size, std::span<const Offsets> axes, std::span<const Axis> rest, const std::byte* from,
                 std::byte* to) {
  if (axes.empty()) return copy_nest(size, rest, from, to);
  const Offsets& axis = axes.front();
  if (axes.size() == 1 && rest.empty()) return copy_elements(size, axis, from, to);
  for (std::size_t i = 0; i < axis.from.size(); ++i)
    copy_listed(size, axes.subspan(1), rest, from + axis.from[i], to + axis.to[i]);
}

void copy_points(std::size_t size, const std::byte* chunk, std::span<const std::int64_t> strides, const Region& part,
                 std::byte* memory, std::int64_t stride, bool out) {
  const std::uint64_t count = part.element_count();
  for (std::uint64_t i = 0; i < count; ++i) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < part.axes.size(); ++d)
      offset += static_cast<std::int64_t>(part.axes[d].coordinate(i)) * strides[d];
    auto* const there = memory + static_cast<std::int64_t>(part.axes[0].position(i)) * stride;
    if (out)
      std::memcpy(there, chunk + offset, size);
    else
      std::memcpy(const_cast<std::byte*>(chunk) + offset, there, size);  // NOLINT: copy_in passes a mutable chunk
  }
}

Offsets offsets_of(const AxisPart& axis, std::int64_t stride, std::int64_t memory_stride, bool out) {
  Offsets table;
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
  std::vector<Offsets> offsets;
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < part.axes.size(); ++d) {
    const AxisPart& axis = part.axes[d];
    if (axis.count == 0) return;
    if (d < listed) {
      offsets.push_back(offsets_of(axis, strides[d], memory_strides[d], out));
      continue;
    }
    chunk += axis.start * strides[d];
    memory += static_cast<std::int64_t>(axis.first) * memory_strides[d];
    const std::int64_t step = axis.step * strides[d];
    axes.push_back(out ? Axis{axis.count, step, memory_strides[d]} : Axis{axis.count, memory_strides[d], step});
  }
  const std::byte* from = out ? chunk : memory;
  std::byte* to = out ? memory : chunk;
  if (listed == 0) return copy_affine(size, std::move(axes), from, to);
  order_and_merge(axes);
  copy_listed(size, offsets, axes, from, to);
}

template <class Word>
bool all_equal_words(const std::byte* elements, std::uint64_t count, const std::byte* element) {
  Word wanted;
  std::memcpy(&wanted, element, sizeof wanted);
  constexpr std::uint64_t kBlock = 4096 / sizeof(Word);
  for (std::uint64_t i = 0; i < count;) {
    const std::uint64_t end = std::min(count, i + kBlock);
    Word difference = 0;
    for (; i < end; ++i) {
      Word word;
      std::memcpy(&word, elements + i * sizeof(Word), sizeof word);
      difference |= static_cast<Word>(word ^ wanted);
    }
    if (difference != 0) return false;
  }
  return true;
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

void fill_dense(std::size_t element_size, const std::byte* element, std::uint64_t count, std::byte* to) {
  if (count == 0) return;
  const bool one_byte =
      std::all_of(element, element + element_size, [&](std::byte each) { return each == element[0]; });
  if (one_byte) {
    std::memset(to, static_cast<int>(element[0]), count * element_size);
    return;
  }
  std::memcpy(to, element, element_size);
  for (std::uint64_t done = 1; done < count;) {
    const std::uint64_t more = std::min(done, count - done);
    std::memcpy(to + done * element_size, to, more * element_size);
    done += more;
  }
}

bool all_equal(const DType& dtype, const std::byte* elements, std::uint64_t count, const std::byte* element) {
  if (!dtype.is_variable()) {
    switch (dtype.size()) {
      case 1:
        return all_equal_words<std::uint8_t>(elements, count, element);
      case 2:
        return all_equal_words<std::uint16_t>(elements, count, element);
      case 4:
        return all_equal_words<std::uint32_t>(elements, count, element);
      case 8:
        return all_equal_words<std::uint64_t>(elements, count, element);
      default:
        break;
    }
  }
  for (std::uint64_t i = 0; i < count; ++i)
    if (!equal_elements(dtype, elements + i * dtype.size(), element)) return false;
  return true;
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

}  // namespace sherd
