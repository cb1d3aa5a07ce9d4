// The codecs of the precomputed format's chunks.
#pragma once

#include "codec/codec.hpp"

namespace sherd {

/// A table of its own: Zarr has no codecs of these names.
[[nodiscard]] CodecTable precomputed_codecs() noexcept;

}  // namespace sherd
