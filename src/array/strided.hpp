// Copying elements between a dense chunk and strided memory, for one part of a selection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "array/copy_nest.hpp"
#include "array/region.hpp"
#include "sherd/dtype.hpp"

namespace sherd {

/// The strides of a view for each dimension of the selection's shape; dimensions of length 1 that the view omits get 0.
/// invalid_argument if the shapes do not match.
Result<std::vector<std::int64_t>> fitting_strides(const Selection& selection, const Shape& shape,
                                                  std::span<const std::int64_t> strides);

/// Strides in bytes of a dense C-order chunk.
std::vector<std::int64_t> chunk_strides(const Shape& shape, std::size_t element_size);

/// The first byte and the end, relative to the chunk, of the bytes that a non-empty region needs.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> byte_range(const Region& region,
                                                                 std::span<const std::int64_t> strides,
                                                                 std::uint64_t element_size);
/// The range of bytes, relative to the chunk, that all parts together need.
[[nodiscard]] std::pair<std::uint64_t, std::uint64_t> byte_range(std::span<const ReadPart> parts,
                                                                 std::span<const std::int64_t> strides,
                                                                 std::uint64_t element_size);
/// Chunk -> memory, memory -> chunk, one element -> all of a part. `chunk` is where element 0 of the chunk is.
void copy_out(std::size_t element_size, const std::byte* chunk, std::span<const std::int64_t> strides,
              const Region& part, const ReadTarget& to);
/// Copies all parts of a chunk that a read needs.
void copy_out(std::size_t element_size, const std::byte* chunk, std::span<const std::int64_t> strides,
              std::span<const ReadPart> parts);
void copy_in(std::size_t element_size, std::byte* chunk, std::span<const std::int64_t> strides, const Region& part,
             const WriteSource& from);
void fill_out(std::size_t element_size, const std::byte* element, const Region& part, const ReadTarget& to);
/// Whether all `count` dense elements equal one element, bit for bit (variable-length: by their bytes).
bool all_equal(const DType& dtype, const std::byte* elements, std::uint64_t count, const std::byte* element);

/// Where the chunk's elements would be if the part is the whole chunk, dense in memory; nullptr otherwise.
template <class Byte>
Byte* dense_target(const Region& part, const Shape& shape, std::span<const std::int64_t> strides,
                   const Target<Byte>& target) {
  if (part.points) return nullptr;
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const AxisPart& axis = part.axes[d];
    if (axis.is_list() || axis.count != shape[d] || axis.start != 0 || (axis.step != 1 && axis.count > 1))
      return nullptr;
    if (shape[d] > 1 && target.strides[d] != strides[d]) return nullptr;
    offset += static_cast<std::int64_t>(axis.first) * target.strides[d];
  }
  return target.data + offset;
}

}  // namespace sherd
