// The stored nodes of a dataset: their documents in one batch of requests for each group, or all at once where the
// root's metadata are consolidated.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "array/state.hpp"
#include "base/lenient.hpp"
#include "sherd/json.hpp"

namespace sherd::netcdf {

/// The objects of netcdf-c 4.8.0: the one that marks the root of a dataset, and those next to a node's own documents.
inline constexpr std::string_view kSuperblockDocument = ".nczarr";
inline constexpr std::string_view kLegacyDocuments[] = {".nczgroup", ".nczarray", ".nczvar", ".nczattr", ".nczattrs"};

/// A node as it is stored. Its metadata are as its format has them, so that it can be lowered.
struct StoredNode {
  std::string path;  ///< inside the store
  std::string name;
  NodeType type = NodeType::group;
  Json document;                       ///< of Zarr v2 an object of its documents by their names
  Json legacy = Json(Json::Object{});  ///< the documents that netcdf-c 4.8.0 keeps next to it, by their names
  std::vector<DocumentVersion> versions = {};

  /// A document of Zarr v2, such as `.zgroup`; nullptr if it is another format's or does not exist.
  [[nodiscard]] const Json* part(std::string_view name) const noexcept;
  /// An object.
  [[nodiscard]] const Json& attributes() const noexcept;
  /// If `sherd copy` made this node from one in Zarr v2: what the copy keeps of the Zarr v2 documents. Otherwise
  /// nullptr.
  [[nodiscard]] const Json* kept_by_copy() const noexcept;
};

/// A member that a group's metadata name.
struct ListedMember {
  std::string name;
  NodeType type = NodeType::group;
};

using Warnings = std::vector<std::string>;

/// A document that was read.
struct Reply {
  std::string_view name;
  std::optional<LenientJson> json = {};
  sherd::Generation generation = {};
  std::optional<Error> fault = {};
};

class NodeReader {
 public:
  /// Finds out the format and reads the root; not_found if there is no node.
  static Result<NodeReader> open(NodeLocation location);

  [[nodiscard]] const StoredNode& root() const noexcept { return root_; }
  [[nodiscard]] const NodeLocation& location() const noexcept { return location_; }
  [[nodiscard]] bool is_v1() const noexcept { return v1_; }
  /// Whether the root has consolidated metadata; they are used unless the location is writable.
  [[nodiscard]] bool is_consolidated() const noexcept { return consolidated_; }
  [[nodiscard]] const Warnings& warnings() const noexcept { return warnings_; }
  /// The members of a group: those that are listed, in that order, then all others by name, each with a warning if
  /// there is a list. Members that cannot be read are left out, with a warning.
  Result<std::vector<StoredNode>> members(const StoredNode& group, const std::vector<ListedMember>* listed);

 private:
  explicit NodeReader(NodeLocation location) : location_(std::move(location)) {}

  /// A node while it is read.
  struct Member {
    StoredNode node = {};
    bool exists = false;
    std::vector<std::string> warnings = {};

    /// It exists or does not. One that is damaged or not supported is left out, with a warning; other errors are
    /// returned.
    Result<void> settle(const Result<bool>& found);
  };
  using ReadMember = std::function<Result<void>(std::size_t, Member&)>;

  Result<bool> read_root();
  void use_consolidated();
  /// The members that `read` finds; it is called for the position of each name, on all threads.
  Result<std::vector<StoredNode>> collect(const StoredNode& group, const std::vector<std::string>& names,
                                          const ReadMember& read);
  Result<std::vector<StoredNode>> from_entries(const StoredNode& group, const std::vector<std::string>& names);
  Result<std::vector<StoredNode>> from_store(const StoredNode& group, const std::vector<std::string>& names);
  /// Makes a node of its documents; false if it does not exist.
  Result<bool> add_documents(Member& member, std::vector<Reply> replies) const;
  /// Those that nodes can have, each once; there is a warning for each of the others.
  std::vector<std::string> usable_names(const StoredNode& group, const std::vector<ListedMember>& listed);
  Result<std::vector<std::string>> names_in(const StoredNode& group) const;
  void warn(const std::string& path, const std::string& what);

  NodeLocation location_;
  bool v1_ = false, consolidated_ = false;
  StoredNode root_;
  std::optional<std::map<std::string, Json>> entries_;        ///< of consolidated metadata, by paths from the root
  std::map<std::string, std::vector<std::string>> children_;  ///< the names of its entries, by the path of each group
  Warnings warnings_;
  std::set<std::string, std::less<>> warned_;  ///< paths
};

}  // namespace sherd::netcdf
