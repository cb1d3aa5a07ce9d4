// Codecs by their ids in numcodecs, as Zarr v2 and the first drafts of Zarr v3 have them, and the chains that their
// filters and compressors make.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/numpy_type.hpp"

namespace sherd {

/// The codec that encodes as numcodecs does with this id and configuration (an object): by its name in Zarr v3 where it
/// has one, otherwise as "numcodecs.ID".
[[nodiscard]] CodecSpec numcodecs_codec(std::string_view id, const Json& configuration, const DType& dtype);

/// szip, of which NCZarr stores two parameters: with those that netcdf-c derives from a variable and its chunks.
[[nodiscard]] CodecSpec numcodecs_szip(Json configuration, const NumpyType& type, const Shape& shape,
                                       const Shape& chunk);

/// What is encoded by numcodecs.
struct NumcodecsChunks {
  NumpyType type;
  std::size_t rank = 0;
  bool fortran = false;  ///< the first dimension varies fastest
};
/// The chain of codecs that filters, which may include that of elements of variable length, and then `compressors`
/// make; the table says what kind each one is. `unsupported` if filters treat elements as having another byte order.
Result<std::vector<CodecSpec>> numcodecs_chain(const NumcodecsChunks& chunks, std::vector<CodecSpec> filters,
                                               std::vector<CodecSpec> compressors, CodecTable table);

/// The reverse: a chain in the words of numcodecs.
struct NumcodecsWords {
  bool fortran = false;
  bool big_endian = false;
  Json mixed;                      ///< see NumpyType
  Json::Array filters;             ///< objects with an id
  std::optional<Json> compressor;  ///< likewise
};
/// A format whose documents have the words of numcodecs.
struct NumcodecsFormat {
  std::string_view name;  ///< for messages: "the draft"
  CodecTable codecs;
};
/// Of chunks of elements of this type. `unsupported` if the format has no words for them.
Result<NumcodecsWords> numcodecs_words(std::span<const CodecSpec> specs, DType dtype, const NumcodecsFormat& format);
/// Whether the codec of this name can be the compressor.
[[nodiscard]] bool is_compressor(std::string_view name, CodecTable table);

}  // namespace sherd
