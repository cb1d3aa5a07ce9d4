// Where each generation of NCZarr stores its notes in the metadata of a node, and how they are written. notes.hpp reads
// their contents.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/zarr2.hpp"
#include "netcdf/notes.hpp"
#include "node/format.hpp"

namespace sherd::netcdf {

struct NoteForm {
  const char *group_part, *array_part;
  const char *group, *array, *superblock;
  const char *dimensions, *arrays, *references;
  const char* groups = "groups";
};
inline constexpr NoteForm kForms[] = {
    {zarr2::kGroup, zarr2::kArray, "_nczarr_group", "_nczarr_array", "_nczarr_superblock", "dims", "vars", "dimrefs"},
    {zarr2::kGroup, zarr2::kArray, "_NCZARR_GROUP", "_NCZARR_ARRAY", "_NCZARR_SUPERBLOCK", "dims", "vars", "dimrefs"},
    {zarr2::kAttributes, zarr2::kAttributes, "_nczarr_group", "_nczarr_array", "_nczarr_superblock", "dimensions",
     "arrays", "dimension_references"},
    {"attributes", "attributes", "_nczarr_group", "_nczarr_array", "_nczarr_superblock", "dimensions", "arrays",
     "dimension_references"},
};

/// In the documents of Zarr v2.
inline constexpr const NoteForm& kDocumentForm = kForms[0];
/// In the attributes of Zarr v2 or v3.
inline const NoteForm& attribute_form(bool v3) { return kForms[v3 ? 3 : 2]; }

/// The attribute whose member `types` has the types of attributes.
inline constexpr const char* kTypesNote = "_nczarr_attr";

inline bool is_v3(const Json& document) { return document.find("node_type") != nullptr; }
/// The forms that a node of this version of Zarr can have.
inline std::span<const NoteForm> forms_for(const Json& document) {
  const std::span<const NoteForm> all(kForms);
  return is_v3(document) ? all.last(1) : all.first(3);
}
inline const char* attributes_part(const Json& document) { return attribute_form(is_v3(document)).group_part; }

inline bool in_attributes(const NoteForm& form) { return std::string_view(form.group_part) != zarr2::kGroup; }

/// nullptr if the part is missing or has no such note.
template <class Document>
auto* part_of(Document& document, const char* part, const char* note) {
  auto* found = document.find(part);
  return found != nullptr && found->is_object() ? found->find(note) : nullptr;
}

/// The object in a member of another object; creates an empty one if it is missing.
inline Json& object_in(Json& json, const char* member) {
  Json* found = json.find(member);
  return found != nullptr && found->is_object() ? *found : json.set(member, Json::Object{});
}

/// The forms in which a group has its notes.
[[nodiscard]] std::vector<const NoteForm*> forms_of(const Json& group);

/// A list in a group's notes, or in an array's, in every form that the node has.
[[nodiscard]] std::vector<Json*> lists_of_group(Json& document, const char* NoteForm::* list);
[[nodiscard]] std::vector<Json*> lists_of_array(Json& document, const char* NoteForm::* list);

/// Adds a name to a list in a note, unless it is present.
void add_name(Json& note, const char* list, const std::string& name);

/// A dimension as defined in a group's note. Only notes in attributes record that one is unlimited.
[[nodiscard]] Json length_json(const NoteForm& form, std::uint64_t length, bool unlimited);
[[nodiscard]] Json group_note_json(const NoteForm& form, const GroupNote& note);
[[nodiscard]] Json array_note_json(const NoteForm& form, const ArrayNote& note);

/// The contents of a group's note, in whichever form; nullopt if it has none.
[[nodiscard]] std::optional<GroupNote> note_of_group(const Json& document);

/// The length of an unlimited dimension in the metadata of its group: the shortest if the forms differ.
[[nodiscard]] std::uint64_t recorded_length(const Json& document, const DimensionNote& dimension);

}  // namespace sherd::netcdf
