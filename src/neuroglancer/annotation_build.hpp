// A build of annotations in progress: rows, and the indexes made from them.
#pragma once

#include <optional>
#include <vector>

#include "neuroglancer/annotation_levels.hpp"
#include "neuroglancer/collection.hpp"
#include "node/claim.hpp"
#include "sherd/annotation_build.hpp"

namespace sherd::neuroglancer {

class AnnotationBuilder::Build final : public ShuffledAnnotations {
 public:
  /// Starts a build and returns it as the builder that holds it. `location` is writable.
  static Result<AnnotationBuilder> start(Collection::State::Location location, AnnotationInfo info,
                                         AnnotationBuildOptions options);

  Result<void> add(const Annotations& rows, std::span<const RelatedIds> related);
  Result<AnnotationBuildReport> finish();

  [[nodiscard]] std::uint64_t size() const noexcept override { return order_.size(); }
  [[nodiscard]] std::span<const float> vectors(std::uint64_t at) const noexcept override;

 private:
  /// The objects of one index: the annotations of each owner.
  struct Index {
    const AnnotationIndex* where;
    const AnnotationSpatialLevel* level = nullptr;
    std::span<const Membership> members;
  };

  Build(Collection::State::Location location, AnnotationInfo info, AnnotationBuildOptions options)
      : location_(std::move(location)), info_(std::move(info)), options_(std::move(options)) {}

  Result<void> check_related(std::size_t rows, std::span<const RelatedIds> related) const;
  void order_properties();
  Result<void> shuffle();
  Result<void> set_bounds();
  [[nodiscard]] Result<std::vector<Membership>> members_of(std::size_t relationship) const;
  /// Fills in the indexes of the info.
  Result<void> describe(const std::vector<SpatialLevel>& levels,
                        const std::vector<std::vector<Membership>>& relationships);
  /// The sharding of an index with this many values.
  [[nodiscard]] Result<Json> sharding_for(std::uint64_t values, std::uint64_t bytes) const;
  [[nodiscard]] std::uint64_t record_bytes() const;
  Result<AnnotationBuildReport> build(const std::vector<SpatialLevel>& levels,
                                      const std::vector<std::vector<Membership>>& relationships,
                                      std::optional<Claim>& claim);
  Result<void> write_by_id() const;
  Result<void> write(const Index& index) const;
  [[nodiscard]] Annotation one(std::uint64_t row) const;
  [[nodiscard]] Annotations list(std::span<const Membership> members) const;

  Collection::State::Location location_;
  AnnotationInfo info_;
  const AnnotationBuildOptions options_;
  Annotations rows_;
  std::vector<std::uint64_t> starts_{0};  ///< polylines: where the vectors of each row begin, and their end
  std::vector<RelatedIds> related_;
  std::vector<std::vector<std::uint64_t>> related_starts_;
  std::vector<std::uint64_t> order_;  ///< rows in random order
};

}  // namespace sherd::neuroglancer
