// What the two ends of an image's copy have in common: where it comes from, and the nodes it becomes.
#pragma once

#include <vector>

#include "io/image.hpp"
#include "ome/ome.hpp"
#include "tools/copy.hpp"
#include "tools/copy_labels.hpp"

namespace sherd {

/// Where one resolution comes from.
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
  std::shared_ptr<const Cutout> cutout = {};  ///< what is copied of its only level, if not all of it
  bool permuted = false;  ///< whether levels are seen in another order of dimensions than they are stored in

  [[nodiscard]] const DType& dtype() const { return cutout ? cutout->dtype() : levels.front().document.array->dtype; }
};

/// Decides whether an image is one of labels: as the options say, else as their pyramid or the image has it.
Result<void> set_type(Image& image, const DType& dtype, const CopyOptions& options);

/// invalid_argument if an image with these axes cannot be a volume. `of` is what has them, or empty where the caller
/// has named them; `of_one_time` says how to get one of several times.
Result<void> check_volume_axes(const std::vector<std::string>& axes, const std::string& of,
                               const std::string& of_one_time);

/// Reads the documents at `source`; `volume` says whether the copy is one of Neuroglancer's.
Result<ImageSource> find_image(const NodeLocation& source, const CopyOptions& options, bool volume);

/// The nodes of a copy that becomes arrays, or a volume.
Result<std::vector<NodeCopy>> plan_arrays(ImageSource source, const NodeLocation& destination,
                                          const CopyOptions& options);
Result<std::vector<NodeCopy>> plan_volume(ImageSource source, const NodeLocation& destination,
                                          const CopyOptions& options);

}  // namespace sherd
