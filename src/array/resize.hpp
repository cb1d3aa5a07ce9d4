// Changes of an array's shape for callers that keep shapes of several arrays alike.
#pragma once

#include "array/state.hpp"

namespace sherd {

/// Array::resize(), but `conflict`, before anything is changed, if the stored shape is not `from`. The caller calls
/// renew_consolidated_of() when it has changed all arrays.
Result<void> resize_from(const Array& array, const Shape& from, const Shape& to);

}  // namespace sherd
