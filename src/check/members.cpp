#include "check/members.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "netcdf/names.hpp"
#include "netcdf/note_forms.hpp"
#include "node/consolidated.hpp"
#include "node/path.hpp"

namespace sherd {

namespace {

constexpr std::string_view kCode = "member_list";

/// Whether the notes of a variable name different dimensions. Each release of netcdf-c reads one of them.
std::optional<std::string> difference_of(Json array) {
  const auto names = netcdf::lists_of_array(array, &netcdf::NoteForm::references);
  for (const Json* each : names)
    if (*each != *names.front())
      return "NCZarr's metadata differ: the dimensions are " + names.front()->dump() + " and " + each->dump() +
             "; each release of netcdf-c reads one of the two";
  return std::nullopt;
}

/// Whether the dimensions of a variable match its array. Otherwise netcdf-c cannot open the dataset.
std::vector<std::string> faults_of(const NodeDocument& node, const netcdf::DimensionsByName& dimensions) {
  netcdf::Warnings ignored;
  const netcdf::StoredNode stored{.path = {}, .name = {}, .document = node.document};
  const auto note = node.array ? array_note(stored, ignored) : std::nullopt;
  if (!note || note->scalar || note->dimensions.empty()) return {};
  const Shape& shape = node.array->shape;
  if (note->dimensions.size() != shape.size())
    return {"NCZarr's metadata name " + std::to_string(note->dimensions.size()) + " dimensions, and the array has " +
            std::to_string(shape.size())};
  std::vector<std::string> faults;
  if (auto difference = difference_of(node.document)) faults.push_back(*std::move(difference));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::string& name = note->dimensions[d];
    const auto found = dimensions.find(name);
    if (found == dimensions.end()) continue;  // anonymous ones need not be defined
    const netcdf::DimensionNote& dimension = found->second;
    if (shape[d] == dimension.length) continue;
    const bool grows = dimension.unlimited;  // then a writer finishes a growth that was cut short
    faults.push_back("the array is " + std::to_string(shape[d]) + " long along '" + name + "', whose " +
                     (grows ? "recorded length is " : "length is ") + std::to_string(dimension.length) +
                     "; netcdf-c does not open the dataset" +
                     (grows ? "; open it with edit_dataset (Writer::open) and sync it" : ""));
  }
  return faults;
}

/// What a group has in its notes of one form: dimensions and members, with the lengths of dimensions.
std::map<std::string, std::string> contents_in(const Json& group, const netcdf::NoteForm& form) {
  const Json& note = *netcdf::part_of(group, form.group_part, form.group);
  const auto read = netcdf::note_of_group(Json::Object{{form.group_part, Json::Object{{form.group, note}}}});
  std::map<std::string, std::string> contents;
  if (!read) return contents;
  for (const netcdf::DimensionNote& each : read->dimensions)
    contents.emplace("dimension '" + each.name + "'", " of length " + std::to_string(each.length));
  for (const netcdf::ListedMember& each : read->members)
    contents.emplace((each.type == NodeType::array ? "variable '" : "group '") + each.name + "'", "");
  return contents;
}

/// Where the notes in the first two of a group's forms differ. Each release of netcdf-c reads one of them.
std::vector<std::string> differences_of(const Json& group) {
  const auto forms = netcdf::forms_of(group);
  if (forms.size() < 2) return {};
  const auto first = contents_in(group, *forms[0]), second = contents_in(group, *forms[1]);
  const auto phrase = [](const netcdf::NoteForm& form, const std::string& what, const auto& contents) {
    const auto found = contents.find(what);
    return std::string(form.group_part) + " has " + (found != contents.end() ? "the " : "no ") + what +
           (found != contents.end() ? found->second : "");
  };
  auto all = first;
  all.insert(second.begin(), second.end());
  std::vector<std::string> differences;
  for (const auto& [what, ignored] : all) {
    if (first.contains(what) && second.contains(what) && first.at(what) == second.at(what)) continue;
    differences.push_back("NCZarr's metadata differ: " + phrase(*forms[0], what, first) + ", " +
                          phrase(*forms[1], what, second) + "; each release of netcdf-c reads one of the two");
  }
  return differences;
}

}  // namespace

void MemberLists::begin(const std::string& path, const Json& group) {
  const auto members = netcdf::listed_members(group);
  if (!members) return;
  auto list = std::make_unique<List>(format_.document_key(path, NodeType::group));
  for (const std::string& difference : differences_of(group)) list->findings.warning(kCode, {}, difference);
  for (const auto& [name, type] : *members) list->unmet.emplace(name, type);
  std::vector<netcdf::StoredGroup> groups;
  for (const std::string& above : ancestors(path))
    if (const auto found = groups_.find(above); found != groups_.end()) groups.push_back({above, found->second});
  const auto* consolidation = capability<Consolidation>(format_);
  groups.push_back({path, consolidation != nullptr ? consolidation->without_entries(group) : group});
  list->dimensions = netcdf::dimensions_of(groups);
  groups_.emplace(path, std::move(groups.back().document));
  lists_.emplace(path, std::move(list));
}

void MemberLists::met(const std::string& path, const NodeDocument* node) {
  const auto found = path.empty() ? lists_.end() : lists_.find(std::string(parent_path(path)));
  if (found == lists_.end()) return;
  List& list = *found->second;
  const std::string name(last_segment(path));
  if (node != nullptr) {
    std::vector<std::string> faults = faults_of(*node, list.dimensions);
    if (const auto fault = netcdf::fault_of_name(name))
      faults.push_back("netCDF does not allow the name '" + netcdf::shown_name(name) + "': " + *fault +
                       "; netcdf-c opens nothing of a dataset that lists it");
    for (const std::string& fault : faults)
      faults_.emplace_back(format_.document_key(path, node->type)).warning("member_metadata", {}, fault);
  }
  const auto listed = list.unmet.extract(name);
  if (node == nullptr || (!listed.empty() && listed.mapped() == node->type)) return;
  if (!listed.empty())
    list.findings.warning(kCode, {}, "NCZarr's list of members has '" + name + "' with another type");
  else if (netcdf::is_listed(name, *node)) {
    left_out_.insert(path);
    list.findings.warning(
        kCode, {},
        "NCZarr's list of members leaves out '" + name + "', so that programs that follow the list do not see it");
  }
}

void MemberLists::forget(const std::string& path) {
  if (const auto found = lists_.find(path); found != lists_.end()) found->second->unmet.clear();
}

// A group that is left out is one that a killed writer had not finished: nothing of the dataset is missing.
void MemberLists::end(CheckReport& report) {
  for (auto& [path, list] : lists_) {
    const bool is_left_out = std::ranges::any_of(
        left_out_, [&](const std::string& out) { return path == out || path.starts_with(out + "/"); });
    for (const auto& [name, type] : list->unmet) {
      const std::string text = "NCZarr's list of members has '" + name + "', which does not exist; ";
      if (is_left_out)
        list->findings.warning(kCode, {}, text + "no list has this group, so programs that follow lists do not see it");
      else
        list->findings.error(kCode, {}, text + "programs that follow the list may not open the dataset");
    }
    add_findings(report, list->findings);
  }
  for (Findings& each : faults_) add_findings(report, each);
}

}  // namespace sherd
