// Shared by the two ends of an image's copy: where it comes from, and the nodes it becomes.
#pragma once

#include <vector>

#include "copy/labels.hpp"
#include "copy/planned_copy.hpp"
#include "io/image.hpp"
#include "ome/ome.hpp"

namespace sherd {

/// The source of one resolution.
struct LevelSource {
  NodeLocation location;
  NodeDocument document;
};

/// An image that is to be copied.
struct ImageSource {
  Image image;
  std::vector<LevelSource> levels;
  bool is_group = false;
  Json attributes = {};                       ///< of the group
  std::shared_ptr<const Cutout> cutout = {};  ///< the part of its only level that is copied, if not all of it
  bool permuted = false;  ///< whether levels are viewed in another order of dimensions than the stored one

  [[nodiscard]] const DType& dtype() const { return cutout ? cutout->dtype() : levels.front().document.array->dtype; }
};

/// Determines whether an image is one of labels: from the options, or else from their pyramid or the image.
Result<void> set_type(Image& image, const DType& dtype, const CopyOptions& options);

/// invalid_argument if an image with these axes cannot be a volume. `of` names what has the axes, or is empty if the
/// caller has given them; `of_one_time` says how to select one of several times.
Result<void> check_volume_axes(const std::vector<std::string>& axes, const std::string& of,
                               const std::string& of_one_time);

/// Reads the documents at `source`; `volume` says whether the copy is a Neuroglancer volume.
Result<ImageSource> find_image(const NodeLocation& source, const CopyOptions& options, bool volume);

/// The nodes of a copy to arrays, or to a volume.
Result<std::vector<NodeCopy>> plan_arrays(ImageSource source, const NodeLocation& destination,
                                          const CopyOptions& options);
Result<std::vector<NodeCopy>> plan_volume(ImageSource source, const NodeLocation& destination,
                                          const CopyOptions& options);

}  // namespace sherd
