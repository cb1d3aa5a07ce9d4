// One loop nest for every copy: dimensions are ordered so that the destination is written forwards, and merged if both
// sides are contiguous; the innermost loop is specialised by element size. Lists use offset tables, and so do axes
// before them.
#include "array/copy_nest.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sherd {
namespace {

using Axis = CopyAxis;

/// Calls `run` with the size of an element: as a constant if it is that of a word.
template <class Run>
void with_size(std::size_t size, const Run& run) {
  switch (size) {
    case 1:
      return run(std::integral_constant<std::size_t, 1>());
    case 2:
      return run(std::integral_constant<std::size_t, 2>());
    case 4:
      return run(std::integral_constant<std::size_t, 4>());
    case 8:
      return run(std::integral_constant<std::size_t, 8>());
    case 16:
      return run(std::integral_constant<std::size_t, 16>());
    default:
      return run(size);
  }
}

void copy_row(std::size_t size, const Axis& axis, const std::byte* from, std::byte* to) {
  const auto dense = static_cast<std::int64_t>(size);
  if (axis.from == dense && axis.to == dense) {
    std::memcpy(to, from, axis.count * size);
    return;
  }
  if (axis.from == 0 && axis.to == dense) return fill_dense(size, from, axis.count, to);
  with_size(size, [&](auto bytes) {
    const std::byte* source = from;
    std::byte* target = to;
    for (std::uint64_t i = 0; i < axis.count; ++i, source += axis.from, target += axis.to)
      std::memcpy(target, source, bytes);
  });
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

// `axes` are ordered and merged.
void copy_axes(std::size_t size, std::span<Axis> axes, const std::byte* from, std::byte* to) {
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
  stream_nest(axes.back().count * size, axes.first(rank - 1), from, to);
  end_streams();
}

void copy_list(std::size_t size, const CopyList& list, const std::byte* from, std::byte* to) {
  with_size(size, [&](auto bytes) {
    for (std::size_t i = 0; i < list.from.size(); ++i) std::memcpy(to + list.to[i], from + list.from[i], bytes);
  });
}

void copy_listed(std::size_t size, std::span<const CopyList> lists, std::span<const Axis> axes, const std::byte* from,
                 std::byte* to) {
  if (lists.empty()) return copy_nest(size, axes, from, to);
  const CopyList& list = lists.front();
  if (lists.size() == 1 && axes.empty()) return copy_list(size, list, from, to);
  for (std::size_t i = 0; i < list.from.size(); ++i)
    copy_listed(size, lists.subspan(1), axes, from + list.from[i], to + list.to[i]);
}

}  // namespace

void copy_elements(std::size_t size, std::span<const CopyList> lists, std::vector<CopyAxis> axes, const std::byte* from,
                   std::byte* to) {
  order_and_merge(axes);
  if (lists.empty())
    copy_axes(size, axes, from, to);
  else
    copy_listed(size, lists, axes, from, to);
}

void fill_dense(std::size_t size, const std::byte* element, std::uint64_t count, std::byte* to) {
  if (count == 0) return;
  const bool one_byte = std::all_of(element, element + size, [&](std::byte each) { return each == element[0]; });
  if (one_byte) {
    std::memset(to, static_cast<int>(element[0]), count * size);
    return;
  }
  std::memcpy(to, element, size);
  for (std::uint64_t done = 1; done < count;) {
    const std::uint64_t more = std::min(done, count - done);
    std::memcpy(to + done * size, to, more * size);
    done += more;
  }
}

}  // namespace sherd
