// What documents say of an image: which dimension is which axis, in which resolutions it is stored, how large its
// elements are and where they begin. Zarr says it by OME-NGFF's `multiscales` (0.5) in a group, or by dimension names,
// `spacing` and `units` of an array; a volume of Neuroglancer's by its info.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "array/state.hpp"
#include "io/axes.hpp"
#include "sherd/neuroglancer.hpp"

namespace sherd {

struct ImageLevel {
  std::string path;             ///< of the array, below the image; empty where the image is an array
  std::vector<double> spacing;  ///< from element to element, one per dimension, in the units of the axes
  std::vector<double> offset;   ///< of the first element, in elements: corners on corners, as volumes have it
};

struct Image {
  std::vector<std::string> axes;   ///< x, y, z, c (channel) or t (time), one per dimension
  std::vector<std::string> units;  ///< as OME-NGFF calls them; empty where none is known
  std::vector<ImageLevel> levels;  ///< fine to coarse
  bool labels = false;
  Json label = {};     ///< OME-NGFF's `image-label` of labels, with their colours; null: nothing is known of them
  Json channels = {};  ///< as OME-NGFF's `omero` has them; null: nothing is known of them
  Json info = {};      ///< of the volume which the image is, or was before it became Zarr

  [[nodiscard]] bool is_spatial(std::size_t dimension) const { return is_spatial_axis(axes[dimension]); }
};

struct SingleLevel {
  Image image;
  Json attributes;  ///< of the array, with those of the finest resolution that hold for it
};

/// Of a group whose attributes hold `multiscales`; nullopt for others. What is wrong there is `corrupt`.
Result<std::optional<Image>> image_of_group(const Json& attributes);
/// Of an array. `axes` are its dimensions where the caller names them. invalid_argument if unknown.
Result<Image> image_of_array(const ArraySpec& spec, const Json& attributes, const std::vector<std::string>& axes);
/// Of a volume, or of one scale of it, seen with these axes.
Result<Image> image_of_volume(const Json& info, std::optional<std::size_t> scale, const std::vector<std::string>& axes);

/// The attributes of a group with OME-NGFF's metadata as `version` has it: in `ome` (0.5), or among the attributes
/// themselves (0.4). `path` is the group's. Other versions, and what is not OME-NGFF's, stay as they are.
Json as_ome_version(const Json& attributes, std::string_view version, const std::string& path);

/// The attributes of a group that is this image: `given` with the image's in them.
Json group_attributes(const Image& image, Json given);
/// Those of an array.
Json array_attributes(const Image& image, Json given);

/// Nanometres an element along the axes x, y, z.
Result<std::array<double, 3>> resolution_of(const Image& image, std::size_t level);
/// The voxel of the axes x, y, z at which a level begins.
Result<std::array<std::int64_t, 3>> voxel_offset_of(const Image& image, std::size_t level);
/// The name of an axis in lower case and in short: "Channel" is "c", "time" is "t"; others stay as they are.
[[nodiscard]] std::string short_axis_name(const std::string& name);
/// Without the last bits, in which a product of decimal fractions differs from what it says.
[[nodiscard]] double tidy(double value);
/// "z, y, x", for messages.
[[nodiscard]] std::string listed_names(const std::vector<std::string>& names);
/// Distinct names of axes, in lower case and in short: "Channel" is "c". invalid_argument if one is not an axis.
Result<std::vector<std::string>> axis_names(const std::vector<std::string>& given);
/// The dimension of an axis; the rank if it does not exist.
[[nodiscard]] std::size_t dimension_of(const std::vector<std::string>& axes, std::string_view name);

}  // namespace sherd
