// The stored nodes of a dataset. Their documents are read in one batch of requests per group, or all at once if the
// root's metadata are consolidated.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/lenient.hpp"
#include "base/recent.hpp"
#include "node/node_location.hpp"
#include "sherd/json.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// The objects of netcdf-c 4.8.0: the one that marks the root of a dataset, and those next to a node's documents.
inline constexpr std::string_view kSuperblockDocument = ".nczarr";
inline constexpr std::string_view kModelDocuments[] = {kSuperblockDocument, ".nczgroup", ".nczarray",
                                                       ".nczvar",           ".nczattr",  ".nczattrs"};
inline constexpr std::span kLegacyDocuments = std::span(kModelDocuments).subspan(1);

struct MadeArray;

/// A node as stored. Its metadata have the form of its format, so that it can be lowered.
struct StoredNode {
  std::string path;  ///< inside the store
  std::string name;
  NodeType type = NodeType::group;
  Json document;                       ///< for Zarr v2, an object of its documents by name
  Json legacy = Json(Json::Object{});  ///< the documents of netcdf-c 4.8.0 next to it, by name
  std::vector<DocumentVersion> versions = {};
  std::shared_ptr<MadeArray> made = {};  ///< what NodeReader::OnArray made of it

  /// A document of Zarr v2, such as `.zgroup`; nullptr if it belongs to another format or does not exist.
  [[nodiscard]] const Json* part(std::string_view name) const noexcept;
  /// An object.
  [[nodiscard]] const Json& attributes() const noexcept;
};

/// A member named in a group's metadata.
struct ListedMember {
  std::string name;
  NodeType type = NodeType::group;
  bool operator==(const ListedMember&) const = default;
};

using Warnings = std::vector<std::string>;

/// A document that was read.
struct Reply {
  std::string_view name;
  std::optional<LenientJson> json = {};
  sherd::Generation generation = {};
  std::optional<Error> fault = {};
};

/// Parses documents. Many variables of a dataset differ only in their attributes: the document of an array that is
/// equal to one of those parsed last is a copy. May be used by all threads.
class ParsedTexts {
 public:
  Result<LenientJson> parse(std::span<const std::byte> bytes, const Limits& limits);

 private:
  struct Parsed {
    std::string text;
    LenientJson json;
  };
  static constexpr std::size_t kLongest = 4096;

  Recent<Parsed, 4> parsed_;
};

class NodeReader {
 public:
  /// Determines the format, unless the location has one, and reads the root; not_found if there is no node.
  /// Consolidated metadata are not used if the location is writable.
  static Result<NodeReader> open(NodeLocation location, bool consolidated);

  [[nodiscard]] const StoredNode& root() const noexcept { return root_; }
  [[nodiscard]] const NodeLocation& location() const noexcept { return location_; }
  [[nodiscard]] bool is_v1() const noexcept { return v1_; }
  /// Whether the root has consolidated metadata.
  [[nodiscard]] bool is_consolidated() const noexcept { return consolidated_; }
  [[nodiscard]] const Warnings& warnings() const noexcept { return warnings_; }
  /// The members that were left out because of a fault; each has a warning.
  [[nodiscard]] const std::vector<Unread>& unread() const noexcept { return unread_; }
  /// Called on all threads for each array as soon as it is read, while its documents are in the processor's cache.
  using OnArray = std::function<void(StoredNode&)>;
  /// The members of a group: listed ones in the order of the list, then all others by name, each with a warning if
  /// there is a list. Members that cannot be read are left out, with a warning.
  Result<std::vector<StoredNode>> members(const StoredNode& group, const std::vector<ListedMember>* listed,
                                          const OnArray& on_array);

 private:
  NodeReader(NodeLocation location, bool consolidated)
      : location_(std::move(location)), may_use_consolidated_(consolidated) {}

  /// A node while it is being read.
  struct Member {
    StoredNode node = {};
    bool exists = false;
    std::vector<std::string> warnings = {};
    std::optional<Error> fault = {};

    /// Decides whether the member exists, and passes it on if it is an array. One that is damaged or unsupported is
    /// left out, with a warning; other errors are returned.
    Result<void> settle(const Result<bool>& found, const OnArray& on_array);
  };
  using ReadMember = std::function<Result<void>(std::size_t, Member&)>;

  Result<bool> read_root();
  void use_consolidated();
  /// The members that `read` finds; it is called for the position of each name, on all threads.
  Result<std::vector<StoredNode>> collect(const StoredNode& group, const std::vector<std::string>& names,
                                          const ReadMember& read);
  Result<std::vector<StoredNode>> from_entries(const StoredNode& group, const std::vector<std::string>& names,
                                               const OnArray& on_array);
  Result<std::vector<StoredNode>> from_store(const StoredNode& group, const std::vector<std::string>& names,
                                             const OnArray& on_array);
  /// Builds a node from its documents; false if it does not exist.
  Result<bool> add_documents(Member& member, std::vector<Reply> replies) const;
  Result<std::vector<std::string>> names_in(const StoredNode& group) const;
  void warn(const std::string& path, const std::string& what);
  void leave_out(const std::string& path, const Error& error);

  NodeLocation location_;
  bool may_use_consolidated_;
  std::unique_ptr<ParsedTexts> parsed_ = std::make_unique<ParsedTexts>();
  bool v1_ = false, consolidated_ = false;
  StoredNode root_;
  std::optional<std::map<std::string, Json>> entries_;        ///< of consolidated metadata, by paths from the root
  std::map<std::string, std::vector<std::string>> children_;  ///< the names of its entries, by the path of each group
  Warnings warnings_;
  std::vector<Unread> unread_;
  std::set<std::string, std::less<>> warned_;  ///< paths
};

}  // namespace sherd::netcdf
