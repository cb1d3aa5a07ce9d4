// Changes of an array's shape, for callers that keep the shapes of several arrays equal.
#pragma once

#include "node/node_location.hpp"

namespace sherd {

/// Array::resize(), but a `conflict`, before anything is changed, if the stored shape is not `from`. The caller must
/// call renew_consolidated_of() after it has changed all arrays.
Result<void> resize_from(const Array& array, const Shape& from, const Shape& to);

}  // namespace sherd
