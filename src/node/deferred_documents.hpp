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
  /// Stores all documents, those of members before those of their group, each once; the one that makes the node at
  /// `location` visible last. `conflict` if there is one already.
  Result<void> write() const;

 private:
  NodeLocation location_;
  std::shared_ptr<Store> documents_;
  std::shared_ptr<Store> store_;
};

}  // namespace sherd
