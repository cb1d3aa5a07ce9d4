// Images as arrays and volumes describe them: an array by its dimension names, `spacing` and `units`, a volume of
// Neuroglancer's by its info. Groups do so by OME-NGFF (ome/ome.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/state.hpp"
#include "io/axes.hpp"
#include "ome/image.hpp"
#include "sherd/neuroglancer.hpp"

namespace sherd {

struct SingleLevel {
  Image image;
  Json attributes;  ///< of the array, with those of the finest resolution that hold for it
};

/// Of an array. `axes` are its dimensions where the caller names them. invalid_argument if unknown.
Result<Image> image_of_array(const ArraySpec& spec, const Json& attributes, const std::vector<std::string>& axes);
/// The voxel of the axes x, y, z at which an array begins by its attribute `affine`; nullopt where that has none, or
/// also mirrors or turns the array.
std::optional<std::array<double, 3>> offset_of_affine(const Json& attributes);
/// Of a volume, or of one scale of it, seen with these axes.
Result<Image> image_of_volume(const Json& info, std::optional<std::size_t> scale, const std::vector<std::string>& axes);

/// The attributes of an array that is this image: `given` with the image's in them.
Json array_attributes(const Image& image, Json given);

/// Says that the spacing along x, y or z counts as nanometres, because its unit is not known; nullopt if each is known.
std::optional<std::string> assumed_unit(const Image& image);

/// Nanometres an element along the axes x, y, z.
Result<std::array<double, 3>> resolution_of(const Image& image, std::size_t level);
/// The voxel of the axes x, y, z at which a level begins.
Result<std::array<std::int64_t, 3>> voxel_offset_of(const Image& image, std::size_t level);

}  // namespace sherd
