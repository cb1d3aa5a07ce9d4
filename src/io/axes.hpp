// The properties of an array as an image, in any representation: which dimension is which axis, the spacing and
// position of elements, whether they are labels, and how channels are displayed. Used by export and pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/image.hpp"
#include "ome/axis.hpp"
#include "sherd/group.hpp"
#include "sherd/json.hpp"

namespace sherd {

struct ImageAxis {
  std::string name;                    ///< x, y, z, c (channel), t (time), or a name from the document; empty: none
  std::optional<double> spacing = {};  ///< between elements, in `unit`
  double origin = 0;                   ///< of the first element's centre, in `unit`
  std::string unit = {};               ///< as spelled in its document, such as "mm" or "nanometer"; empty: unknown
  [[nodiscard]] bool is_spatial() const noexcept { return is_spatial_axis(name); }
};

struct ImageChannel {
  std::string name = {};
  std::optional<std::uint32_t> colour = {};              ///< 0xRRGGBB
  std::optional<std::pair<double, double>> window = {};  ///< the values displayed as black and as full colour
  bool active = true;                                    ///< whether viewers display it
};

/// 0xRRGGBB by label: the colours of labels that OME-NGFF's `image-label` defines.
using LabelColours = std::unordered_map<std::uint64_t, std::uint32_t>;

struct ImageFacts {
  std::vector<ImageAxis> axes = {};         ///< one per dimension of the array
  std::vector<ImageChannel> channels = {};  ///< empty: not described
  bool labels = false;                      ///< elements are ids of objects
  LabelColours label_colours = {};          ///< of the ids that have a colour
  /// The array's own; for a coarser resolution also those of the finest that apply to it (`affine`, `scl_slope` …).
  Json attributes = {};

  /// The dimension of an axis.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  /// Whether x and y are known; otherwise only the order of dimensions has a meaning.
  [[nodiscard]] bool has_plane() const { return find("x") && find("y"); }
  /// Whether the channels of each pixel are adjacent: the last dimensions are y, x, c.
  [[nodiscard]] bool is_interleaved() const;
  /// Whether the axis c holds the samples of colour pictures: 3 or 4 of type uint8, unless their colours are known to
  /// be different from red, green and blue.
  [[nodiscard]] bool has_colour_samples(const Shape& shape, const DType& dtype) const;
};

/// Reads the properties of the array and, if it is a resolution of an image, of its OME-NGFF group. `corrupt` if the
/// group's metadata are invalid.
Result<ImageFacts> find_image_facts(const Array& array);

/// One resolution of an OME-NGFF image as a separate image.
struct SingleLevel {
  Image image;
  Json attributes;  ///< of the array, with those of the finest resolution that apply to it
};
/// nullopt if the array is not such a resolution. The image begins at the same point as before: the corner of its first
/// element if it becomes a volume, otherwise the centre. `corrupt` as for find_image_facts().
Result<std::optional<SingleLevel>> find_single_level(const Array& array, bool into_volume);

/// The array of one resolution of an OME-NGFF group; nullopt if the group is not an image.
Result<std::optional<Array>> open_level(const Group& group, std::uint64_t level);

}  // namespace sherd
