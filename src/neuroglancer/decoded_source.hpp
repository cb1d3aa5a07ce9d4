// An object that is decoded when it is opened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "codec/chain.hpp"
#include "sherd/store.hpp"
#include "store/extent.hpp"

namespace sherd::neuroglancer {

struct EncodedValue {
  ByteSource& in;
  Extent where;
  Generation generation;  ///< of the source object
};
/// Decompresses a chunk of an array, as an object with this key. `corrupt` if it decodes to more than `max_bytes`, or
/// is longer than any encoding of that many bytes can be.
Result<std::shared_ptr<ByteSource>> open_decoded(std::string key, EncodedValue value, const CodecChain& codecs,
                                                 std::uint64_t max_bytes);

}  // namespace sherd::neuroglancer
