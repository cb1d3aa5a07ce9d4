// Elements as nested JSON lists, printed piece by piece and parsed as a whole.
#pragma once

#include <string>
#include <vector>

#include "base/scalar.hpp"
#include "sherd/box.hpp"
#include "sherd/json.hpp"

namespace sherd::cli {

/// Prints elements in C order as nested lists, one row of the last dimension per line. A value is written as in
/// metadata ("NaN", [re, im], base64 for bytes). An array of rank 0 is printed as the bare value.
class ElementPrinter {
 public:
  ElementPrinter(Shape shape, DType dtype);
  /// The text for the next elements.
  [[nodiscard]] std::string print(std::span<const std::byte> elements);
  /// The text after the last element.
  [[nodiscard]] std::string finish() const;

 private:
  void separate(std::string& to) const;

  Shape shape_;
  DType dtype_;
  std::uint64_t next_ = 0;
};

/// Parses nested lists of this shape into elements in C order. Errors name the position, such as "[3][1]".
[[nodiscard]] Result<std::vector<Scalar>> parse_elements(const Json& json, const Shape& shape, const DType& dtype);

}  // namespace sherd::cli
