// OME-NGFF 0.1 to 0.3, which describe images of Zarr v2 with fewer metadata than 0.4
// (https://ngff.openmicroscopy.org/0.3): axes are names or, in 0.1 and 0.2, always t, c, z, y and x; levels have no
// scale; wells have only a path.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sherd/box.hpp"
#include "sherd/dtype.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// The array of a resolution.
struct OmeArray {
  Shape shape;
  DType dtype;
};
/// Finds an array by its path below the group; nullopt if it does not exist.
using FindOmeArray = std::function<Result<std::optional<OmeArray>>(const std::string& path)>;

/// The first member of such a version in a group's attributes.
struct EarlyOme {
  std::string member;   ///< such as "multiscales[0].version"
  std::string version;  ///< "0.3"; empty: not given, and recognized by what 0.4 requires
};
[[nodiscard]] std::optional<EarlyOme> early_ome(const Json& attributes);

/// The attributes with such metadata converted to 0.4: every level covers the same space as the finest, whose elements
/// have a size of 1 without unit. Others are unchanged. `corrupt` if the arrays do not exist or do not match.
Result<Json> with_early_converted(Json attributes, const FindOmeArray& find);

}  // namespace sherd
