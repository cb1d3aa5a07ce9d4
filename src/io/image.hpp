// Images as described by arrays and volumes: an array by its dimension names, `spacing` and `units`, a Neuroglancer
// volume by its info. Groups use OME-NGFF (ome/ome.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node_location.hpp"
#include "ome/image.hpp"
#include "sherd/neuroglancer.hpp"

namespace sherd {

/// The image of an array. `axes` are its dimensions if the caller names them. invalid_argument if they are unknown.
Result<Image> image_of_array(const ArraySpec& spec, const Json& attributes, const std::vector<std::string>& axes);
/// From an element (x, y, z, 1) to space.
using AffineMatrix = std::array<std::array<double, 4>, 4>;
/// The attribute `affine`, and its inverse; nullopt if it is not a 4x4 matrix of finite numbers.
[[nodiscard]] Json affine_json(const AffineMatrix& affine);
[[nodiscard]] std::optional<AffineMatrix> parse_affine(const Json& json);
/// The voxel along x, y, z at which an array begins according to its attribute `affine`; nullopt if there is none, or
/// if it also mirrors or rotates the array.
std::optional<std::array<double, 3>> offset_of_affine(const Json& attributes);
/// The image of a volume, or of one scale of it, with these axes.
Result<Image> image_of_volume(const Json& info, std::optional<std::size_t> scale, const std::vector<std::string>& axes);

/// `given`, the attributes of an array, with those of this image added.
Json array_attributes(const Image& image, Json given);

/// Says that the unit of the spacing along x, y or z is unknown and assumed to be nanometres; nullopt if all are known.
std::optional<std::string> assumed_unit(const Image& image);

/// Nanometres per element along x, y, z.
Result<std::array<double, 3>> resolution_of(const Image& image, std::size_t level);
/// The voxel along x, y, z at which a level begins.
Result<std::array<std::int64_t, 3>> voxel_offset_of(const Image& image, std::size_t level);

}  // namespace sherd
