// What the files of the 2022 draft share: element types, array documents, and the URIs it was known by.
#pragma once

#include <initializer_list>
#include <string_view>

#include "array/spec.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::draft2022 {

/// The type of elements as they are stored.
struct ElementType {
  DType dtype;
  bool big_endian = false;
  bool is_fallback = false;  ///< the document names another type, which is not known
};
/// A data type; wrong values are invalid_argument, types that are not known `unsupported`.
Result<ElementType> parse_type(const Json& json);
Result<Json> print_type(const ElementType& type);
/// null, which says nothing of missing chunks, is read as zero.
Result<Scalar> parse_fill(const Json& json, const ElementType& type);
[[nodiscard]] Json print_fill(const Scalar& fill, const ElementType& type);

/// Whether words of these elements have a byte order.
[[nodiscard]] bool has_byte_order(const DType& dtype);

inline constexpr std::string_view sharding_name = "sharding_indexed";
inline constexpr std::string_view codec_uri = "https://purl.org/zarr/spec/codec/";
/// zarr-python knows the first only; the other is that of the draft's example.
inline constexpr std::string_view zarr_python_uri = "https://purl.org/zarr/spec/storage_transformers/sharding/1.0";
inline constexpr std::string_view seed_uri = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0";
/// Whether a transformer has one of the draft's own addresses.
[[nodiscard]] bool is_seed_uri(const Json& transformer);
/// Those of sharding_indexed that are the draft's index.
[[nodiscard]] Json index_codecs();
/// Whether the draft's writers have a URI for this codec of numcodecs.
[[nodiscard]] bool is_compressor(std::string_view name);

/// Lowers an array document, as parse_array of Zarr v3 does. A storage transformer that is not known leaves an array
/// without access.
Result<ArraySpec> parse_array(const Json& document, const Limits& limits);
/// The canonical document. Of spec.format_options it knows "uri": whose name for sharding is written, "zarr-python" or
/// "seed". What the draft has no words for is `unsupported`.
Result<Json> print_array(const ArraySpec& spec);
/// The document with the chunks and codecs of `spec`, the rest as it is.
Result<Json> with_chunks(Json document, const ArraySpec& spec);
/// The attribute in which zarr-python keeps filters: a part of how chunks are decoded.
[[nodiscard]] const Json* hidden_filters(const Json& document);
/// The attribute in which xarray keeps the names of dimensions, where a format has no words for them.
inline constexpr const char* names_attribute = "_ARRAY_DIMENSIONS";
/// Of an array whose every dimension has a name there; otherwise it is an attribute like any other.
[[nodiscard]] const Json* hidden_names(const Json& document);

/// Refuses every member that is not `known`, and extensions that must be understood: none is known.
Result<void> check_members(const Json& document, std::initializer_list<std::string_view> known);
/// "purl.org/zarr/spec/core/3.0" of "https://purl.org/zarr/spec/core/3.0"; other texts stay as they are.
[[nodiscard]] std::string_view without_scheme(std::string_view uri);

}  // namespace sherd::draft2022
