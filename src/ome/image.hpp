// The description of an image: which dimension is which axis, the resolutions that are stored, and the size and
// position of elements. Groups store it in OME-NGFF's `multiscales`, which this layer reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ome/axis.hpp"
#include "sherd/dtype.hpp"
#include "sherd/json.hpp"

namespace sherd {

/// The attribute that keeps data that only a volume's info can express.
inline constexpr std::string_view kVolumeInfo = "neuroglancer_info";
/// OME-NGFF's member that marks labels; also an attribute of single arrays.
inline constexpr std::string_view kImageLabel = "image-label";

struct ImageLevel {
  std::string path;             ///< of the array, below the image; empty if the image is an array
  std::vector<double> spacing;  ///< between elements, one per dimension, in the units of the axes
  std::vector<double> offset;   ///< of the first element, in elements: corners on corners, as volumes have it
};

struct Image {
  std::vector<std::string> axes;   ///< x, y, z, c (channel) or t (time), one per dimension
  std::vector<std::string> units;  ///< as named by OME-NGFF; empty if unknown
  std::vector<ImageLevel> levels;  ///< fine to coarse
  bool labels = false;
  Json label = {};     ///< OME-NGFF's `image-label` of labels, with their colours; null: unknown
  Json channels = {};  ///< in the form of OME-NGFF's `omero`; null: unknown
  Json name = {};      ///< of the image; null: none
  Json info = {};      ///< of the volume that the image is, or was before it was converted to Zarr

  [[nodiscard]] bool is_spatial(std::size_t dimension) const { return is_spatial_axis(axes[dimension]); }
};

/// `image` with its dimensions in another order.
[[nodiscard]] Image permuted(Image image, const std::vector<std::size_t>& order);
/// The product without the rounding errors of decimal fractions.
[[nodiscard]] double spacing_product(double a, double b);
/// The minimum and maximum of a type; 0 and 1 for floats, which have no natural bounds. The default window of a
/// channel.
[[nodiscard]] std::pair<Json, Json> bounds_of(const DType& dtype);
/// The default colour 0xRRGGBB of a channel: white if it is the only one.
[[nodiscard]] std::uint32_t default_colour(std::size_t channel, std::size_t count);
/// What must be added to the given `channels` of `omero`: a colour and a window for each. Null if the entries are not
/// objects.
[[nodiscard]] Json complete_channels(const Json& given, const DType& dtype);
/// Reads from `parent` (of OME-NGFF, or the attributes of an array) whether and which labels the image is.
void read_label(const Json& parent, Image& image);
/// Adds the label description of the image to `parent`, unless it has one.
void write_label(const Image& image, Json& parent);

}  // namespace sherd
