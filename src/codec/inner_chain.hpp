// A chain of codecs in the configuration of another one.
#pragma once

#include <string_view>

#include "codec/chain.hpp"
#include "codec/configuration.hpp"

namespace sherd {

/// The chain that a member of `codec`'s configuration lists, for chunks of the context's type. It has neither sharding
/// nor transposes, because what it encodes is always read whole.
Result<CodecChain> inner_chain(std::string_view codec, Configuration& configuration, std::string_view key,
                               const CodecContext& context);

}  // namespace sherd
