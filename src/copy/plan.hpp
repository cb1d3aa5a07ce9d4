// The plan of a copy of a tree, made before anything is written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copy/labels.hpp"
#include "copy/planned_copy.hpp"

namespace sherd {

struct TreePlan {
  std::vector<NodeCopy> nodes;  ///< groups before their members
  /// Collections of objects to which the copy refers: their paths below its root, and in the source's store.
  std::map<std::string, std::string> referred = {};
  /// Side documents to copy: their paths below the copy's root, and in the source's store.
  std::map<std::string, std::string> side_documents = {};
  std::vector<std::pair<std::string, std::string>> dangling = {};  ///< CopyReport::dangling
  std::vector<std::string> warnings = {};                          ///< CopyReport::warnings
  std::optional<LabelledImage> labelled = {};                      ///< the image to whose labels the copy belongs
  std::uint64_t bytes = 0;                                         ///< of elements, as far as they are known in advance
};
Result<TreePlan> plan_tree(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options);

/// The location of a node of a copy with this root.
[[nodiscard]] NodeLocation location_below(const NodeLocation& root, const std::string& path);
/// The documents of a node, printed from its metadata.
[[nodiscard]] std::vector<Document> documents_of(const NodeCopy& node, const NodeLocation& destination);

}  // namespace sherd
