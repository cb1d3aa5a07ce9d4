// Shared by the files of the 2022 draft: element types, array documents, and the URIs of the draft.
#pragma once

#include <initializer_list>
#include <string_view>

#include "format/numpy_type.hpp"
#include "node/spec.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::draft2022 {

/// The element type as named by a document.
struct ElementType : NumpyType {
  bool is_fallback = false;  ///< the document names another, unknown type
};
/// A data type; wrong values are invalid_argument, unknown types `unsupported`.
Result<ElementType> parse_type(const Json& json);
Result<Json> print_type(const NumpyType& type);
Result<Scalar> parse_fill(const Json& json, const NumpyType& type);

inline constexpr std::string_view sharding_name = "sharding_indexed";
inline constexpr std::string_view codec_uri = "https://purl.org/zarr/spec/codec/";
/// zarr-python knows only the first one; the other is that of the draft's example.
inline constexpr std::string_view zarr_python_uri = "https://purl.org/zarr/spec/storage_transformers/sharding/1.0";
inline constexpr std::string_view seed_uri = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0";
/// Whether a transformer is named by one of the draft's own addresses.
[[nodiscard]] bool is_seed_uri(const Json& transformer);
/// The index codecs of sharding_indexed that match the draft's index.
[[nodiscard]] Json index_codecs();
/// Lowers an array document, like parse_array of Zarr v3. An unknown storage transformer makes the array
/// inaccessible.
Result<ArraySpec> parse_array(const Json& document, const Limits& limits, CodecTable codecs);
/// The canonical document. Supported in spec.format_options: "uri", whose name for sharding is written, "zarr-python"
/// or "seed". Anything that the draft cannot express is `unsupported`.
Result<Json> print_array(const ArraySpec& spec, CodecTable codecs);
/// The document with the chunks and codecs of `spec`, otherwise unchanged.
Result<Json> with_chunks(Json document, const ArraySpec& spec, CodecTable codecs);
/// The attribute in which zarr-python stores filters, which are needed to decode chunks.
[[nodiscard]] const Json* hidden_filters(const Json& document);
/// Refuses every member that is not `known`, and every extension that must be understood: Sherd knows none.
Result<void> check_members(const Json& document, std::initializer_list<std::string_view> known);
/// "purl.org/zarr/spec/core/3.0" of "https://purl.org/zarr/spec/core/3.0"; other texts stay as they are.
[[nodiscard]] std::string_view without_scheme(std::string_view uri);

}  // namespace sherd::draft2022
