// Reduces resolution: from which elements of an array an element of the coarser one is computed, and how.
#pragma once

#include <cstddef>

#include "image/element_map.hpp"
#include "sherd/box.hpp"
#include "sherd/dtype.hpp"
#include "sherd/options.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// Along a dimension with step n, element i is computed from the n elements beginning at n * i - phase that exist.
struct Reduction {
  static constexpr std::uint64_t kMost = 512;  ///< maximum elements from which one is computed

  Pyramid::Method method = Pyramid::Method::mean;
  bool ignore_zero = false;
  Shape step = {};   ///< at least 1; their product is at most kMost
  Shape phase = {};  ///< less than the step

  /// unsupported or invalid_argument if this type has no mean or mode.
  [[nodiscard]] Result<void> check(const DType& dtype) const;
  /// The shape of the reduced array.
  [[nodiscard]] Shape shape_of(const Shape& finer) const;
  /// The box from which a box is computed; `finer` is the shape of the array.
  [[nodiscard]] Box made_of(const Box& coarse, const Shape& finer) const;
  /// The box that a box of the finer array affects.
  [[nodiscard]] Box goes_into(const Box& finer) const;
  /// The number of elements from which one is computed.
  [[nodiscard]] std::uint64_t most() const noexcept;
};

/// Elements of a box, dense in C order.
template <class Byte>
struct BoxElements {
  const Box& box;
  Byte* data;
};
/// Computes the elements of a box from those of its made_of(), on the threads of `config`.
Result<void> reduce(const Reduction& how, const DType& dtype, const BoxElements<const std::byte>& from,
                    const BoxElements<std::byte>& to, const Config& config);

/// The elements of the next coarser resolution, as those of a copy.
class CoarserElements final : public ElementMap {
 public:
  explicit CoarserElements(Reduction how) : how_(std::move(how)) {}
  [[nodiscard]] Box made_of(const Box& copy, const Shape& source) const override { return how_.made_of(copy, source); }
  [[nodiscard]] Box goes_into(const Box& source) const override { return how_.goes_into(source); }
  [[nodiscard]] std::uint64_t most() const noexcept override { return how_.most(); }
  [[nodiscard]] Result<void> read(const Array& source, const Box& box, const ElementTarget& to) const override;

 private:
  Reduction how_;
};

}  // namespace sherd
