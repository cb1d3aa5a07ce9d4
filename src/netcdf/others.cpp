// Variables that others have made while a writer was open. netcdf-c opens nothing of a dataset with a variable that is
// shorter than its unlimited dimension, so these grow with it like those that the writer knows.
#include <map>

#include "array/core.hpp"
#include "array/document.hpp"
#include "array/hierarchy.hpp"
#include "array/resize.hpp"
#include "base/try.hpp"
#include "netcdf/model.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/writer.hpp"

namespace sherd::netcdf {

namespace {

/// By the full names of dimensions.
using GrownLengths = std::map<std::string, std::uint64_t, std::less<>>;

Result<void> grow_array(NodeLocation location, const GrownLengths& lengths) {
  const auto found = find_node(std::move(location));
  if (!found && !is_stored_fault(found.error())) return found.error();
  const auto* array = found && *found ? std::get_if<Array>(&**found) : nullptr;
  if (array == nullptr) return {};
  Warnings ignored;
  const auto note = array_note({.path = {}, .name = {}, .document = array->state().document().document}, ignored);
  const Shape old = array->shape();
  if (!note || note->dimensions.size() != old.size()) return {};
  Shape now = old;
  for (std::size_t d = 0; d < old.size(); ++d)
    if (const auto grown = lengths.find(note->dimensions[d]); grown != lengths.end())
      now[d] = std::max(now[d], grown->second);
  return now != old ? resize_from(*array, old, now) : Result<void>();
}

/// `known` is what the writer knows of the group at `path`; nullptr if others have made it.
Result<void> grow_members(const Form& form, const std::string& path,  // NOLINT(misc-no-recursion)
                          const GroupDefinition* known, const GrownLengths& lengths, std::size_t depth) {
  const NodeLocation location = form.at(path);
  SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
  const auto note = node && node->type == NodeType::group ? note_of_group(node->document) : std::nullopt;
  if (!note || depth > kMaxGroupDepth) return {};
  for (const ListedMember& each : note->members) {
    const std::string below = member_path(path, each.name);
    if (each.type == NodeType::group) {
      const GroupDefinition* next = nullptr;
      for (std::size_t i = 0; known != nullptr && next == nullptr && i < known->groups.size(); ++i)
        if (known->groups[i]->name == each.name) next = known->groups[i].get();
      SHERD_TRY(grow_members(form, below, next, lengths, depth + 1));
    } else if (known == nullptr || !known->has_member(each.name)) {
      SHERD_TRY(grow_array(form.at(below), lengths).in([&] { return below; }));
    }
  }
  return {};
}

}  // namespace

Result<void> grow_others(const Form& form, const GroupDefinition& group) {
  GrownLengths lengths;
  for (const auto& each : group.dimensions)
    if (each->noted && each->noted != each->length) lengths.emplace(member_path(group.path, each->name), each->length);
  return lengths.empty() ? Result<void>() : grow_members(form, group.path, &group, lengths, 0);
}

}  // namespace sherd::netcdf
