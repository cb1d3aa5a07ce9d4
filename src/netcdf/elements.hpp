// The elements of a variable in sequence, read in blocks of bounded size.
#pragma once

#include <cstdint>

#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

class ElementStream {
 public:
  explicit ElementStream(Variable variable);

  /// Makes the element with this number, in C order, and those after it in the same block available. Numbers must
  /// increase.
  Result<void> seek(std::uint64_t element);
  /// The values of the block. The last element sought is values[offset()].
  [[nodiscard]] const Values& values() const noexcept { return values_; }
  /// The positions of strings among them that are null pointers.
  [[nodiscard]] const std::vector<std::uint64_t>& nulls() const noexcept { return nulls_; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  /// The number of elements available from there.
  [[nodiscard]] std::size_t available() const noexcept { return count_ - offset_; }

 private:
  Variable variable_;
  Shape shape_;
  std::size_t axis_ = 0;      ///< blocks cover a range of this axis and all of the axes after it
  std::uint64_t length_ = 1;  ///< of the range
  std::uint64_t begin_ = 0;
  std::size_t count_ = 0, offset_ = 0;
  Values values_;
  std::vector<std::uint64_t> nulls_;
};

}  // namespace sherd::netcdf
