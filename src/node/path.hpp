// Paths of nodes: relative to the store, without leading and trailing `/`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/node_location.hpp"

namespace sherd {

/// The path without leading, trailing and doubled `/`; `.` and `..` segments are invalid_argument.
[[nodiscard]] Result<std::string> normal_path(std::string_view path);
/// The path of `name` below `path`; either may be empty.
[[nodiscard]] std::string join_path(const std::string& path, std::string_view name);
/// The relative path from a group to a node below it; nullopt if `path` is not below the group.
[[nodiscard]] std::optional<std::string_view> path_from(std::string_view group, std::string_view path) noexcept;
/// The paths of the groups that contain a node, the root first.
[[nodiscard]] std::vector<std::string> ancestors(const std::string& path);
/// Another path in the same store.
[[nodiscard]] NodeLocation at_path(const NodeLocation& location, std::string path);

}  // namespace sherd
