// The codecs of the precomputed format's chunks.
#pragma once

#include "codec/codec.hpp"

namespace sherd {

/// A separate table, because Zarr has no codecs with these names.
[[nodiscard]] CodecTable precomputed_codecs() noexcept;

}  // namespace sherd
