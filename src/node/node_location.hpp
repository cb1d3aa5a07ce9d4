// Where a node is stored, and how it is used.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/codec.hpp"
#include "node/format.hpp"
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

  [[nodiscard]] CodecTable codecs() const noexcept { return format->traits().codecs.value_or(tables.codecs); }
};

/// The names of documents that the group at `location` may have next to its own; copies keep them unchanged.
[[nodiscard]] std::vector<std::string_view> side_documents(const NodeLocation& location);
/// Collections::holds_objects() and foreign_object_among() of the format of `location`.
[[nodiscard]] Result<bool> holds_objects(const NodeLocation& location);
[[nodiscard]] Result<std::optional<std::string>> foreign_object_among(const NodeLocation& location);

}  // namespace sherd
