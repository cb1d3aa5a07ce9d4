// The properties of a new array: from CreateOptions to an ArraySpec, with defaults chosen.
#pragma once

#include "codec/codec.hpp"
#include "node/format.hpp"
#include "sherd/array.hpp"

namespace sherd {

/// invalid_argument if an option refers to the index of shards and the array has no shards.
[[nodiscard]] Result<void> check_index_options(const CreateOptions& options);

/// The array that `options` describe. Chunk shapes that are not set are chosen as described in docs/chunking.md;
/// codecs default to `defaults`. Errors are invalid_argument and name the option as their member, such as
/// "shards[1]".
[[nodiscard]] Result<ArraySpec> new_array_spec(const CreateOptions& options, CodecTable codecs,
                                               const DefaultCodecs& defaults);

/// Chunk lengths for an array of this shape, of at most chunk_bytes_target() unless a single element is larger.
[[nodiscard]] Shape auto_chunks(const Shape& shape, const DType& dtype, std::uint64_t target_bytes);
/// The desired size of an unsharded or inner chunk, in decoded bytes.
[[nodiscard]] std::uint64_t chunk_bytes_target(const Shape& shape, const DType& dtype, bool sharded);
/// Chunk lengths near `chunks` that divide `shards`.
[[nodiscard]] Shape dividing_chunks(const Shape& chunks, const Shape& shards);
/// Shard lengths: multiples of `chunks`.
[[nodiscard]] Shape auto_shards(const Shape& shape, const DType& dtype, const Shape& chunks);

}  // namespace sherd
