// Where the node of a URL is in its hierarchy, and what the metadata of its group say of it by its name.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/session.hpp"

namespace sherd::cli {

/// A node below the root of a hierarchy.
struct MemberPath {
  std::shared_ptr<Store> store;  ///< of the hierarchy
  std::string path;              ///< from its root, such as "labels/nuclei"
  std::string root;              ///< the root as the user wrote it; empty if the path begins inside the hierarchy
};
/// Nullopt for the root of a hierarchy.
Result<std::optional<MemberPath>> find_member(const std::string& url, const Config& config);

/// After a member of a group has been moved to the path `to` from the root or, without that, erased: the OME-NGFF
/// metadata of the group (resolutions, labels, images of a well) name it no longer, or by its new name.
Result<void> rename_in_metadata(Session& session, const MemberPath& member, const std::optional<std::string>& to);

}  // namespace sherd::cli
