// Copying elements between two memories whose dimensions have strides or lists of offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sherd {

/// A dimension with steps of equal length, in bytes.
struct CopyAxis {
  std::uint64_t count;
  std::int64_t from;
  std::int64_t to;
};
/// A dimension with an offset for each of its elements, in bytes.
struct CopyList {
  std::vector<std::int64_t> from, to;
};

/// Copies elements of `size` bytes. The order of the dimensions does not matter, but lists are outside of axes. No axis
/// has length 0.
void copy_elements(std::size_t size, std::span<const CopyList> lists, std::vector<CopyAxis> axes, const std::byte* from,
                   std::byte* to);

/// `count` copies of one element, dense.
void fill_dense(std::size_t size, const std::byte* element, std::uint64_t count, std::byte* to);

}  // namespace sherd
