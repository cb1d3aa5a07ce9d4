// One element as JSON and as bytes: the fill-value encodings of Zarr v3, bit for bit. Also used for single values that
// the command line reads and prints.
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

/// One element: dtype.size() bytes, and for variable-length types the bytes to which its VarBytes points. Copies share
/// them.
class Scalar {
 public:
  Scalar() = default;
  explicit Scalar(std::vector<std::byte> bytes)
      : bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {}
  /// A variable-length element.
  explicit Scalar(std::string text);

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return bytes_ == nullptr ? std::span<const std::byte>() : *bytes_;
  }

 private:
  std::shared_ptr<const std::vector<std::byte>> bytes_;
  std::shared_ptr<const std::string> text_;
};

/// Zero (2^-127 in types without zero), false, "", 1970-01-01, a missing value, or a struct of these.
[[nodiscard]] Scalar default_scalar(const DType& dtype);
/// From metadata; errors name the member below the value ("[1]", "x"). Floats are rounded half to even from their
/// decimal text; overflow gives infinity, as in IEEE 754.
[[nodiscard]] Result<Scalar> parse_scalar(const Json& json, const DType& dtype);
/// To metadata, in the form that the specification recommends: hex for NaNs other than the default one. `element` must
/// be valid: dtype.size() bytes, with UTF-8 text for strings.
[[nodiscard]] Json print_scalar(std::span<const std::byte> element, const DType& dtype);
/// Equal bit for bit (variable-length: the same bytes).
[[nodiscard]] bool equal_elements(const DType& dtype, const std::byte* a, const std::byte* b) noexcept;

}  // namespace sherd
