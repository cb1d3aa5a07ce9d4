// NCZarr's metadata of nodes that are created, moved and erased as Zarr nodes. Each group shows where the notes of its
// generation are: in `.zgroup` and `.zarray`, in attributes, or, for readers of several generations, in both. Nodes
// that netcdf-c cannot open are not listed, because it cannot open a dataset that lists one.
#include <algorithm>
#include <array>
#include <map>

#include "array/hierarchy.hpp"
#include "format/zarr2.hpp"
#include "format/zarr_common.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/model.hpp"
#include "netcdf/names.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/type.hpp"
#include "store/key.hpp"

namespace sherd::netcdf {

namespace {

bool in_upper_case(const NoteForm& form) { return form.group[1] == 'N'; }

/// The forms in which a group has its notes.
std::vector<const NoteForm*> forms_of(const Json& group) {
  std::vector<const NoteForm*> forms;
  for (const NoteForm& form : forms_for(group)) {
    const Json* note = part_of(group, form.group_part, form.group);
    if (note != nullptr && note->is_object()) forms.push_back(&form);
  }
  return forms;
}

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
  [[nodiscard]] std::map<std::string, DimensionNote, std::less<>> dimensions() const {
    std::map<std::string, DimensionNote, std::less<>> all;
    for (std::size_t i = 0; i < groups_.size(); ++i)
      for (DimensionNote& each : group_note_of(groups_[i].document).dimensions) {
        std::string name = full_name(i, each.name);
        all.emplace(std::move(name), std::move(each));
      }
    return all;
  }

 private:
  static std::string anonymous(std::uint64_t length) { return "_Anonymous_Dim_" + std::to_string(length); }

  static std::size_t depth_in(std::span<const StoredGroup> groups) {
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

Json introduced_array(std::span<StoredGroup> groups, const NodeDocument& node) {
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

/// A group, which keeps the dimensions that it defines. Its members are listed when they are added.
Json introduced_group(const Json& parent, const NodeDocument& node) {
  Json document = node.document;
  const GroupNote note = group_note_of(document);
  erase_notes(document);
  for (const NoteForm* form : forms_of(parent)) {
    Json& part = in_attributes(*form) ? attributes_of(document) : *document.find(form->group_part);
    part.set(form->group, group_note_json(*form, {note.dimensions, {}}));
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

/// Whether the dimensions of a variable match its array. Otherwise netcdf-c cannot open the dataset.
std::vector<std::string> faults_of(const NodeDocument& node,
                                   const std::map<std::string, DimensionNote, std::less<>>& dimensions) {
  Warnings ignored;
  const auto note = node.array ? array_note(stored(node.document), ignored) : std::nullopt;
  if (!note || note->scalar || note->dimensions.empty()) return {};
  const Shape& shape = node.array->shape;
  if (note->dimensions.size() != shape.size())
    return {"NCZarr's metadata name " + std::to_string(note->dimensions.size()) + " dimensions, and the array has " +
            std::to_string(shape.size())};
  std::vector<std::string> faults;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::string& name = note->dimensions[d];
    const auto found = dimensions.find(name);
    if (found == dimensions.end()) continue;  // anonymous ones need not be defined
    const DimensionNote& dimension = found->second;
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
std::map<std::string, std::string> contents_in(const Json& group, const NoteForm& form) {
  const Json& note = *part_of(group, form.group_part, form.group);
  const auto read = note_of_group(Json::Object{{form.group_part, Json::Object{{form.group, note}}}});
  std::map<std::string, std::string> contents;
  if (!read) return contents;
  for (const DimensionNote& each : read->dimensions)
    contents.emplace("dimension '" + each.name + "'", " of length " + std::to_string(each.length));
  for (const ListedMember& each : read->members)
    contents.emplace((each.type == NodeType::array ? "variable '" : "group '") + each.name + "'", "");
  return contents;
}

/// Where the notes in the first two of a group's forms differ. Each release of netcdf-c reads one of them.
std::vector<std::string> differences_of(const Json& group) {
  const auto forms = forms_of(group);
  if (forms.size() < 2) return {};
  const auto first = contents_in(group, *forms[0]), second = contents_in(group, *forms[1]);
  const auto phrase = [](const NoteForm& form, const std::string& what, const auto& contents) {
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

/// Faults in the name of a stored node.
std::vector<std::string> faults_of_name(const NodeDocument& node) {
  if (node.versions.empty()) return {};
  std::string_view path = split_key(node.versions.back().key).prefix;
  if (path.empty()) return {};
  path.remove_suffix(1);
  const std::string_view name = split_key(path).name;
  const auto fault = fault_of_name(name);
  if (!fault) return {};
  return {"netCDF does not allow the name '" + shown_name(name) + "': " + *fault +
          "; netcdf-c opens nothing of a dataset that lists it"};
}

class NczarrNotes final : public MemberNotes {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "NCZarr"; }

  [[nodiscard]] std::optional<Members> listed(const Json& group) const override {
    if (forms_of(group).empty()) return std::nullopt;
    Members members;
    for (const ListedMember& each : group_note_of(group).members) members.emplace_back(each.name, each.type);
    return members;
  }

  [[nodiscard]] bool is_document(std::string_view name) const noexcept override {
    return name == kSuperblockDocument || std::ranges::find(kLegacyDocuments, name) != std::end(kLegacyDocuments);
  }

  /// Documents of the first generation.
  [[nodiscard]] std::span<const std::string_view> documents_next_to(const Json& node) const noexcept override {
    static constexpr std::string_view of_group[] = {".nczgroup"}, of_array[] = {".nczarray", ".nczvar"};
    if (node.find(zarr2::kArray) != nullptr) return of_array;
    return node.find(zarr2::kGroup) != nullptr && forms_of(node).empty() ? std::span(of_group)
                                                                         : std::span<const std::string_view>();
  }
  [[nodiscard]] std::string_view said_there() const noexcept override {
    return "the names of dimensions and the types of attributes; sherd nccopy (in Python sherd.netcdf.copy) copies "
           "them, too";
  }

  [[nodiscard]] std::vector<std::string> dimension_names(const NodeDocument& array) const override {
    Warnings ignored;
    auto note = array_note(stored(array.document), ignored);
    if (!note) return {};
    for (std::string& name : note->dimensions) name.erase(0, name.rfind('/') + 1);
    return std::move(note->dimensions);
  }

  [[nodiscard]] std::vector<std::string> differences(const Json& group) const override { return differences_of(group); }

  [[nodiscard]] bool lists(const NodeDocument& node) const override {
    if (node.implicit) return false;
    if (!node.array) return node.type == NodeType::group;
    if (const Json* array = node.document.find(zarr2::kArray)) return is_readable(*array, *node.array);
    return is_v3(node.document) && variable_type(node.array->dtype, false).has_value();
  }

  [[nodiscard]] Faults faults(std::span<StoredGroup> groups) const override {
    return [dimensions = Scope(groups).dimensions()](const NodeDocument& node) {
      auto faults = faults_of(node, dimensions);
      for (std::string& each : faults_of_name(node)) faults.push_back(std::move(each));
      return faults;
    };
  }

  [[nodiscard]] Json with_member(Json group, const std::string& member, std::optional<NodeType> type) const override {
    if (fault_of_name(member)) type.reset();
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

  [[nodiscard]] Json introduced(std::span<StoredGroup> groups, const NodeDocument& node) const override {
    if (groups.empty() || forms_of(groups.back().document).empty()) return node.document;
    return node.type == NodeType::array ? introduced_array(groups, node)
                                        : introduced_group(groups.back().document, node);
  }
};

}  // namespace

const MemberNotes& nczarr_notes() noexcept;
const MemberNotes& nczarr_notes() noexcept {
  static const NczarrNotes instance;
  return instance;
}

}  // namespace sherd::netcdf
