// What documents say of an image: which dimension is which axis, in which resolutions it is stored, how large its
// elements are and where they begin. A group says it by OME-NGFF's `multiscales`; this layer reads and writes them.
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

/// The attribute that keeps what only a volume's info has.
inline constexpr std::string_view kVolumeInfo = "neuroglancer_info";
/// OME-NGFF's member that marks labels; also an attribute of single arrays.
inline constexpr std::string_view kImageLabel = "image-label";

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
  Json name = {};      ///< of the image; null: none
  Json info = {};      ///< of the volume which the image is, or was before it became Zarr

  [[nodiscard]] bool is_spatial(std::size_t dimension) const { return is_spatial_axis(axes[dimension]); }
};

/// The same image with its dimensions in another order.
[[nodiscard]] Image permuted(Image image, const std::vector<std::size_t>& order);
/// The product without rounding errors of decimal fractions.
[[nodiscard]] double spacing_product(double a, double b);
/// The least and the greatest value of a type; 0 and 1 of floats, whose values have no bounds. A channel without a
/// known window has this one.
[[nodiscard]] std::pair<Json, Json> bounds_of(const DType& dtype);
/// 0xRRGGBB of a channel for which nothing says its colour: white where it is the only one.
[[nodiscard]] std::uint32_t default_colour(std::size_t channel, std::size_t count);
/// What `channels` of `omero` needs in addition to what is given: a colour and a window for each. Null if the entries
/// are not objects.
[[nodiscard]] Json complete_channels(const Json& given, const DType& dtype);
/// The labels that `parent` (of OME-NGFF, or the attributes of an array) says the image is, if it does.
void read_label(const Json& parent, Image& image);
/// What `parent` is to say: that of the image, unless it says so already.
void write_label(const Image& image, Json& parent);

}  // namespace sherd
