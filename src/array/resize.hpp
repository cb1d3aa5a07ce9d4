// Changes of an array's shape for callers that keep shapes of several arrays alike.
#pragma once

#include "array/state.hpp"

namespace sherd {

/// Array::resize(), but `conflict`, before anything is changed, if the stored shape is not `from`.
Result<void> resize_from(const Array& array, const Shape& from, const Shape& to);

}  // namespace sherd
