#include "tools/check_members.hpp"

#include <algorithm>
#include <utility>

#include "array/consolidated.hpp"
#include "array/member_notes.hpp"
#include "store/key.hpp"

namespace sherd {

namespace {

constexpr std::string_view kCode = "member_list";

/// Whether the group's list can contain the node.
bool would_list(const MemberNotes& notes, const Json& group, const std::string& name, const NodeDocument& node) {
  if (!notes.lists(node)) return false;
  const auto members = notes.listed(notes.with_member(group, name, node.type));
  return members && std::ranges::find(*members, std::pair(name, node.type)) != members->end();
}

}  // namespace

void MemberLists::begin(const std::string& path, const Json& group) {
  const MemberNotes* const notes = notes_in(tables_, group);
  const auto members = notes != nullptr ? notes->listed(group) : std::nullopt;
  if (!members) return;
  auto list = std::make_unique<List>(format_.document_key(path, NodeType::group));
  list->notes = notes;
  for (const std::string& difference : notes->differences(group)) list->findings.warning(kCode, {}, difference);
  for (const auto& [name, type] : *members) list->unmet.emplace(name, type);
  std::vector<StoredGroup> groups;
  for (const std::string& above : ancestors(path))
    if (const auto found = groups_.find(above); found != groups_.end()) groups.push_back({above, found->second});
  const auto* consolidation = capability<Consolidation>(format_);
  groups.push_back({path, consolidation != nullptr ? consolidation->without_entries(group) : group});
  list->faults_of = notes->faults(groups);
  groups_.emplace(path, std::move(groups.back().document));
  lists_.emplace(path, std::move(list));
}

void MemberLists::met(const std::string& path, const NodeDocument* node) {
  const KeyParts parts = split_key(path);
  const std::string_view above = parts.prefix.substr(0, parts.prefix.empty() ? 0 : parts.prefix.size() - 1);
  const auto found = path.empty() ? lists_.end() : lists_.find(std::string(above));
  if (found == lists_.end()) return;
  List& list = *found->second;
  if (node != nullptr)
    for (const std::string& fault : list.faults_of(*node))
      faults_.emplace_back(format_.document_key(path, node->type)).warning("member_metadata", {}, fault);
  const std::string name(parts.name);
  const auto listed = list.unmet.extract(name);
  if (node == nullptr || (!listed.empty() && listed.mapped() == node->type)) return;
  const std::string whose(list.notes->name());
  if (!listed.empty())
    list.findings.warning(kCode, {}, whose + "'s list of members has '" + name + "' with another type");
  else if (would_list(*list.notes, groups_.at(found->first), name, *node))
    list.findings.warning(
        kCode, {},
        whose + "'s list of members leaves out '" + name + "', so that programs that follow the list do not see it");
}

void MemberLists::end(CheckReport& report) {
  for (auto& [path, list] : lists_) {
    for (const auto& [name, type] : list->unmet)
      list->findings.error(kCode, {},
                           std::string(list->notes->name()) + "'s list of members has '" + name +
                               "', which does not exist; programs that follow the list may not open the dataset");
    add_findings(report, list->findings);
  }
  for (Findings& each : faults_) add_findings(report, each);
}

}  // namespace sherd
