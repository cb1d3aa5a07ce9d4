// The order in which an array's dimensions are written to a file, and the metadata of the file.
#pragma once

#include <optional>
#include <vector>

#include "io/axes.hpp"
#include "io/files.hpp"

namespace sherd {

struct FileLayout {
  /// The array's dimension for each dimension of the file, slowest first; nullopt: a dimension of length 1 that only
  /// the file has. Dimensions of the array that are not in this list have length 1.
  std::vector<std::optional<std::size_t>> dimensions;

  /// The lengths of the file's dimensions, given those of the array.
  [[nodiscard]] Shape shape(const Shape& of_array) const;
  /// The box of an array of this rank that corresponds to a box of the file.
  [[nodiscard]] Box box(const Box& of_file, std::size_t rank) const;
  /// A dense box of the file, viewed with the array's dimensions.
  [[nodiscard]] AnyView view(std::byte* data, const DType& dtype, const Box& of_file, std::size_t rank) const;
};

/// If x and y are unknown, dimensions keep their order, whatever the file's order is.
[[nodiscard]] FileLayout file_layout(FileOrder order, const Array& array, const ImageFacts& facts);
/// The metadata to write: names, axes and attributes in the file's order; units spelled as in NIfTI if it is `space`.
[[nodiscard]] FileArray file_array(const Array& array, const FileLayout& layout, FileOrder order, ImageFacts facts);

}  // namespace sherd
