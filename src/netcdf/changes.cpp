// Stores a writer's changes in the present metadata of groups and variables, which keep everything else. A dataset has
// one writer of definitions at a time: before a group's dimensions and members change, they must be those that the
// writer read or stored last. Attributes are set one by one, as everywhere else.
#include <algorithm>

#include "array/nodes.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "format/zarr2.hpp"
#include "netcdf/model.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/writer.hpp"
#include "node/document.hpp"

namespace sherd::netcdf {

namespace {

/// Sets the touched attributes, and notes their types.
void set_attributes(Json& document, const char* part, const Json& made, const Touched& touched) {
  if (touched->empty()) return;
  Json& present = object_in(document, part);
  for (const auto& [name, value] : made.members())
    if (touched->contains(name)) present.set(name, value);
  const Json* types = part_of(made, kTypesNote, "types");
  if (types == nullptr || types->members().empty()) return;
  Json& noted = object_in(object_in(present, kTypesNote), "types");
  for (const auto& [attribute, type] : types->members()) noted.set(attribute, type);
}

/// `whole` are the metadata that the group would have if it were new.
void update_notes(Json& document, const GroupDefinition& group, const Json& whole) {
  const auto present = note_of_group(document);
  for (const NoteForm& form : forms_for(document)) {
    const Json* made = part_of(whole, form.group_part, form.group);
    if (made == nullptr) continue;
    Json& part = object_in(document, form.group_part);
    if (const Json* note = part.find(form.group); note == nullptr || !note->is_object()) {
      part.set(form.group, present ? group_note_json(form, *present) : *made);
      if (const Json* superblock = part_of(whole, form.group_part, form.superblock))
        part.set(form.superblock, *superblock);
      if (in_attributes(form)) object_in(object_in(part, kTypesNote), "types");
    }
    Json& note = *part.find(form.group);
    for (const auto& each : group.dimensions)
      if (!each->anonymous && each->noted != each->length)
        object_in(note, form.dimensions).set(each->name, length_json(form, each->length, each->unlimited));
    for (const auto& each : group.variables)
      if (!each->listed) add_name(note, form.arrays, each->options.name);
    for (const auto& each : group.groups)
      if (!each->listed) add_name(note, form.groups, each->name);
  }
}

/// Adds the note of a variable whose attributes have none: it refers to the dimensions named in the array's own
/// document.
void add_array_note(Json& document, const NoteForm& form, const Json& made) {
  const Json* note = made.find(form.array);
  if (note == nullptr || part_of(document, form.array_part, form.array) != nullptr) return;
  Json added = *note;
  const Json* stored = part_of(document, kDocumentForm.array_part, kDocumentForm.array);
  if (const Json* references = stored != nullptr ? stored->find(kDocumentForm.references) : nullptr)
    added.set(form.references, *references);
  Json& attributes = object_in(document, form.array_part);
  attributes.set(form.array, std::move(added));
  object_in(object_in(attributes, kTypesNote), "types");
}

/// What another process has changed in the note of the group at `path`: the first difference.
std::string change_between(const std::string& path, const GroupNote& known, const GroupNote& now) {
  const auto named = [&](const std::string& name) { return "'" + member_path(path, name) + "'"; };
  for (const DimensionNote& each : now.dimensions) {
    const auto old = std::ranges::find(known.dimensions, each.name, &DimensionNote::name);
    if (old == known.dimensions.end()) return "defined the dimension " + named(each.name);
    if (old->length != each.length)
      return "changed the length of the dimension " + named(each.name) + " from " + std::to_string(old->length) +
             " to " + std::to_string(each.length);
  }
  for (const DimensionNote& each : known.dimensions)
    if (std::ranges::find(now.dimensions, each.name, &DimensionNote::name) == now.dimensions.end())
      return "removed the dimension " + named(each.name);
  for (const ListedMember& each : now.members)
    if (std::ranges::find(known.members, each) == known.members.end()) return "added " + named(each.name);
  for (const ListedMember& each : known.members)
    if (std::ranges::find(now.members, each) == now.members.end()) return "removed " + named(each.name);
  return "changed the definitions of the group '" + path + "'";
}

Error changed_by_others(const Form& form, const GroupDefinition& group, const std::string& change) {
  const NodeLocation location = form.at(group.path);
  return conflict("another process has " + change +
                  " since this writer read the metadata; open the dataset again and repeat what is not stored")
      .in_key(location.format->document_key(location.path, NodeType::group))
      .lasting();
}

/// As check_known(), reading the metadata.
Result<void> check_unchanged(const Form& form, const GroupDefinition& group) {
  const NodeLocation location = form.at(group.path);
  SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
  if (!node || node->type != NodeType::group)
    return changed_by_others(form, group, "removed the group '" + group.path + "'");
  return check_known(form, group, node->document);
}

void add_groups(const GroupDefinition& group, std::vector<const GroupDefinition*>& all) {  // NOLINT(misc-no-recursion)
  all.push_back(&group);
  for (const auto& each : group.groups) add_groups(*each, all);
}

}  // namespace

Result<void> check_known(const Form& form, const GroupDefinition& group, const Json& document) {
  const auto now = note_of_group(document);
  if (form.mode.pure || now == group.known) return {};
  return changed_by_others(form, group,
                           change_between(group.path, group.known.value_or(GroupNote()), now.value_or(GroupNote())));
}

Result<void> check_definitions(const Form& form, const GroupDefinition& group, bool below) {
  if (form.mode.pure) return {};
  if (!below) return check_unchanged(form, group);
  std::vector<const GroupDefinition*> groups;
  add_groups(group, groups);
  return parallel_for(groups.size(), waiting(form), [&](std::size_t i) { return check_unchanged(form, *groups[i]); });
}

Result<void> store_changes(const Form& form, GroupDefinition& group) {
  SHERD_TRY(whole, group_metadata(form, group));
  std::optional<GroupNote> stored;
  SHERD_TRY(edit_document(form.at(group.path), NodeType::group, [&](const NodeDocument& present) -> Result<Json> {
    Json next = present.document;
    update_notes(next, group, whole);
    stored = note_of_group(next);
    if (stored == note_of_group(present.document))
      stored.reset();
    else
      SHERD_TRY(check_known(form, group, present.document));
    for (const char* part : {zarr2::kAttributes, "attributes"})
      if (const Json* made = whole.find(part)) set_attributes(next, part, *made, group.touched);
    return next;
  }));
  if (stored) group.known = std::move(stored);
  return {};
}

Result<void> store_changes(const Form& form, const std::string& group, const VariableDefinition& variable) {
  SHERD_TRY(made, stored_attributes(form, group, variable));
  const NoteForm& notes = attribute_form(form.v3());
  SHERD_TRY(edit_document(form.at(member_path(group, variable.options.name)), NodeType::array,
                          [&](const NodeDocument& present) -> Result<Json> {
                            Json next = present.document;
                            set_attributes(next, notes.array_part, made, variable.touched);
                            add_array_note(next, notes, made);
                            return next;
                          }));
  return {};
}

}  // namespace sherd::netcdf
