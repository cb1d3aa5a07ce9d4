// The state of an Array handle, shared by all copies of the handle.
#pragma once

#include <memory>
#include <string>

#include "array/format.hpp"
#include "codec/codec.hpp"
#include "sherd/array.hpp"
#include "sherd/group.hpp"

namespace sherd {

/// Where a node is and how it is to be used.
struct NodeLocation {
  std::shared_ptr<Store> store;
  std::string path;
  std::shared_ptr<const Format> format = {};  ///< as used by this store
  Tables tables;
  bool writable = false;
  Config config = {};
  /// The store was chosen because a group is its root, so that a creator does not make this group.
  bool begins_with_group = false;

  [[nodiscard]] CodecTable codecs() const noexcept { return format->traits().codecs.value_or(tables.codecs); }
};

/// An array handle from its metadata: builds grid and codec chains, and returns their errors.
Result<Array> make_array(NodeLocation location, NodeDocument document);

}  // namespace sherd
