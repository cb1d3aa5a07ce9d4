// One request of a batch, answered the plain way.
#pragma once

#include "sherd/store.hpp"

namespace sherd {

/// Opens the object that the request names, unless its version is open already, and reads the range.
Result<ReadReply> answer(Store& store, const ReadRequest& request);
/// The same from `source`, which is not nullptr.
Result<ReadReply> answer(std::shared_ptr<ByteSource> source, const ReadRequest& request);

}  // namespace sherd
