// Answers one request of a batch with single reads, and the check that every read of a range makes.
#pragma once

#include "sherd/store.hpp"

namespace sherd {

/// Opens the object that the request names, unless its version is already open, and reads the range.
Result<ReadReply> answer(Store& store, const ReadRequest& request);
/// The same from `source`, which is not nullptr.
Result<ReadReply> answer(std::shared_ptr<ByteSource> source, const ReadRequest& request);

/// `corrupt` if a range ends beyond an object of `size` bytes.
Result<void> check_range(std::uint64_t offset, std::uint64_t length, std::uint64_t size);

}  // namespace sherd
