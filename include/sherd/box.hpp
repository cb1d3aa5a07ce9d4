// Shapes, boxes and selections: which elements of an array a call refers to. Lengths are counts of elements; the
// slowest-varying dimension comes first (C order).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sherd/result.hpp"

namespace sherd {

/// One length, coordinate or count per dimension, each at most 2^63-1.
using Shape = std::vector<std::uint64_t>;

/// The number of elements, or nullopt if it does not fit in 64 bits. 1 for rank 0.
SHERD_API std::optional<std::uint64_t> element_count(const Shape& shape) noexcept;

/// The form used in messages: "(3, 4)", "(3,)" or "()".
SHERD_API std::string to_string(const Shape& shape);

/// A box of elements: its lowest corner and its shape.
struct Box {
  Shape origin;
  Shape shape;
  friend bool operator==(const Box&, const Box&) = default;
};

/// The `count` coordinates start, start+step, … of one dimension. step may be negative, but not 0.
struct Range {
  std::uint64_t start = 0;
  std::uint64_t count = 0;
  std::int64_t step = 1;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Any coordinates of one dimension, in any order; repeats are allowed.
using Indices = std::vector<std::uint64_t>;

/// A selection of elements of an array, of one of two kinds.
/// *Orthogonal*: a Range or Indices for each dimension; the result has one dimension per array dimension.
/// *Points*: for each dimension, the coordinates of the same n points; the result has one dimension of length n.
class SHERD_API Selection {
 public:
  using Axis = std::variant<Range, Indices>;

  /// All elements of the box.
  Selection(const Box& box);  // NOLINT(google-explicit-constructor)
  /// The Cartesian product of the axes.
  static Selection orthogonal(std::vector<Axis> axes);
  /// Point i has coordinates (coordinates[0][i], coordinates[1][i], …); all vectors have the same length.
  static Selection points(std::vector<Indices> coordinates);
  /// Parses `0:10,::-2,5,...` for an array of this shape, as NumPy does. An integer keeps its dimension, with length 1;
  /// the dimension is listed in `dropped`, so that the caller can remove it from the result's shape.
  static Result<Selection> parse(std::string_view text, const Shape& array_shape,
                                 std::vector<std::size_t>* dropped = nullptr);

  [[nodiscard]] bool is_points() const noexcept { return points_; }
  [[nodiscard]] const std::vector<Axis>& axes() const noexcept { return axes_; }
  /// The shape of the elements read or written: one length per axis, or (n,) for points.
  [[nodiscard]] Shape shape() const;
  /// Returns invalid_argument if the rank or a coordinate does not fit an array of this shape.
  [[nodiscard]] Result<void> check(const Shape& array_shape) const;

 private:
  Selection() = default;
  std::vector<Axis> axes_;
  bool points_ = false;
};

}  // namespace sherd
