// Where each generation of NCZarr has its notes in the stored metadata of a node, for what changes them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/format.hpp"
#include "netcdf/notes.hpp"

namespace sherd::netcdf {

struct NoteForm {
  const char *group_part, *array_part;
  const char *group, *array, *superblock;
  const char *dimensions, *arrays, *references;
};
inline constexpr const char* kGroups = "groups";
inline constexpr NoteForm kForms[] = {
    {".zgroup", ".zarray", "_nczarr_group", "_nczarr_array", "_nczarr_superblock", "dims", "vars", "dimrefs"},
    {".zgroup", ".zarray", "_NCZARR_GROUP", "_NCZARR_ARRAY", "_NCZARR_SUPERBLOCK", "dims", "vars", "dimrefs"},
    {".zattrs", ".zattrs", "_nczarr_group", "_nczarr_array", "_nczarr_superblock", "dimensions", "arrays",
     "dimension_references"},
    {"attributes", "attributes", "_nczarr_group", "_nczarr_array", "_nczarr_superblock", "dimensions", "arrays",
     "dimension_references"},
};

inline bool in_attributes(const NoteForm& form) { return std::string_view(form.group_part) != ".zgroup"; }

/// nullptr if the part is missing or has no such note.
template <class Document>
auto* part_of(Document& document, const char* part, const char* note) {
  auto* found = document.find(part);
  return found != nullptr && found->is_object() ? found->find(note) : nullptr;
}

/// The object that is a member of another, which gets an empty one if it has none.
inline Json& object_in(Json& json, const char* member) {
  Json* found = json.find(member);
  return found != nullptr && found->is_object() ? *found : json.set(member, Json::Object{});
}

inline void add_name(Json& list, const std::string& name) {
  Json::Array all;
  if (list.is_array()) all.assign(std::as_const(list).elements().begin(), std::as_const(list).elements().end());
  if (std::ranges::any_of(all, [&](const Json& each) { return each.text() == name; })) return;
  all.emplace_back(name);
  list = Json(std::move(all));
}

/// A dimension as a group's note defines it. Only notes in attributes say that one is unlimited.
inline Json length_json(const NoteForm& form, std::uint64_t length, bool unlimited) {
  return unlimited && in_attributes(form) ? Json(Json::Object{{"size", length}, {"unlimited", 1}}) : Json(length);
}

/// What the note of a group says, wherever it has one; nullopt if it has none.
[[nodiscard]] inline std::optional<GroupNote> note_of_group(const Json& document) {
  Warnings ignored;
  return group_note({.path = {}, .name = {}, .document = document}, ignored);
}

}  // namespace sherd::netcdf
