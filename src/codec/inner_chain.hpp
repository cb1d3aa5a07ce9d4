// A chain of codecs in the configuration of another codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codec/chain.hpp"
#include "codec/configuration.hpp"

namespace sherd {

/// The encoded length of an inner chunk is stored as 64 bits, little-endian.
inline constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);

/// The chain listed by a member of `codec`'s configuration, for chunks of the context's type. It has neither sharding
/// nor transposes, because its encodings are always read whole.
Result<CodecChain> inner_chain(std::string_view codec, Configuration& configuration, std::string_view key,
                               const CodecContext& context);

}  // namespace sherd
