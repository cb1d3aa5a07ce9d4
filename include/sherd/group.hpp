// Groups and the hierarchy: open and create nodes, list members, edit attributes, consolidate metadata.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sherd/array.hpp"

namespace sherd {

/// `unknown` is a member whose document cannot be read or understood; opening it says why.
enum class NodeType : std::uint8_t { array, group, unknown };

class Group;
using Node = std::variant<Array, Group>;

/// How a node is opened.
struct OpenOptions {
  /// Below the store's root. A URL's own path names that root, so "data/a.zarr/b" and "data/a.zarr" with the path "b"
  /// are the same node.
  std::string path = {};
  bool writable = false;
  std::string format = {};  ///< such as "zarr3"; empty: the first that knows the node
  Config config = {};
  std::uint64_t scale = 0;  ///< of a precomputed volume: which resolution open_array() opens, counted from the finest
};

/// A node is what its own document says. Consolidated metadata, where a group that is opened for reading only has any,
/// spare the documents of a listing; every edit through Sherd renews those of all groups around the node.
class SHERD_API Group {
 public:
  /// An internal representation; see src/array.
  struct State;
  explicit Group(std::shared_ptr<State> state);

  [[nodiscard]] const std::string& path() const noexcept;
  [[nodiscard]] const std::shared_ptr<Store>& store() const noexcept;
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::string_view format() const noexcept;
  [[nodiscard]] bool read_only() const noexcept;
  [[nodiscard]] Json attributes() const;
  [[nodiscard]] Json metadata() const;
  [[nodiscard]] const Config& config() const noexcept;
  /// Replaces all attributes in one atomic write.
  Result<void> set_attributes(const Json& attributes);
  /// Removes the attributes that `remove` names and sets the members of `set`, of which null is a value like any other,
  /// in one atomic write. All others stay as the store has them now. Gives how many of those to remove were there.
  Result<std::uint64_t> update_attributes(const Json& set, std::span<const std::string> remove = {});

  /// Names and types of the direct members, sorted by name. What has no document of its own is not a member; one whose
  /// document is broken is listed as `unknown` beside the others.
  [[nodiscard]] Result<std::vector<std::pair<std::string, NodeType>>> members() const;
  /// The node at `path` below this group; not_found where there is none.
  [[nodiscard]] Result<Node> open(std::string_view path) const;
  [[nodiscard]] Result<bool> contains(std::string_view path) const;
  /// Erases a member and all below it; not_found where there is none.
  Result<void> erase(std::string_view path);
  /// Makes a group or an array below this one; missing groups on the way are made too. What already stands there is
  /// `conflict` unless overwritten, which erases it and its members; a file below that is no part of them is `conflict`
  /// even then.
  Result<Group> create_group(std::string_view path, const Json& attributes = {}, bool overwrite = false);
  Result<Array> create_array(std::string_view path, const CreateOptions& options);
  /// Writes the metadata of every node below into this group's document, from where later edits keep them true.
  Result<void> consolidate();

 private:
  std::shared_ptr<State> state_;
};

/// Opens what stands at a path or URL, or in a store.
SHERD_API Result<Node> open(std::string_view url, const OpenOptions& options = {});
SHERD_API Result<Node> open(std::shared_ptr<Store> store, const OpenOptions& options = {});
SHERD_API Result<Array> open_array(std::string_view url, const OpenOptions& options = {});
SHERD_API Result<Array> open_array(std::shared_ptr<Store> store, const OpenOptions& options = {});
SHERD_API Result<Group> open_group(std::string_view url, const OpenOptions& options = {});
SHERD_API Result<Group> open_group(std::shared_ptr<Store> store, const OpenOptions& options = {});

/// Makes an array or a group; what already stands there is `conflict` unless overwritten. `path` is inside the store,
/// and missing groups on the way from the store's root to it are made too. A URL lies in the hierarchy of the nearest
/// node above it or, where there is none, in one that begins at the nearest directory called *.zarr: missing groups on
/// the way from there are made too, and the names on it must be lawful ones. Elsewhere the node stands on its own.
/// A place inside an array is `conflict`, and so is, for arrays, one where objects stand that are no node.
/// `format` is that of the hierarchy where it is empty, and zarr3 where there is none yet.
SHERD_API Result<Array> create_array(std::string_view url, const CreateOptions& options);
SHERD_API Result<Array> create_array(std::shared_ptr<Store> store, std::string_view path, const CreateOptions& options);
SHERD_API Result<Group> create_group(std::string_view url, const Json& attributes = {}, bool overwrite = false,
                                     const Config& config = {}, const std::string& format = {});
SHERD_API Result<Group> create_group(std::shared_ptr<Store> store, std::string_view path, const Json& attributes = {},
                                     bool overwrite = false, const Config& config = {}, const std::string& format = {});

}  // namespace sherd
