// Copies the objects of a store as they are, whatever they mean.
#pragma once

#include "node/format.hpp"
#include "sherd/object_copy.hpp"

namespace sherd {

/// copy_objects(); the documents of these formats are copied last.
Result<ObjectCopyReport> copy_all_objects(Store& source, Store& destination, FormatTable formats,
                                          const ObjectCopyOptions& options);

}  // namespace sherd
