// Copies that become labels of an OME-NGFF image: those with a destination IMAGE/labels/NAME.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "node/node_location.hpp"
#include "ome/image.hpp"
#include "ome/ome.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// The image to whose labels a destination belongs.
struct LabelledImage {
  NodeLocation location;
  Image image;
  std::string name;  ///< of the labels
};
/// nullopt for other destinations. `corrupt` if the image's metadata are invalid.
Result<std::optional<LabelledImage>> find_labelled_image(const NodeLocation& destination);

/// The image to which the labels at `location`, IMAGE/labels/NAME, belong if it has another number of levels.
Result<std::optional<LabelledImage>> image_of_labels(const NodeLocation& location, const OmeGroup& labels);

/// A warning that labels had this number of levels.
[[nodiscard]] std::string made_levels(const LabelledImage& to, std::size_t levels);

/// The options of a copy of `labels` with as many resolutions as the image. invalid_argument if it cannot have that
/// many.
Result<CopyOptions> options_of_labels(const LabelledImage& to, const Image& labels, CopyOptions options);
/// Labels without spacing, units and position get those of the image if both have the same lengths in space; otherwise
/// `note`, which may be empty, reports it. `shape` is that of the finest resolution of the labels.
Result<void> adopt_space(const LabelledImage& of, const Shape& shape, Image& labels,
                         const std::function<void(const std::string&)>& note);
/// invalid_argument if the image has another number of resolutions.
Result<void> check_levels(const LabelledImage& to, std::size_t levels);
/// Records in the metadata of labels where their image is.
void refer_to_image(Image& labels);
/// Adds the labels to the list in the group that contains them, so that viewers find them.
Result<void> list_labels(const LabelledImage& of);

}  // namespace sherd
