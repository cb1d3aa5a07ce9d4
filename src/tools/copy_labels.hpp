// Copies that become labels of an OME-NGFF image: what is copied to IMAGE/labels/NAME.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "array/state.hpp"
#include "ome/image.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// The image among whose labels a destination is.
struct LabelledImage {
  NodeLocation location;
  Image image;
  std::string name;  ///< of the labels
};
/// Nullopt for other destinations. `corrupt` if the image's metadata cannot be understood.
Result<std::optional<LabelledImage>> find_labelled_image(const NodeLocation& destination);

/// The options of a copy of `labels` that has as many resolutions as the image. invalid_argument if it cannot have
/// them.
Result<CopyOptions> options_of_labels(const LabelledImage& to, const Image& labels, CopyOptions options);
/// Labels without spacing, units and position take those of the image, if both have the same lengths in space;
/// otherwise `note`, which may be empty, says so. `shape` is that of the finest resolution of the labels.
Result<void> adopt_space(const LabelledImage& of, const Shape& shape, Image& labels,
                         const std::function<void(const std::string&)>& note);
/// invalid_argument if that many resolutions are not as many as the image has.
Result<void> check_levels(const LabelledImage& to, std::size_t levels);
/// Notes in the metadata of labels where their image is.
void refer_to_image(Image& labels);
/// Lists the labels in the group that contains them, which makes viewers find them.
Result<void> list_labels(const LabelledImage& of);

}  // namespace sherd
