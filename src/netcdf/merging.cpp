// Merges a writer's changes into the stored metadata. Others may have created, erased or changed nodes since the writer
// read or stored its own, and writing a whole list or attribute would undo that. So names are added to lists, lengths
// increased and attributes set, one by one, in the document as it is at the time of the edit.
#include <set>
#include "array/nodes.hpp"
#include "format/zarr2.hpp"

#include "base/try.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/writer.hpp"
#include "node/document.hpp"

namespace sherd::netcdf {

namespace {

/// Sets the touched attributes, and notes their types.
void merge_attributes(Json& document, const char* part, const Json& made, const Touched& touched) {
  if (touched->empty()) return;
  Json& present = object_in(document, part);
  for (const auto& [name, value] : made.members())
    if (touched->contains(name)) present.set(name, value);
  const Json* types = part_of(made, kTypesNote, "types");
  if (types == nullptr || types->members().empty()) return;
  Json& noted = object_in(object_in(present, kTypesNote), "types");
  for (const auto& [attribute, type] : types->members()) noted.set(attribute, type);
}

/// Defines a dimension, or extends it. invalid_argument if a different one with this name was defined meanwhile.
Result<void> merge_dimension(Json& lengths, const NoteForm& form, const DimensionDefinition& dimension) {
  const Json* present = lengths.find(dimension.name);
  const Json* size = present != nullptr && present->is_object() ? present->find("size") : present;
  const auto length = size != nullptr ? size->as_uint() : std::nullopt;
  if (!length) {
    lengths.set(dimension.name, length_json(form, dimension.length, dimension.unlimited));
    return {};
  }
  const bool is_new = !dimension.noted;
  const bool is_other =
      dimension.unlimited ? in_attributes(form) && !present->is_object() : *length != dimension.length;
  if (is_new && is_other)
    return invalid_argument("another writer defined the dimension '" +
                            member_path(dimension.group->path, dimension.name) + "' in the meantime, with the length " +
                            std::to_string(*length));
  if (dimension.unlimited && *length < dimension.length)
    lengths.set(dimension.name, length_json(form, dimension.length, true));
  return {};
}

/// The names of the nodes stored in a group.
using Stored = std::set<std::string, std::less<>>;

/// Nullopt if the store cannot list.
Result<std::optional<Stored>> stored_in(const Form& form, const GroupDefinition& group) {
  const NodeLocation location = form.at(group.path);
  if (!location.store->traits().can_list) return std::optional<Stored>();
  SHERD_TRY(listing, location.store->list_dir(location.format->chunk_prefix(location.path)));
  return std::optional(Stored(listing.prefixes.begin(), listing.prefixes.end()));
}

/// Removes names that are not stored.
void keep_stored(Json& list, const std::optional<Stored>& stored) {
  if (!stored || !list.is_array()) return;
  Json::Array names;
  for (const Json& each : std::as_const(list).elements())
    if (stored->contains(each.text())) names.push_back(each);
  list = Json(std::move(names));
}

Result<void> merge_note(Json& note, const NoteForm& form, const GroupDefinition& group,
                        const std::optional<Stored>& stored) {
  for (const auto& each : group.dimensions)
    if (!each->anonymous && each->noted != each->length)
      SHERD_TRY(merge_dimension(object_in(note, form.dimensions), form, *each));
  const auto add = [&](const char* list, const std::string& name) {
    if (!stored || stored->contains(name)) add_name(note, list, name);  // else others erased it since it was stored
  };
  for (const auto& each : group.variables)
    if (!each->listed) add(form.arrays, each->options.name);
  for (const auto& each : group.groups)
    if (!each->listed) add(form.groups, each->name);
  return {};
}

/// `whole` are the metadata that the group would have if it were new.
Result<void> merge_group(Json& document, const GroupDefinition& group, const Json& whole,
                         const std::optional<Stored>& stored) {
  const auto present = note_of_group(document);
  for (const NoteForm& form : forms_for(document)) {
    const Json* made = part_of(whole, form.group_part, form.group);
    if (made == nullptr) continue;
    Json& part = object_in(document, form.group_part);
    if (const Json* note = part.find(form.group); note == nullptr || !note->is_object()) {
      // From the notes in other forms, if there are any.
      Json& added = part.set(form.group, present ? group_note_json(form, *present) : *made);
      if (!present)
        for (const char* list : {form.arrays, form.groups})
          if (Json* names = added.find(list)) keep_stored(*names, stored);
      if (const Json* superblock = part_of(whole, form.group_part, form.superblock))
        part.set(form.superblock, *superblock);
      if (in_attributes(form)) object_in(object_in(part, kTypesNote), "types");
    }
    SHERD_TRY(merge_note(*part.find(form.group), form, group, stored));
  }
  for (const char* part : {zarr2::kAttributes, "attributes"})
    if (const Json* made = whole.find(part)) merge_attributes(document, part, *made, group.touched);
  return {};
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

bool lists_new_members(const GroupDefinition& group) {
  const auto is_unlisted = [](const auto& each) { return !each->listed; };
  return std::ranges::any_of(group.variables, is_unlisted) || std::ranges::any_of(group.groups, is_unlisted);
}

bool has_changes(const GroupDefinition& group) {
  return !group.touched->empty() || lists_new_members(group) ||
         std::ranges::any_of(group.dimensions,
                             [](const auto& each) { return !each->anonymous && each->noted != each->length; });
}

/// Notes that are only added for other readers are not needed for an erased node.
Result<void> unless_erased(Result<NodeDocument> edited, bool has_changes) {
  if (edited || (!has_changes && edited.error().code() == ErrorCode::not_found)) return {};
  return std::move(edited).error();
}

}  // namespace

Result<void> store_changes(const Form& form, GroupDefinition& group) {
  SHERD_TRY(whole, group_metadata(form, group));
  std::optional<std::string> refused;  // not a conflict inside the edit, which would be retried
  bool recreated = false;
  auto edited = edit_document(form.at(group.path), NodeType::group, [&](const NodeDocument& present) -> Result<Json> {
    Json next = present.document;
    recreated = !form.mode.pure && !note_of_group(next);
    std::optional<Stored> stored;
    if (!form.mode.pure && (recreated || lists_new_members(group))) {
      SHERD_TRY(found, stored_in(form, group));
      stored = std::move(found);
    }
    if (auto merged = merge_group(next, group, whole, stored); !merged) {
      refused = merged.error().message();
      return std::move(merged).error();
    }
    return next;
  });
  if (!edited && refused) return conflict(*std::move(refused));
  if (edited && recreated && group.parent != nullptr) {
    // Others erased the group, and a new member recreated it: its parent group no longer lists it.
    group.listed = false;
    group.parent->changed = true;
  }
  return unless_erased(std::move(edited), has_changes(group));
}

Result<void> store_changes(const Form& form, const std::string& group, const VariableDefinition& variable) {
  SHERD_TRY(made, stored_attributes(form, group, variable));
  const NoteForm& notes = attribute_form(form.v3());
  return unless_erased(edit_document(form.at(member_path(group, variable.options.name)), NodeType::array,
                                     [&](const NodeDocument& present) -> Result<Json> {
                                       Json next = present.document;
                                       merge_attributes(next, notes.array_part, made, variable.touched);
                                       add_array_note(next, notes, made);
                                       return next;
                                     }),
                       !variable.touched->empty());
}

}  // namespace sherd::netcdf
