// Elements as nested JSON lists, written piece by piece and read at once.
#pragma once

#include <string>
#include <vector>

#include "base/scalar.hpp"
#include "sherd/box.hpp"
#include "sherd/json.hpp"

namespace sherd::cli {

/// Prints elements in C order as nested lists, one row of the last dimension a line; a value is written as in
/// metadata ("NaN", [re, im], base64 for bytes). Rank 0 is the value alone.
class ElementPrinter {
 public:
  ElementPrinter(Shape shape, DType dtype);
  /// The text of the next elements.
  [[nodiscard]] std::string print(std::span<const std::byte> elements);
  /// What follows the last element.
  [[nodiscard]] std::string finish() const;

 private:
  void separate(std::string& to) const;

  Shape shape_;
  DType dtype_;
  std::uint64_t next_ = 0;
};

/// The elements of nested lists of this shape, in C order; errors name the position, such as "[3][1]".
[[nodiscard]] Result<std::vector<Scalar>> parse_elements(const Json& json, const Shape& shape, const DType& dtype);

}  // namespace sherd::cli
