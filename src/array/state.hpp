// What an Array handle refers to. One State is shared by all copies of a handle.
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
  std::shared_ptr<const Format> format = {};  ///< as this store has it
  Tables tables;
  bool writable = false;
  Config config = {};

  [[nodiscard]] CodecTable codecs() const noexcept { return format->traits().codecs.value_or(tables.codecs); }
};

/// An array handle from its metadata: builds grid and codec chains, and refuses what they refuse.
Result<Array> make_array(NodeLocation location, NodeDocument document);

}  // namespace sherd
