// Determines which plane of an array a picture shows.
#pragma once

#include <optional>

#include "io/axes.hpp"
#include "io/files.hpp"

namespace sherd {

struct PicturePlane {
  Box box;  ///< of the array: one element along all other dimensions
  std::size_t row = 0, column = 0;
  std::optional<std::size_t> channel = {};  ///< the dimension whose elements are shown as colours
  bool are_samples = false;                 ///< its elements are the red, green, blue (and opacity) of the pixel
  std::optional<std::size_t> axis = {};     ///< across which the plane is cut; nullopt if only one is possible
  double row_step = 1, column_step = 1;     ///< the spacing of elements, in the same unit

  [[nodiscard]] std::uint64_t index() const { return axis ? box.origin[*axis] : 0; }
};

Result<PicturePlane> find_picture_plane(const Array& array, const ImageFacts& facts, const PictureOptions& options);
/// Like picture(); returns the plane that was drawn.
Result<PicturePlane> draw_picture(const Array& array, const std::string& file, const PictureOptions& options);

}  // namespace sherd
