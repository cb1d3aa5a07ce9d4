// What is known of an array as an image, in any representation: which dimension is which axis, how far apart its
// elements are and where they begin, whether they are labels, and how channels are shown. Export and pictures use it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ome/axis.hpp"
#include "sherd/group.hpp"
#include "sherd/json.hpp"

namespace sherd {

struct ImageAxis {
  std::string name;                    ///< x, y, z, c (channel), t (time), or the document's own; empty: none
  std::optional<double> spacing = {};  ///< from element to element, in `unit`
  double origin = 0;                   ///< of the first element's centre, in `unit`
  std::string unit = {};               ///< as its document spells it, such as "mm" or "nanometer"; empty: not known
  [[nodiscard]] bool is_spatial() const noexcept { return is_spatial_axis(name); }
};

struct ImageChannel {
  std::string name = {};
  std::optional<std::uint32_t> colour = {};              ///< 0xRRGGBB
  std::optional<std::pair<double, double>> window = {};  ///< the values shown black and in full colour
  bool active = true;                                    ///< whether viewers show it
};

/// By label, 0xRRGGBB: what OME-NGFF's `image-label` says of labels that are to be drawn in a certain colour.
using LabelColours = std::unordered_map<std::uint64_t, std::uint32_t>;

struct ImageFacts {
  std::vector<ImageAxis> axes = {};         ///< one per dimension of the array
  std::vector<ImageChannel> channels = {};  ///< empty: not described
  bool labels = false;                      ///< elements are ids of objects
  LabelColours label_colours = {};          ///< of the ids that have one
  /// The array's own; of a coarser resolution also those of the finest that hold for it (`affine`, `scl_slope` …).
  Json attributes = {};

  /// The dimension of an axis.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  /// Whether x and y are known; otherwise dimensions have no meaning beyond their order.
  [[nodiscard]] bool has_plane() const { return find("x") && find("y"); }
  /// Whether each pixel's channels follow one another: the last dimensions are y, x, c.
  [[nodiscard]] bool is_interleaved() const;
  /// Whether the axis c holds the samples of colour pictures: 3 or 4 of type uint8, unless their colours are known to
  /// be others than red, green and blue.
  [[nodiscard]] bool has_colour_samples(const Shape& shape, const DType& dtype) const;
};

/// Looks at the array and, if it is a resolution of an image, at the OME-NGFF group of that image.
/// `corrupt` if the group's metadata cannot be understood.
Result<ImageFacts> find_image_facts(const Array& array);

/// One resolution of an OME-NGFF image as an image of its own.
struct SingleLevel;
/// Nullopt if the array is not such a resolution. It begins at the same point as before: at the corner of its first
/// element if it is to become a volume, at the centre otherwise. `corrupt` as find_image_facts().
Result<std::optional<SingleLevel>> find_single_level(const Array& array, bool into_volume);

/// The array of one resolution of an OME-NGFF group; nullopt where the group is not an image.
Result<std::optional<Array>> open_level(const Group& group, std::uint64_t level);

}  // namespace sherd
