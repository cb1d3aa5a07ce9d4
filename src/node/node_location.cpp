#include "node/node_location.hpp"

#include "base/text.hpp"

namespace sherd {

std::vector<std::string_view> side_documents(const NodeLocation& location) {
  std::vector<std::string_view> names;
  if (const auto* documents = capability<MemberDocuments>(*location.format))
    names.assign(documents->side_documents().begin(), documents->side_documents().end());
  if (!location.format->arrays_have_documents()) return names;
  for (const SideDocument& each : location.tables.side_documents)  // the name of a store's root is not known here
    if (location.path.empty() || last_segment(location.path) == each.group) names.push_back(each.name);
  return names;
}

Result<bool> holds_objects(const NodeLocation& location) {
  const auto* collections = capability<Collections>(*location.format);
  return collections != nullptr ? collections->holds_objects(location) : false;
}

Result<std::optional<std::string>> foreign_object_among(const NodeLocation& location) {
  const auto* collections = capability<Collections>(*location.format);
  return collections != nullptr ? collections->foreign_object_among(location) : std::optional<std::string>();
}

}  // namespace sherd
