// The levels of a spatial index: which annotations are in which cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "neuroglancer/annotation_cells.hpp"
#include "sherd/options.hpp"

namespace sherd::neuroglancer {

/// Annotations, numbered by what contains them: a cell (its compressed Morton code) or a related object.
struct Membership {
  std::uint64_t owner = 0;
  std::uint64_t at = 0;  ///< the annotation's position in the random order
  friend auto operator<=>(const Membership&, const Membership&) = default;
};

/// Annotations in random order.
class ShuffledAnnotations {
 public:
  virtual ~ShuffledAnnotations() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  [[nodiscard]] virtual std::span<const float> vectors(std::uint64_t at) const noexcept = 0;
};

struct SpatialLevel {
  CellGrid grid;
  std::uint64_t limit = 0;
  std::vector<Membership> members;  ///< sorted
};

/// The input for the levels. Bounds and dimensions are those of the info.
struct SpatialRequest {
  const AnnotationInfo& info;
  std::uint64_t limit;
  const Config& config;
};
/// The levels, coarse to fine; at least one. `unavailable` if interrupted.
Result<std::vector<SpatialLevel>> plan_levels(const ShuffledAnnotations& annotations, const SpatialRequest& request);

}  // namespace sherd::neuroglancer
