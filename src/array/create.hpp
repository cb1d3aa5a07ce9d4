// What a new array becomes: from CreateOptions to an ArraySpec, with everything chosen that was left open.
#pragma once

#include "array/format.hpp"
#include "codec/codec.hpp"
#include "sherd/array.hpp"

namespace sherd {

/// invalid_argument where an option is of the index of shards, and there are to be none.
[[nodiscard]] Result<void> check_index_options(const CreateOptions& options);

/// The array that `options` ask for. Chunk shapes that were left open are chosen as docs/chunking.md says, codecs are
/// `defaults`.
/// Errors are invalid_argument and name the option as its member, such as "shards[1]".
[[nodiscard]] Result<ArraySpec> new_array_spec(const CreateOptions& options, CodecTable codecs,
                                               const DefaultCodecs& defaults);

/// Chunk lengths for an array of this shape, no larger than chunk_bytes_target() as far as one element allows that.
[[nodiscard]] Shape auto_chunks(const Shape& shape, const DType& dtype, std::uint64_t target_bytes);
/// What an unsharded chunk, or an inner one, should have in bytes, decoded.
[[nodiscard]] std::uint64_t chunk_bytes_target(const Shape& shape, const DType& dtype, bool sharded);
/// Chunk lengths near `chunks` that divide `shards`.
[[nodiscard]] Shape dividing_chunks(const Shape& chunks, const Shape& shards);
/// Shard lengths: multiples of `chunks`.
[[nodiscard]] Shape auto_shards(const Shape& shape, const DType& dtype, const Shape& chunks);

}  // namespace sherd
