// NCZarr's metadata of nodes that are created, moved and erased as Zarr nodes. Each group shows where the notes of its
// generation are: in `.zgroup` and `.zarray`, in attributes, or, for readers of several generations, in both. Nodes
// that netcdf-c cannot open are not listed, because it cannot open a dataset that lists one.
#include "netcdf/member_notes.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/try.hpp"
#include "format/zarr2.hpp"
#include "format/zarr_common.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/model.hpp"
#include "netcdf/names.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/type.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"
#include "node/path.hpp"

namespace sherd::netcdf {

namespace {

bool in_upper_case(const NoteForm& form) { return form.group[1] == 'N'; }

Json& attributes_of(Json& document) { return object_in(document, attributes_part(document)); }

StoredNode stored(const Json& document) { return {.path = {}, .name = {}, .document = document}; }

GroupNote group_note_of(const Json& document) { return note_of_group(document).value_or(GroupNote{}); }

void remove_name(Json& list, const std::string& name) {
  if (!list.is_array()) return;
  Json::Array others;
  for (const Json& each : list.elements())
    if (each.text() != name) others.push_back(each);
  if (others.size() != list.size()) list = Json(std::move(others));
}

/// How many of the groups, which lead from the root of a store to one, belong to the dataset of the last.
std::size_t depth_in(std::span<const StoredGroup> groups) {
  std::size_t depth = 0;
  while (depth < groups.size()) {
    const Json& document = groups[groups.size() - 1 - depth].document;
    if (forms_of(document).empty()) break;
    ++depth;
    if (std::ranges::any_of(forms_for(document), [&](const NoteForm& form) {
          return part_of(document, form.group_part, form.superblock) != nullptr;
        }))
      break;
  }
  return depth;
}

/// The groups of one dataset, and the dimensions defined in their metadata.
class Scope {
 public:
  /// `groups` lead from the root of a store to the group of a new member.
  explicit Scope(std::span<StoredGroup> groups) : groups_(groups.last(depth_in(groups))) {}

  /// The full name of the nearest dimension with this name and length. An unknown one is defined in the last group,
  /// with another name if the group has one of different length.
  std::string refer(const std::optional<std::string>& name, std::uint64_t length) {
    if (name)
      if (const auto found = find(*name, length)) return *found;
    std::string wanted = name && !fault_of_name(*name) ? *name : anonymous(length);
    if (const auto found = find(wanted, length)) return *found;
    while (defines(wanted)) {
      if (wanted == anonymous(length) || wanted.ends_with('_'))
        wanted += '_';
      else
        wanted = anonymous(length);
      if (const auto found = find(wanted, length)) return *found;
    }
    define(wanted, length);
    return full_name(groups_.size() - 1, wanted);
  }

  /// All dimensions by their full names.
  [[nodiscard]] DimensionsByName dimensions() const {
    DimensionsByName all;
    for (std::size_t i = 0; i < groups_.size(); ++i)
      for (DimensionNote& each : group_note_of(groups_[i].document).dimensions) {
        std::string name = full_name(i, each.name);
        all.emplace(std::move(name), std::move(each));
      }
    return all;
  }

 private:
  static std::string anonymous(std::uint64_t length) { return "_Anonymous_Dim_" + std::to_string(length); }

  [[nodiscard]] std::string full_name(std::size_t group, const std::string& name) const {
    const auto below = path_from(groups_.front().path, groups_[group].path);
    return member_path(below ? "/" + std::string(*below) : "/", name);
  }
  [[nodiscard]] std::optional<std::string> find(const std::string& name, std::uint64_t length) const {
    for (std::size_t i = groups_.size(); i-- > 0;)
      for (const DimensionNote& each : group_note_of(groups_[i].document).dimensions)
        if (each.name == name && each.length == length) return full_name(i, name);
    return std::nullopt;
  }
  [[nodiscard]] bool defines(const std::string& name) const {
    const auto dimensions = group_note_of(groups_.back().document).dimensions;
    return std::ranges::find(dimensions, name, &DimensionNote::name) != dimensions.end();
  }
  void define(const std::string& name, std::uint64_t length) {
    Json& document = groups_.back().document;
    for (const NoteForm* form : forms_of(document)) {
      Json& note = *part_of(document, form->group_part, form->group);
      object_in(note, form->dimensions).set(name, length);
    }
  }

  std::span<StoredGroup> groups_;
};

/// The names of an array's dimensions: those of the dataset it comes from, or its own.
std::vector<std::optional<std::string>> names_of(const NodeDocument& node, const std::optional<ArrayNote>& note) {
  std::vector<std::optional<std::string>> names = node.array->dimension_names;
  if (note && note->dimensions.size() == node.array->shape.size()) {
    names.clear();
    for (const std::string& each : note->dimensions) names.emplace_back(each.substr(each.rfind('/') + 1));
  }
  names.resize(node.array->shape.size());
  return names;
}

/// Notes the types of all attributes; existing notes are kept.
void note_types(Json& document, bool upper) {
  const StoredNode node = stored(document);
  const AttributeNotes notes = attribute_notes(node);
  Json& attributes = attributes_of(document);
  Json types{Json::Object{}};
  for (const auto& [name, json] : std::as_const(attributes).members()) {
    if (is_hidden_attribute(name)) continue;
    const std::string* noted = notes.type_of(name);
    types.set(name, noted != nullptr ? *noted : attribute_type_name(inferred_values(json)));
  }
  const char* member = upper ? "_NCZARR_ATTR" : kTypesNote;
  for (const char* other : {kTypesNote, "_NCZARR_ATTR", "_nczarr_attrs"}) attributes.erase(other);
  attributes.set(member, Json::Object{{"types", std::move(types)}});  // last, as readers of 4.9.1 expect
}

void erase_notes(Json& document) {
  for (const NoteForm& form : forms_for(document))
    for (const char* part : {form.group_part, form.array_part})
      if (Json* found = document.find(part); found != nullptr && found->is_object())
        for (const char* note : {form.group, form.array, form.superblock}) found->erase(note);
  attributes_of(document).erase("_NCProperties");
}

Json noted_array(std::span<StoredGroup> groups, const NodeDocument& node) {
  Json document = node.document;
  Warnings ignored;
  const auto note = array_note(stored(document), ignored);
  const Shape& shape = node.array->shape;
  const bool scalar = shape.empty() || (note && note->scalar && shape == Shape{1});
  const auto forms = forms_of(groups.back().document);
  std::vector<std::string> references;
  Json::Array names;
  Scope scope(groups);
  const auto wanted = names_of(node, note);
  for (std::size_t d = 0; d < shape.size() && !scalar; ++d) {
    references.push_back(scope.refer(wanted[d], shape[d]));
    names.emplace_back(references.back().substr(references.back().rfind('/') + 1));
  }
  const ArrayNote made{std::move(references), scalar, note && note->characters, note && note->no_fill};
  erase_notes(document);
  const auto set_note = [&](const NoteForm& form) {
    Json& part = in_attributes(form) ? attributes_of(document) : *document.find(form.array_part);
    part.set(form.array, array_note_json(form, made));
  };
  for (const NoteForm* form : forms) set_note(*form);
  // 4.9.3 and later look for this note about scalars only in attributes.
  if (scalar && forms.size() == 1 && !in_attributes(*forms.front())) set_note(attribute_form(false));
  if (is_v3(document) && !scalar) document.set("dimension_names", Json(names));
  if (!is_v3(document)) {
    if (names.empty()) names.emplace_back("_scalar_");
    attributes_of(document).set(kNamesAttribute, Json(std::move(names)));
  }
  note_types(document, in_upper_case(*forms.front()));
  return document;
}

/// A group, which keeps the dimensions that it defines, and of its list what is among its `members`, if these are
/// known.
Json noted_group(const Json& parent, const NodeDocument& node, const std::optional<Members>& members) {
  Json document = node.document;
  GroupNote note = group_note_of(document);
  if (members)
    std::erase_if(note.members, [&](const ListedMember& each) {
      return std::ranges::find(*members, std::pair(each.name, each.type)) == members->end();
    });
  erase_notes(document);
  for (const NoteForm* form : forms_of(parent)) {
    Json& part = in_attributes(*form) ? attributes_of(document) : *document.find(form->group_part);
    part.set(form->group, group_note_json(*form, note));
  }
  note_types(document, in_upper_case(*forms_of(parent).front()));
  return document;
}

/// Whether netcdf-c supports the type, and chunks of this order and size.
bool is_readable(const Json& array, const ArraySpec& spec) {
  const Json* dtype = array.find("dtype");
  const Json* order = array.find("order");
  const auto* grid = std::get_if<RegularGrid>(&spec.grid);
  if (dtype == nullptr || !dtype->is_string() || dtype->text().size() < 3 || grid == nullptr) return false;
  constexpr std::string_view names[] = {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"};
  const std::string_view name = std::string_view(dtype->text()).substr(1);
  if (name.front() != 'S' && std::ranges::find(names, name) == std::end(names)) return false;
  if (spec.shape.empty() || (order != nullptr && order->text() == "F")) return false;
  for (std::size_t d = 0; d < spec.shape.size(); ++d)
    if (grid->chunk_shape[d] > std::max<std::uint64_t>(spec.shape[d], 1)) return false;
  return true;
}
/// The metadata of a node as a member of the last of `groups`, which are around it, outermost first. What the node
/// refers to is added to the metadata of that group.
Json noted(std::span<StoredGroup> groups, const NodeDocument& node, const std::optional<Members>& members) {
  if (forms_of(groups.back().document).empty()) return node.document;
  return node.type == NodeType::array ? noted_array(groups, node) : noted_group(groups.back().document, node, members);
}

/// The group's metadata with this member in the list; without a type, with no member of this name.
Json with_member(Json group, const std::string& member, std::optional<NodeType> type) {
  for (const NoteForm* form : forms_of(group)) {
    Json& note = *part_of(group, form->group_part, form->group);
    for (const auto& [list, of] :
         {std::pair(form->arrays, NodeType::array), std::pair(form->groups, NodeType::group)}) {
      if (type == of)
        add_name(note, list, member);
      else if (Json* names = note.find(list))
        remove_name(*names, member);
    }
  }
  return group;
}

Result<std::optional<NodeDocument>> open(const NodeLocation& location) {
  return location.format->open(*location.store, location.path, location.config.limits);
}

NodeLocation group_around(const NodeLocation& node) { return at_path(node, std::string(parent_path(node.path))); }

/// The metadata of the group at `location`; null if there is no readable group.
Result<Json> group_at(const NodeLocation& location) {
  auto node = open(location);
  if (!node && !is_stored_fault(node.error())) return std::move(node).error();
  if (!node || !*node || (*node)->type != NodeType::group) return Json();
  return std::move((*node)->document);
}

/// A node as seen from the outermost store; nullopt if the group around it keeps no list. `around` is the metadata of
/// that group, if they have been read.
Result<std::optional<NodeLocation>> find_listed(const NodeLocation& location, const Json* around = nullptr) {
  if (around != nullptr && forms_of(*around).empty()) return std::optional<NodeLocation>();
  NodeLocation node = location;
  if (node.path.empty()) {
    SHERD_TRY(outer, from_around(location));
    if (!outer) return std::optional<NodeLocation>();
    node = *std::move(outer);
  }
  SHERD_TRY(group, group_at(group_around(node)));
  if (forms_of(group).empty()) return std::optional<NodeLocation>();
  SHERD_TRY(outermost, from_outermost(std::move(node)));
  return std::optional(std::move(outermost));
}

/// The groups around a node of a store, outermost first.
Result<std::vector<StoredGroup>> groups_around(const NodeLocation& node) {
  std::vector<StoredGroup> groups;
  for (std::string& path : ancestors(node.path)) {
    SHERD_TRY(document, group_at(at_path(node, path)));
    groups.push_back({std::move(path), std::move(document)});
  }
  return groups;
}

/// Changes a node's metadata, including the copy in its own consolidated metadata.
Result<NodeDocument> edit(const NodeLocation& node, NodeType type, const DocumentEdit& change) {
  return edit_document(node, type, [&](const NodeDocument& now) -> Result<Json> {
    SHERD_TRY(next, change(now));
    auto entries =
        type == NodeType::group && next != now.document ? consolidated_entries(*node.format, next) : std::nullopt;
    if (!entries) return next;
    return capability<Consolidation>(*node.format)->with_entries(std::move(next), *std::move(entries));
  });
}

/// Lists a node in the last of `groups`, which are around it, outermost first, if it is stored and netcdf-c can open
/// it; otherwise removes it from the list. A node that was made has the notes of a member, and so everything below it.
Result<void> update(const NodeLocation& node, std::vector<StoredGroup> groups,  // NOLINT(misc-no-recursion)
                    MemberChange change) {
  const std::string name(last_segment(node.path));
  std::optional<NodeDocument> made;
  std::optional<Members> members;
  SHERD_TRY(edit(group_around(node), NodeType::group, [&](const NodeDocument& group) -> Result<Json> {
    made.reset();
    members.reset();
    SHERD_TRY(present, change == MemberChange::leaving ? std::optional<NodeDocument>() : open(node));
    if (!present || !is_listed(name, *present)) return with_member(group.document, name, std::nullopt);
    if (change == MemberChange::renamed) return with_member(group.document, name, present->type);
    if (present->type == NodeType::group && node.store->traits().can_list) {
      SHERD_TRY(found, members_of(node));
      members = std::move(found);
    }
    SHERD_TRY(stored, edit(node, present->type, [&](const NodeDocument& now) -> Result<Json> {
                groups.back().document = group.document;
                return noted(groups, now, members);
              }));
    made = std::move(stored);
    return with_member(groups.back().document, name, made->type);
  }));
  if (!made || !members) return {};
  groups.push_back({node.path, std::move(made->document)});
  for (const auto& [member, type] : *members)
    SHERD_TRY(update(at_path(node, join_path(node.path, member)), groups, change));
  return {};
}

}  // namespace

std::optional<std::vector<ListedMember>> listed_members(const Json& group) {
  if (forms_of(group).empty()) return std::nullopt;
  return group_note_of(group).members;
}

bool is_listed(std::string_view name, const NodeDocument& node) {
  if (node.implicit || fault_of_name(name)) return false;
  if (!node.array) return node.type == NodeType::group;
  if (const Json* array = node.document.find(zarr2::kArray)) return is_readable(*array, *node.array);
  return is_v3(node.document) && variable_type(node.array->dtype, false).has_value();
}

DimensionsByName dimensions_of(std::span<StoredGroup> groups) { return Scope(groups).dimensions(); }

Json without_member(Json group, const std::string& member) {
  return with_member(std::move(group), member, std::nullopt);
}

std::vector<std::string> dimension_names(const NodeDocument& array) {
  Warnings ignored;
  auto note = array_note(stored(array.document), ignored);
  if (!note) return {};
  for (std::string& name : note->dimensions) name.erase(0, name.rfind('/') + 1);
  return std::move(note->dimensions);
}

Result<std::optional<std::string>> left_out_of_copies(const NodeLocation& location, const Json& node) {
  std::vector<std::string_view> names;
  if (node.find(zarr2::kArray) != nullptr)
    names = {".nczarray", ".nczvar"};
  else if (node.find(zarr2::kGroup) != nullptr && forms_of(node).empty())
    names = {".nczgroup"};
  for (const std::string_view name : names) {
    const std::string key = join_path(location.path, name);
    SHERD_TRY(found, location.store->open(key).in_key(key));
    if (found != nullptr)
      return std::optional("documents of NCZarr, such as " + key +
                           ", are not part of the copy: the names of dimensions and the types of attributes; sherd "
                           "nccopy (in Python sherd.netcdf.copy) copies them, too");
  }
  return std::optional<std::string>();
}

Result<std::optional<NodeLocation>> dataset_around(const NodeLocation& group) {
  SHERD_TRY(document, group_at(group));
  if (forms_of(document).empty()) return std::optional<NodeLocation>();
  SHERD_TRY(outermost, from_outermost(group));
  SHERD_TRY(groups, groups_around(outermost));
  groups.push_back({outermost.path, std::move(document)});
  return std::optional(at_path(outermost, groups[groups.size() - depth_in(groups)].path));
}

Result<void> note_planned_members(const NodeLocation& location,
                                  std::span<const std::pair<std::string, NodeDocument*>> nodes) {
  SHERD_TRY(listed, find_listed(location));
  if (!listed) return {};
  SHERD_TRY(outer, groups_around(*listed));
  std::map<std::string, NodeDocument*, std::less<>> planned;
  for (const auto& [path, node] : nodes) {
    const std::string full_path = join_path(listed->path, path), name(last_segment(full_path));
    std::vector<StoredGroup> groups = outer;
    if (!path.empty())
      for (const std::string& each : ancestors(path))
        groups.push_back({join_path(listed->path, each), planned[each] ? planned[each]->document : Json()});
    if (!is_listed(name, *node)) continue;
    planned[path] = node;
    Json made = noted(groups, *node, Members());
    if (NodeDocument* const group = path.empty() ? nullptr : planned[std::string(parent_path(path))])
      group->document = with_member(std::move(groups.back().document), name, node->type);
    node->document = std::move(made);
  }
  return {};
}

Result<bool> member_changed(const NodeLocation& node, MemberChange change, const Json* group) {
  SHERD_TRY(listed, find_listed(node, group));
  if (!listed) return false;
  SHERD_TRY(groups, groups_around(*listed));
  auto updated = update(*listed, std::move(groups), change);
  if (updated) return true;
  if (change == MemberChange::leaving) return std::move(updated).error();
  return std::move(updated).error().in("the node is stored, but its group's list of members could not be updated");
}

}  // namespace sherd::netcdf
