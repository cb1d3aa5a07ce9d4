// Describes a node, as text and as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sherd/group.hpp"

namespace sherd::cli {

/// The members of `info --json` except `stored`.
[[nodiscard]] Json describe(const Node& node);
/// What describe() returns, as rows of a label and its values.
[[nodiscard]] std::vector<std::vector<std::string>> describe_rows(const Node& node);
/// "(301, 370, 316) uint8".
[[nodiscard]] std::string summary(const Array& array);
/// "uint8", "numpy.datetime64[ns]", "struct".
[[nodiscard]] std::string dtype_text(const DType& dtype);
[[nodiscard]] std::string_view type_name(NodeType type) noexcept;

/// The direct members in display order: the scales of a volume from finest to coarsest, anything else by name.
Result<std::vector<std::pair<std::string, NodeType>>> shown_members(const Group& group);

/// Calls `visit(name, node or error)` for each direct member, in display order. A member that cannot be opened does not
/// hide the others.
Result<void> for_each_member(const Group& group,
                             const std::function<Result<void>(const std::string&, NodeType, Result<Node>)>& visit);

}  // namespace sherd::cli
