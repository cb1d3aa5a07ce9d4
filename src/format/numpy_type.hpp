// Element types and fill values in NumPy's notation, as in Zarr v2 and the first drafts of Zarr v3.
#pragma once

#include <string>
#include <string_view>

#include "base/scalar.hpp"
#include "codec/codec.hpp"

namespace sherd {

/// The type of elements as stored.
struct NumpyType {
  DType dtype;
  bool big_endian = false;  ///< of all words
  Json mixed = {};          ///< of structs with different fields: the order of each, as in the codec `bytes`

  /// A field of a struct, with its byte order.
  [[nodiscard]] NumpyType field(std::size_t index) const;
  /// The byte order or orders, as in the codec.
  [[nodiscard]] Json endian() const { return mixed.is_null() ? Json(big_endian ? "big" : "little") : mixed; }
};

[[nodiscard]] Error unknown_numpy_type(std::string_view name);
/// Interprets a name that NumPy does not have.
using OtherNames = Result<NumpyType> (*)(std::string_view name);
/// A data type: "<i4", or a list of fields, which may be arrays. "|O" is `string`. Wrong values are invalid_argument,
/// unknown types `unsupported`.
Result<NumpyType> parse_numpy_type(const Json& json, OtherNames other);
/// The name of a type that NumPy does not have; empty if it has none.
using OtherPrinter = std::string (*)(const DType& dtype);
/// `unsupported` if neither NumPy nor `other` has a name for the type.
Result<Json> print_numpy_type(const NumpyType& type, OtherPrinter other = nullptr);
/// null, which leaves missing chunks undefined, is read as zero; structs and raw bytes are base64, or 0. The number 0
/// is the text "0" in fixed-length texts, and an empty text among objects.
Result<Scalar> parse_numpy_fill(const Json& json, const NumpyType& type);
[[nodiscard]] Json print_numpy_fill(const Scalar& fill, const NumpyType& type);

/// The type of a field that is an array of this shape: a struct of its elements, named by their numbers. `unsupported`
/// if it would have more than 65,536 elements, including those of arrays in it.
Result<DType> array_field(DType element, const Shape& shape);
/// The reverse; without a shape if the field is not an array.
struct ArrayField {
  DType element;
  Shape shape;
};
[[nodiscard]] ArrayField as_array_field(DType dtype);

/// Whether words of these elements have a byte order.
[[nodiscard]] bool has_byte_order(const DType& dtype);
/// The codec that stores elements of this type.
[[nodiscard]] CodecSpec bytes_spec(const NumpyType& type);

}  // namespace sherd
