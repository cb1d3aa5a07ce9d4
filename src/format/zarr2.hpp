// Shared by the files of the Zarr v2 format: the members of `.zarray`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "node/spec.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::zarr2 {

inline constexpr const char* kArray = ".zarray";
inline constexpr const char* kGroup = ".zgroup";
inline constexpr const char* kAttributes = ".zattrs";
inline constexpr const char* kConsolidated = ".zmetadata";

/// Lowers `.zarray`. Wrong values are invalid_argument, unknown names and exceeded limits `unsupported`; every error
/// names its member. Unknown members are ignored, since the specification allows any.
Result<ArraySpec> parse_array(const Json& document, const Limits& limits, CodecTable table);
/// The canonical document, with members in zarr-python's order. Anything that v2 cannot express is `unsupported`.
Result<Json> print_array(const ArraySpec& spec, CodecTable table);
/// The document with the chunks and codecs of `spec`, otherwise unchanged.
Result<Json> with_chunks(Json document, const ArraySpec& spec, CodecTable table);
/// The document with another shape.
[[nodiscard]] Json with_shape(Json document, const Shape& shape);
/// Whether the document of an array of several dimensions lacks the separator of chunk keys.
[[nodiscard]] bool lacks_separator(const Json& document);

/// The member of the document that corresponds to a member of its codec chain ("codecs[1].configuration.level").
[[nodiscard]] std::string stored_member(const Json& document, std::span<const CodecSpec> chain,
                                        std::string_view member);

/// The documents by key in `.zmetadata`; nullptr unless it has the only existing version, which some writers omit.
[[nodiscard]] const Json* consolidated_entries(const Json& consolidated);

/// invalid_argument unless `zarr_format` is 2.
Result<void> check_version(const Json& document);

}  // namespace sherd::zarr2
