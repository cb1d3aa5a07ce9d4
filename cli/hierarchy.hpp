// Finds the hierarchy that a URL leads into.
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
  std::string root;              ///< the root as the user spelled it; empty if the path begins inside the hierarchy
};
/// Nullopt if the URL names the root of a hierarchy.
Result<std::optional<MemberPath>> find_member(const std::string& url, const Config& config);

/// Whether a dataset's `zarr.json` without members hides a group of Zarr v2; false if there is no node of Zarr.
Result<bool> hides_zarr2(const std::string& dataset, const Config& config);
/// Warns of such a group.
Result<void> note_hidden_group(Session& session, const Node& node);

}  // namespace sherd::cli
