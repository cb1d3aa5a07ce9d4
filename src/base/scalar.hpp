// One element as JSON and as bytes: the fill-value encodings of Zarr v3, bit for bit.
// Also what the command line reads and prints as single values.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sherd/dtype.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// One element: dtype.size() bytes, and for variable-length types the text to which its VarBytes points. Copyable.
class Scalar {
 public:
  Scalar() = default;
  explicit Scalar(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  /// A variable-length element.
  explicit Scalar(std::string text);

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::shared_ptr<const std::string> text_;
};

/// Zero (2^-127 where a type has no zero), false, "", 1970-01-01, a missing value, a struct of these.
[[nodiscard]] Scalar default_scalar(const DType& dtype);
/// From metadata; errors name the member below the value ("[1]", "x"). Floats are rounded half to even from their
/// decimal text; what overflows is infinite, as IEEE 754 rounds it.
[[nodiscard]] Result<Scalar> parse_scalar(const Json& json, const DType& dtype);
/// To metadata, as the specification recommends it: hex for NaNs that are not the default one. `element` is valid:
/// one of dtype.size() bytes, and its text UTF-8 where it is a string.
[[nodiscard]] Json print_scalar(std::span<const std::byte> element, const DType& dtype);
/// Equal bit for bit (variable-length: the same text).
[[nodiscard]] bool equal_elements(const DType& dtype, const std::byte* a, const std::byte* b) noexcept;

/// A type from metadata: a name, or an object {name, configuration}; and back, in the canonical form. `unknown` is the
/// code for a name that is not a data type's: stored documents may have names that this version does not know.
[[nodiscard]] Result<DType> parse_dtype(const Json& json, ErrorCode unknown = ErrorCode::unsupported);
/// The same for a name alone.
[[nodiscard]] Result<DType> parse_dtype_name(std::string_view name, ErrorCode unknown);
[[nodiscard]] Json print_dtype(const DType& dtype);
/// The name of all types of a kind: "uint16", "struct"; "r" of raw ones.
[[nodiscard]] std::string kind_name(DType::Kind kind);

}  // namespace sherd
