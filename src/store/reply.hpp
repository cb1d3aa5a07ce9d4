// Answers requests with single reads, and the check that every read of a range makes.
#pragma once

#include <functional>

#include "sherd/store.hpp"
#include "store/extent.hpp"

namespace sherd {

/// The range of a request in an object of this size: in full if its version is open, otherwise the part that exists.
/// `corrupt` if it ends beyond the object.
Result<Extent> range_of(const ReadRequest& request, std::uint64_t size);

/// Reads the range of a request from `source`; no source if that is nullptr.
Result<ReadReply> reply_from(std::shared_ptr<ByteSource> source, const ReadRequest& request);

/// Reads one request.
Result<ReadReply> read_one(Store& store, const ReadRequest& request);
/// Store::read() one request after the other.
Result<void> reply_to_each(ReadQueue& queue, const std::function<Result<ReadReply>(const ReadRequest&)>& answer);

/// Store::read() for a store that finds an object, or nullptr, by its key.
Result<void> reply_from_found(ReadQueue& queue,
                              const std::function<Result<std::shared_ptr<ByteSource>>(const std::string& key)>& find);

/// `corrupt` if a range ends beyond an object of `size` bytes.
Result<void> check_range(std::uint64_t offset, std::uint64_t length, std::uint64_t size);

}  // namespace sherd
