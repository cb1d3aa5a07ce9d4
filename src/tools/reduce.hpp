// Less resolution: which elements of an array an element of the next coarser one is made of, and how.
#pragma once

#include <cstddef>

#include "sherd/box.hpp"
#include "sherd/dtype.hpp"
#include "sherd/options.hpp"
#include "sherd/tools.hpp"
#include "tools/element_map.hpp"

namespace sherd {

/// Along a dimension of step n, element i is made of the n elements from n * i - phase on, as far as they are there.
struct Reduction {
  static constexpr std::uint64_t kMost = 512;  ///< elements that one is made of

  Pyramid::Method method = Pyramid::Method::mean;
  bool ignore_zero = false;
  Shape step = {};   ///< 1 or more, their product at most kMost
  Shape phase = {};  ///< less than the step

  /// unsupported or invalid_argument if this type has no mean or mode.
  [[nodiscard]] Result<void> check(const DType& dtype) const;
  /// Of what becomes of an array.
  [[nodiscard]] Shape shape_of(const Shape& finer) const;
  /// What a box is made of; `finer` is the shape of the array.
  [[nodiscard]] Box made_of(const Box& coarse, const Shape& finer) const;
  /// The box into which a box of the finer array goes.
  [[nodiscard]] Box goes_into(const Box& finer) const;
  /// How many elements one is made of.
  [[nodiscard]] std::uint64_t most() const noexcept;
};

/// Elements of a box, dense in C order.
template <class Byte>
struct BoxElements {
  const Box& box;
  Byte* data;
};
/// Makes the elements of a box from those of made_of() it, on the threads of `config`.
Result<void> reduce(const Reduction& how, const DType& dtype, const BoxElements<const std::byte>& from,
                    const BoxElements<std::byte>& to, const Config& config);

/// The elements of the next coarser resolution as those of a copy.
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
