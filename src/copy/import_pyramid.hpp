// Imports files as images of several resolutions.
#pragma once

#include <optional>
#include <string>

#include "copy/labels.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// Imports a file as an OME-NGFF group, in the resolutions of options.pyramid or of the image whose labels it becomes.
Result<void> import_pyramid(const std::string& source, const ImportOptions& options, const NodeLocation& destination,
                            const std::optional<LabelledImage>& labelled);
/// Imports a file as a volume; `destination` has that format.
Result<void> import_volume(const std::string& source, const ImportOptions& options, const NodeLocation& destination);

}  // namespace sherd
