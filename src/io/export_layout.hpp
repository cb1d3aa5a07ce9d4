// In which order an array's dimensions go into a file, and what is written about them.
#pragma once

#include <optional>
#include <vector>

#include "io/axes.hpp"
#include "io/files.hpp"

namespace sherd {

struct FileLayout {
  /// For each dimension of the file, slowest first, the array's; nullopt: of length 1, in the file only. Dimensions of
  /// the array that are not here have length 1.
  std::vector<std::optional<std::size_t>> dimensions;

  /// Of the file: an array's lengths, in its order.
  [[nodiscard]] Shape shape(const Shape& of_array) const;
  /// The box of an array of this rank that is a box of the file.
  [[nodiscard]] Box box(const Box& of_file, std::size_t rank) const;
  /// A dense box of the file, seen with the array's dimensions.
  [[nodiscard]] AnyView view(std::byte* data, const DType& dtype, const Box& of_file, std::size_t rank) const;
};

/// Where x and y are not known, dimensions keep their order regardless of the file.
[[nodiscard]] FileLayout file_layout(FileOrder order, const Array& array, const ImageFacts& facts);
/// What is written to the file: names, axes and attributes in its order; units spelled as in NIfTI if it wants `space`.
[[nodiscard]] FileArray file_array(const Array& array, const FileLayout& layout, FileOrder order, ImageFacts facts);

}  // namespace sherd
