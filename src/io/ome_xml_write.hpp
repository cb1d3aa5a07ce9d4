// The OME-XML that describes the pages of a TIFF file as an image with named axes.
#pragma once

#include <optional>
#include <string>

#include "io/files.hpp"

namespace sherd {

/// For a file whose pages are these planes; nullopt if OME-XML cannot express its contents: another element type, or
/// dimensions other than x, y, z, c and t.
[[nodiscard]] std::optional<std::string> ome_xml(const FileArray& array, const Planes& planes);

}  // namespace sherd
