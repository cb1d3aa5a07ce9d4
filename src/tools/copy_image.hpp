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

/// Reads the documents at `source`; `volume` says whether the copy is one of Neuroglancer's.
Result<ImageSource> find_image(const NodeLocation& source, const CopyOptions& options, bool volume);

/// The nodes of a copy that becomes arrays, or a volume.
Result<std::vector<NodeCopy>> plan_arrays(ImageSource source, const NodeLocation& destination,
                                          const CopyOptions& options);
Result<std::vector<NodeCopy>> plan_volume(ImageSource source, const NodeLocation& destination,
                                          const CopyOptions& options);

}  // namespace sherd
