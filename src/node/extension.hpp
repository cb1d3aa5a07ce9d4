// Parses and prints chunk grids and chunk key encodings as JSON in the form of Zarr v3, which metadata and
// CreateOptions share, with the helpers of their readers. Wrong values are invalid_argument, unknown names and exceeded
// limits `unsupported`; every error names its member.
#pragma once

#include <string_view>
#include <variant>

#include "node/spec.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// An extension object {name, configuration, must_understand}, or its name alone.
[[nodiscard]] Result<CodecSpec> parse_extension(const Json& json);
/// A list of at most limits.dimensions integers from `least` to 2^63-1.
[[nodiscard]] Result<Shape> parse_lengths(const Json& json, std::uint64_t least, const Limits& limits);
/// `unsupported` if the elements have more than 2^63-1 bytes; lengths of 0 count as 1.
[[nodiscard]] Result<void> check_bytes(const Shape& shape, const DType& dtype);
/// `unsupported` if an element is larger than the limit element_bytes. Call it before a fill value is allocated.
[[nodiscard]] Result<void> check_element(const DType& dtype, const Limits& limits);
/// invalid_argument if `count` things do not match an array of `rank` dimensions.
[[nodiscard]] Result<void> check_rank(std::size_t count, std::size_t rank, std::string_view things);
/// invalid_argument: the value "must be" `expected`; for numbers the error gives their text.
[[nodiscard]] Error wrong_value(const Json& value, std::string_view expected);

using GridSpec = std::variant<RegularGrid, RectilinearGrid>;

/// The grid of an array of this shape and type.
[[nodiscard]] Result<GridSpec> parse_chunk_grid(const Json& json, const ArraySpec& array, const Limits& limits);
[[nodiscard]] Json print_chunk_grid(const GridSpec& grid);
[[nodiscard]] Result<KeyEncoding> parse_key_encoding(const Json& json);
[[nodiscard]] Json print_key_encoding(const KeyEncoding& keys);

}  // namespace sherd
