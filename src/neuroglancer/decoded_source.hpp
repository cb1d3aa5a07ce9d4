// An object that is decoded when it is opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "codec/chain.hpp"
#include "shard/extent.hpp"
#include "sherd/store.hpp"

namespace sherd::neuroglancer {

struct EncodedValue {
  ByteSource& in;
  Extent where;
  Generation generation;  ///< of the object that comes of it
};
/// What compresses a chunk of an array undone, as an object of this key; `corrupt` where it gives more than
/// `most_bytes`, or is longer than what any encoding of as many takes.
Result<std::shared_ptr<ByteSource>> open_decoded(std::string key, EncodedValue value, const CodecChain& codecs,
                                                 std::uint64_t most_bytes);

}  // namespace sherd::neuroglancer
