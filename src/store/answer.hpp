// One request of a batch, answered the plain way, and what every read of a range checks.
#pragma once

#include "sherd/store.hpp"

namespace sherd {

/// Opens the object that the request names, unless its version is open already, and reads the range.
Result<ReadReply> answer(Store& store, const ReadRequest& request);
/// The same from `source`, which is not nullptr.
Result<ReadReply> answer(std::shared_ptr<ByteSource> source, const ReadRequest& request);

/// `corrupt` if a range of an object of `size` bytes ends beyond them.
Result<void> check_range(std::uint64_t offset, std::uint64_t length, std::uint64_t size);

}  // namespace sherd
