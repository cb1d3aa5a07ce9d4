// Converts numbers from one type to another, checking the range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/real.hpp"
#include "sherd/dtype.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// Rounds numbers to the nearest one of the other type, half to even; for integers, floats and booleans (0 and 1).
class Conversion {
 public:
  /// `unsupported` for other types.
  static Result<Conversion> make(const DType& from, const DType& to);

  /// Converts the elements of `from`. Returns the number of the first one that cannot be converted because it is out of
  /// range, or NaN or infinity and the type has none; nullopt if all were converted.
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
