// Changes of an array's shape, for callers that keep the shapes of several arrays equal, or that store elements before
// the shape shows them.
#pragma once

#include <memory>

#include "sherd/array.hpp"

namespace sherd {

/// Array::resize(), but a `conflict`, before anything is changed, if the stored shape is not `from`. The caller must
/// call renew_consolidated_of() after it has changed all arrays.
Result<void> resize_from(const Array& array, const Shape& from, const Shape& to);

/// Waits for the lock under which the shape is changed. While a thread holds it, only that thread changes the shape, if
/// the store has locks.
Result<std::unique_ptr<StoreLock>> lock_shape(const Array& array);
/// Whether the array could have this shape; changes nothing.
Result<void> check_resize(const Array& array, const Shape& to);
/// Writes elements beyond the end of an array of the shape `shown`; they become visible when it grows over them.
/// `from` has the shape of the box, and the array's type. A lasting `conflict` if the array does not have that shape,
/// or one that has grown since then but not over the box. Chunks are kept up to the shape `grown`, which contains the
/// box.
Result<void> write_beyond(const Array& array, const Shape& shown, const Shape& grown, const Box& where,
                          const ConstAnyView& from);

}  // namespace sherd
