// Building a directory of annotations with all of its indexes: by id, by related object, and by location.
//
// Annotations come in any order. The spatial index has levels from coarse to fine, each a grid of cells. A level holds
// a uniform random sample of the annotations that no coarser level holds, as many as fit without any cell exceeding
// `limit`. Each annotation is in one level, in every cell that it overlaps. The sample, and the order in a cell, depend
// on the ids alone. The order is random too, so a reader that needs fewer annotations uses the first ones. Layout:
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
  /// Replace an existing collection, which is otherwise a `conflict`. A foreign file is always a `conflict`.
  bool overwrite = false;
  /// Maximum number of annotations per cell, from 1 to 2^32-1. Cells of the last level may exceed it: if annotations
  /// are so close together that no grid separates them, or so large that smaller cells would repeat them too often.
  std::uint64_t limit = 5000;
  /// Of every index: null stores each value as an object of its own, "auto" uses choose_sharding(); otherwise
  /// parameters.
  Json sharding = {};
  /// config.memory_budget limits the memory for encoding and shards. The annotations are held in memory in addition:
  /// their geometry, properties and related ids, and about 40 bytes each.
  Config config = {};
};

struct AnnotationBuildReport {
  std::uint64_t annotations = 0;
  std::uint64_t levels = 0;                ///< of the spatial index
  std::uint64_t cells = 0;                 ///< non-empty ones, of all levels
  std::uint64_t related = 0;               ///< objects that have annotations, of all relationships
  std::vector<std::string> warnings = {};  ///< AnnotationInfo::warnings()
};

/// The objects to which annotations are related through one relationship.
struct RelatedIds {
  std::vector<std::uint32_t> counts;  ///< the number of ids of each annotation
  std::vector<std::uint64_t> ids;     ///< of all annotations, one after the other
};

/// A builder destroyed before finish() leaves nothing behind.
class SHERD_API AnnotationBuilder {
 public:
  /// `info` gives dimensions, type, properties and the ids of relationships; the indexes are filled in. If its bounds
  /// are empty, those of the annotations are used. Properties are listed by size; of those of four bytes, uint32 ones
  /// are put where all readers find them. Nothing is written before finish().
  static Result<AnnotationBuilder> create(std::shared_ptr<Store> store, AnnotationInfo info,
                                          AnnotationBuildOptions options = {});
  static Result<AnnotationBuilder> create(std::string_view url, AnnotationInfo info,
                                          AnnotationBuildOptions options = {});
  AnnotationBuilder(AnnotationBuilder&&) noexcept;
  AnnotationBuilder& operator=(AnnotationBuilder&&) noexcept;
  ~AnnotationBuilder();

  /// `related` has one element per relationship. If the rows do not fit the info, returns invalid_argument, which
  /// numbers annotations from 0 over all calls, and adds nothing.
  Result<void> add(const Annotations& rows, std::span<const RelatedIds> related = {});

  /// Writes everything, the info document last. Call it once. If an id was added twice, returns invalid_argument with
  /// the id and writes nothing. If writing fails, what was written is erased.
  Result<AnnotationBuildReport> finish();

 private:
  class Build;
  explicit AnnotationBuilder(std::unique_ptr<Build> build);
  std::unique_ptr<Build> build_;
};

}  // namespace sherd::neuroglancer
