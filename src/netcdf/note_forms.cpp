#include "netcdf/note_forms.hpp"

#include <algorithm>
#include <utility>

namespace sherd::netcdf {

namespace {

void add_list(std::vector<Json*>& found, Json* note, const char* list) {
  if (Json* present = note != nullptr && note->is_object() ? note->find(list) : nullptr) found.push_back(present);
}

}  // namespace

std::vector<const NoteForm*> forms_of(const Json& group) {
  std::vector<const NoteForm*> forms;
  for (const NoteForm& form : forms_for(group)) {
    const Json* note = part_of(group, form.group_part, form.group);
    if (note != nullptr && note->is_object()) forms.push_back(&form);
  }
  return forms;
}

std::vector<Json*> lists_of_group(Json& document, const char* NoteForm::* list) {
  std::vector<Json*> found;
  for (const NoteForm& form : forms_for(document))
    add_list(found, part_of(document, form.group_part, form.group), form.*list);
  return found;
}

std::vector<Json*> lists_of_array(Json& document, const char* NoteForm::* list) {
  std::vector<Json*> found;
  for (const NoteForm& form : forms_for(document))
    add_list(found, part_of(document, form.array_part, form.array), form.*list);
  return found;
}

void add_name(Json& note, const char* list, const std::string& name) {
  Json::Array all;
  if (const Json* present = std::as_const(note).find(list); present != nullptr && present->is_array())
    all.assign(present->elements().begin(), present->elements().end());
  if (std::ranges::any_of(all, [&](const Json& each) { return each.text() == name; })) return;
  all.emplace_back(name);
  note.set(list, Json(std::move(all)));
}

Json length_json(const NoteForm& form, std::uint64_t length, bool unlimited) {
  return unlimited && in_attributes(form) ? Json(Json::Object{{"size", length}, {"unlimited", 1}}) : Json(length);
}

Json group_note_json(const NoteForm& form, const GroupNote& note) {
  Json::Object lengths;
  for (const DimensionNote& each : note.dimensions)
    lengths.emplace_back(each.name, length_json(form, each.length, each.unlimited));
  Json::Array arrays, groups;
  for (const ListedMember& each : note.members)
    (each.type == NodeType::array ? arrays : groups).emplace_back(each.name);
  return Json::Object{{form.dimensions, Json(std::move(lengths))},
                      {form.arrays, Json(std::move(arrays))},
                      {form.groups, Json(std::move(groups))}};
}

Json array_note_json(const NoteForm& form, const ArrayNote& note) {
  Json json{Json::Object{{form.references, Json(Json::Array(note.dimensions.begin(), note.dimensions.end()))}}};
  if (note.scalar && in_attributes(form)) json.set("scalar", 1);
  json.set("storage", note.scalar && !in_attributes(form) ? "scalar" : "chunked");
  if (note.characters) json.set("type", "char");
  if (note.no_fill) json.set("no_fill", 1);
  return json;
}

std::optional<GroupNote> note_of_group(const Json& document) {
  Warnings ignored;
  return group_note({.path = {}, .name = {}, .document = document}, ignored);
}

std::uint64_t recorded_length(const Json& document, const DimensionNote& dimension) {
  std::uint64_t shortest = dimension.length;
  for (const NoteForm& form : forms_for(document)) {
    const Json* note = part_of(document, form.group_part, form.group);
    if (note == nullptr || !note->is_object()) continue;
    const Json* lengths = note->find(form.dimensions);
    const Json* length = lengths != nullptr ? lengths->find(dimension.name) : nullptr;
    if (length != nullptr && length->is_object()) length = length->find("size");
    shortest = std::min(shortest, length != nullptr ? length->as_uint().value_or(0) : 0);
  }
  return shortest;
}

}  // namespace sherd::netcdf
