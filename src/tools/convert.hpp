// Numbers of one type as numbers of another one, with a check of the range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/real.hpp"
#include "sherd/dtype.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Numbers become the nearest number of the other type, of two the even one; integers, floats and booleans (0 and 1).
class Conversion {
 public:
  /// `unsupported` if one of the types is not one of these.
  static Result<Conversion> make(const DType& from, const DType& to);

  /// Converts the elements of `from`. Returns the number of the first one that the other type does not have: out of its
  /// range, or NaN or infinity in a type without these; nullopt if all were converted.
  [[nodiscard]] std::optional<std::uint64_t> run(std::span<const std::byte> from, std::byte* to) const noexcept;

 private:
  using Load = Real (*)(const std::byte*, std::size_t);
  using Store = bool (*)(const Real&, RoundingRules, std::byte*, std::size_t);

  Conversion(std::size_t element, Load load, Store store) : element_(element), load_(load), store_(store) {}

  std::size_t element_;
  Load load_;
  Store store_;
};

}  // namespace sherd
