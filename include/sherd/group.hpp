// Groups and the hierarchy: open and create nodes, list members, edit attributes, consolidate metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

/// `unknown` is a member whose document cannot be read or understood; opening it returns the reason.
enum class NodeType : std::uint8_t { array, group, unknown };

class Group;
struct NodeLocation;  ///< an internal representation; see src/array
using Node = std::variant<Array, Group>;

/// How a node is opened.
struct OpenOptions {
  /// Below the store's root. A URL's own path names that root, so "data/a.zarr/b" and "data/a.zarr" with the path "b"
  /// are the same node.
  std::string path = {};
  bool writable = false;
  std::string format = {};  ///< such as "zarr3"; empty: the first format that recognizes the node
  Config config = {};
  std::uint64_t scale = 0;  ///< of a precomputed volume: the resolution that open_array() opens, 0 being the finest
};

/// A node is described by its own document. A group opened for reading only lists its members from its consolidated
/// metadata, if present, instead of reading their documents. Every edit through Sherd updates the consolidated metadata
/// of all groups that contain the node. If the store cannot list, members and their documents come from the
/// consolidated metadata.
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
  /// Removes the attributes named in `remove` and sets the members of `set`, where null is an ordinary value, in one
  /// atomic write. Other attributes keep their stored values. Returns the number of attributes removed.
  Result<std::uint64_t> update_attributes(const Json& set, std::span<const std::string> remove = {});

  /// Names and types of the direct members, sorted by name. A directory without a document is not a member; one
  /// whose document is damaged is listed as `unknown`. `unsupported` if the store cannot list, and neither consolidated
  /// metadata nor those of OME-NGFF name members of this group.
  [[nodiscard]] Result<std::vector<std::pair<std::string, NodeType>>> members() const;
  /// The node at `path` below this group; not_found if it does not exist.
  [[nodiscard]] Result<Node> open(std::string_view path) const;
  /// Opens several members and calls `visit` with each node, or with the error of open(), in the order of `names`.
  /// Documents are read together if requests have latency. A failure of `visit` ends the call with that failure.
  Result<void> open_all(std::span<const std::string> names,
                        const std::function<Result<void>(std::size_t i, Result<Node> node)>& visit) const;
  [[nodiscard]] Result<bool> contains(std::string_view path) const;
  /// Erases a member and everything below it, and its entries in OME-NGFF metadata; not_found if it does not exist.
  Result<void> erase(std::string_view path);
  /// Moves the member at `path`, with everything below it, to `to`: a path below this group or, if it begins with `/`,
  /// below the root. Missing groups are created. Waits for active writers. `unsupported` if the store cannot move it in
  /// one step, also because of a link or another file system: copy it, then erase it. not_found if it does not
  /// exist; `conflict` if anything exists at `to`. OME-NGFF metadata of its former group get the new name, or no longer
  /// list it; a label image that is moved to IMAGE/labels/NAME is listed there.
  Result<void> move(std::string_view path, std::string_view to);
  /// Creates a group or an array below this one, and missing groups on the path. An existing node is a `conflict`
  /// unless `overwrite` is set, which erases it and its members. A foreign file below it is a `conflict` even
  /// then.
  Result<Group> create_group(std::string_view path, const Json& attributes = {}, bool overwrite = false);
  Result<Array> create_array(std::string_view path, const CreateOptions& options);
  /// Begins a stream that appends to arrays below this group, as many slices to each, along axes of one dimension.
  /// Shorter arrays are first extended to the length of the longest, as an unlimited dimension has one length.
  /// `conflict` if another appender of one of the arrays is open.
  [[nodiscard]] Result<Appender> appender(const std::vector<AppendedArray>& arrays,
                                          const AppenderOptions& options = {}) const;
  /// Store::finish() of the store.
  Result<void> finish();
  /// Writes the metadata of all nodes below into this group's document; later edits keep it up to date.
  Result<void> consolidate();

  [[nodiscard]] const State& state() const noexcept { return *state_; }

 private:
  /// The location of the member at `path`, which need not exist. invalid_argument if this group is read-only.
  [[nodiscard]] Result<NodeLocation> writable_below(std::string_view path) const;
  std::shared_ptr<State> state_;
};

/// Opens the node at a path or URL, or in a store.
SHERD_API Result<Node> open(std::string_view url, const OpenOptions& options = {});
SHERD_API Result<Node> open(std::shared_ptr<Store> store, const OpenOptions& options = {});
SHERD_API Result<Array> open_array(std::string_view url, const OpenOptions& options = {});
SHERD_API Result<Array> open_array(std::shared_ptr<Store> store, const OpenOptions& options = {});
SHERD_API Result<Group> open_group(std::string_view url, const OpenOptions& options = {});
SHERD_API Result<Group> open_group(std::shared_ptr<Store> store, const OpenOptions& options = {});

/// Creates an array or a group; an existing node is a `conflict` unless overwritten. `path` is inside the store, and
/// missing groups between the store's root and it are created. A node at a URL belongs to the hierarchy of the nearest
/// node above it or, without one, to a hierarchy that begins at the nearest directory named *.zarr; missing groups in
/// between are created, and their names must be valid. Otherwise the node is standalone. A path inside an array is a
/// `conflict`; so is, for arrays, a path that contains foreign objects. Default `format`: that of the hierarchy, or
/// zarr3 if there is none yet.
SHERD_API Result<Array> create_array(std::string_view url, const CreateOptions& options);
SHERD_API Result<Array> create_array(std::shared_ptr<Store> store, std::string_view path, const CreateOptions& options);
SHERD_API Result<Group> create_group(std::string_view url, const Json& attributes = {}, bool overwrite = false,
                                     const Config& config = {}, const std::string& format = {});
SHERD_API Result<Group> create_group(std::shared_ptr<Store> store, std::string_view path, const Json& attributes = {},
                                     bool overwrite = false, const Config& config = {}, const std::string& format = {});

/// Erases the node at a path or URL, or in a store, and everything below it. Waits for active writers. An interrupted
/// call can be repeated. `not_found` if there is no node; `unsupported` if the store cannot list; `conflict`, before
/// anything is erased, if there are foreign objects below it. Chunks below damaged metadata count as foreign, so a
/// damaged node is erased only if it has no objects.
SHERD_API Result<void> erase(std::string_view url, const OpenOptions& options = {});
SHERD_API Result<void> erase(std::shared_ptr<Store> store, const OpenOptions& options = {});

/// Renames the node at a path or URL, or in a store, with Group::move() of the group that contains it. `to` is a path
/// below that group or, if it begins with `/`, below the root of the hierarchy. `invalid_argument` if the node is the
/// root of its store: rename its directory instead. OME-NGFF metadata of the containing group, such as those of an
/// image, are updated. Other references to the node by its path are not changed.
SHERD_API Result<void> rename(std::string_view url, std::string_view to, const OpenOptions& options = {});
SHERD_API Result<void> rename(std::shared_ptr<Store> store, std::string_view to, const OpenOptions& options = {});

}  // namespace sherd
