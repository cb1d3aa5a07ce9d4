// Codecs by their ids in numcodecs, as in Zarr v2 and the first drafts of Zarr v3, and the chains made of their filters
// and compressors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/numpy_type.hpp"

namespace sherd {

/// The codec that encodes like numcodecs with this id and configuration (an object): by its name in Zarr v3 if it has
/// one, otherwise as "numcodecs.ID".
[[nodiscard]] CodecSpec numcodecs_codec(std::string_view id, const Json& configuration, const DType& dtype);

/// The codec szip. NCZarr stores two of its parameters; netcdf-c derives the others from a variable and its chunks.
[[nodiscard]] CodecSpec numcodecs_szip(Json configuration, const NumpyType& type, const Shape& shape,
                                       const Shape& chunk);

/// What is encoded by numcodecs.
struct NumcodecsChunks {
  NumpyType type;
  std::size_t rank = 0;
  bool fortran = false;  ///< the first dimension varies fastest
};
/// The chain of codecs made of filters (which may include the codec of variable-length elements) and then
/// `compressors`; the table gives the kind of each. `unsupported` if filters assume another byte order of the elements.
Result<std::vector<CodecSpec>> numcodecs_chain(const NumcodecsChunks& chunks, std::vector<CodecSpec> filters,
                                               std::vector<CodecSpec> compressors, CodecTable table);

/// The reverse: a chain expressed in numcodecs.
struct NumcodecsWords {
  bool fortran = false;
  bool big_endian = false;
  Json mixed;                      ///< see NumpyType
  Json::Array filters;             ///< objects with an id
  std::optional<Json> compressor;  ///< an object with an id
};
/// A format whose documents express codecs in numcodecs.
struct NumcodecsFormat {
  std::string_view name;  ///< for messages: "the draft"
  CodecTable codecs;
};
/// For chunks of elements of this type. `unsupported` if the format cannot express them.
Result<NumcodecsWords> numcodecs_words(std::span<const CodecSpec> specs, DType dtype, const NumcodecsFormat& format);
/// Whether the codec of this name can be the compressor.
[[nodiscard]] bool is_compressor(std::string_view name, CodecTable table);

}  // namespace sherd
