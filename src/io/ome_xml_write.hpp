// The OME-XML that makes the pages of a TIFF file an image of named axes.
#pragma once

#include <optional>
#include <string>

#include "io/files.hpp"

namespace sherd {

/// Of a file whose pages are these planes; nullopt where OME-XML cannot say what it holds: another type of elements, or
/// dimensions other than x, y, z, c and t.
[[nodiscard]] std::optional<std::string> ome_xml(const FileArray& array, const Planes& planes);

}  // namespace sherd
