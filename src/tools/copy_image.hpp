// What the two ends of an image's copy have in common: where it comes from, and the resolutions it gets besides.
#pragma once

#include <vector>

#include "io/image.hpp"
#include "tools/copy.hpp"

namespace sherd {

/// Where one resolution comes from.
struct LevelSource {
  NodePlace place;
  NodeDocument document;
};

/// An image that is to be copied.
struct ImageSource {
  Image image;
  std::vector<LevelSource> levels;
  bool is_group = false;
  Json attributes = {};  ///< of the group
};

/// Reads the documents at `source`; `volume` says whether the copy is one of Neuroglancer's.
Result<ImageSource> find_image(const NodePlace& source, const CopyOptions& options, bool volume);

/// Appends the next coarser level to the image: its shape, and how it is made of the last one, whose shape is given;
/// nullopt where there is none to be made. With `whole`, elements stand at whole offsets.
struct CoarserLevel {
  Shape shape;
  Reduction how;
};
std::optional<CoarserLevel> add_coarser_level(Image& image, const Pyramid& pyramid, const Shape& finer, bool whole);
/// Refuses a pyramid of elements that have no such mean or mode.
Result<void> check_pyramid(const Pyramid& pyramid, const DType& dtype);
/// Whether another level is wanted after `made` coarser ones, of which the last has this shape.
bool wants_level(const Image& image, const Pyramid& pyramid, std::uint64_t made, const Shape& shape,
                 const Shape& chunks);

/// The nodes of a copy that becomes arrays, or a volume.
Result<std::vector<NodeCopy>> plan_arrays(ImageSource source, const NodePlace& destination, const CopyOptions& options);
Result<std::vector<NodeCopy>> plan_volume(ImageSource source, const NodePlace& destination, const CopyOptions& options);

}  // namespace sherd
