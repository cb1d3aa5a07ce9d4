// Building a directory of annotations with all of its indices: by id, by related object, and by location.
//
// Annotations come in any order. The spatial index has levels from coarse to fine, each a grid of cells: a level holds
// a uniform random sample of the annotations that coarser levels do not hold, as many as leave no cell with more than
// `limit`. Each annotation is in one level, in every cell that it overlaps. The sample depends on the ids alone, and so
// does the order in a cell, which is random too: a reader that needs fewer uses the first ones. Layout:
// docs/format/precomputed-objects.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/export.hpp"
#include "sherd/neuroglancer.hpp"
#include "sherd/options.hpp"
#include "sherd/store.hpp"

namespace sherd::neuroglancer {

struct AnnotationBuildOptions {
  std::string path = {};  ///< of the collection's directory, below the store's root
  /// Replace an existing collection; without it that is `conflict`, as a foreign file is in any case.
  bool overwrite = false;
  /// Most annotations per cell, from 1 to 2^32-1. The last level may have cells with more: where annotations are so
  /// close together that no grid separates them, or so large that smaller cells would repeat them too often.
  std::uint64_t limit = 5000;
  /// Of every index: null for an object of its own for each value, "auto" for those of choose_sharding(), or
  /// parameters.
  Json sharding = {};
  /// config.memory_budget limits what encoding and shards need in addition to the annotations, which are held in
  /// memory: their geometry, properties and related ids, and about 40 bytes each.
  Config config = {};
};

struct AnnotationBuildReport {
  std::uint64_t annotations = 0;
  std::uint64_t levels = 0;   ///< of the spatial index
  std::uint64_t cells = 0;    ///< that are not empty, of all levels
  std::uint64_t related = 0;  ///< objects with annotations, of all relationships
};

/// The objects to which annotations are related by one relationship.
struct RelatedIds {
  std::vector<std::uint32_t> counts;  ///< how many ids each annotation has
  std::vector<std::uint64_t> ids;     ///< of all annotations, one after the other
};

/// If destroyed before finish(), it leaves nothing behind.
class SHERD_API AnnotationBuilder {
 public:
  /// `info` says dimensions, type, properties and the ids of relationships; the indices are filled in. Empty bounds are
  /// those of the annotations. Nothing is written before finish().
  static Result<AnnotationBuilder> create(std::shared_ptr<Store> store, AnnotationInfo info,
                                          AnnotationBuildOptions options = {});
  static Result<AnnotationBuilder> create(std::string_view url, AnnotationInfo info,
                                          AnnotationBuildOptions options = {});
  AnnotationBuilder(AnnotationBuilder&&) noexcept;
  AnnotationBuilder& operator=(AnnotationBuilder&&) noexcept;
  ~AnnotationBuilder();

  /// One element of `related` for each relationship. invalid_argument, which counts annotations from 0 over all calls,
  /// if the rows do not fit the info; nothing is added then.
  Result<void> add(const Annotations& rows, std::span<const RelatedIds> related = {});

  /// Writes everything, the info document last; to be called once. invalid_argument names an id that was added twice,
  /// before anything is written. If writing fails, what was written is erased.
  Result<AnnotationBuildReport> finish();

 private:
  class Build;
  explicit AnnotationBuilder(std::unique_ptr<Build> build);
  std::unique_ptr<Build> build_;
};

}  // namespace sherd::neuroglancer
