// The documents of a node that is made at its path: they are kept in memory until everything that they describe has
// been stored.
#pragma once

#include <memory>

#include "node/node_location.hpp"

namespace sherd {

class DeferredDocuments {
 public:
  /// For the node at `location` and everything below it, in any format.
  explicit DeferredDocuments(const NodeLocation& location);

  /// The store of `location`, except that these documents are written to memory and read from there first.
  [[nodiscard]] const std::shared_ptr<Store>& store() const noexcept { return store_; }
  /// Stores all documents, each once: those of members before those of their group, then the one that makes the node at
  /// `location` visible, then its further documents. `conflict` if the node is visible already; with `resumes`, not if
  /// a killed process has stored the same document.
  Result<void> write(bool resumes) const;

 private:
  NodeLocation location_;
  std::shared_ptr<Store> documents_;
  std::shared_ptr<Store> store_;
};

}  // namespace sherd
