// Renaming in a dataset that is being written. Groups and variables are moved as Zarr nodes. The name of a dimension is
// in the metadata of its group and of every variable that has it, which cannot all be replaced at once. So the new name
// is defined next to the old one, then each variable refers to it, then the old one is removed. Readers meanwhile, or
// after a kill, find two dimensions of the same length. In pure Zarr the variables of a group define its dimensions by
// naming them: variables of groups below refer to the new name first, and find the old one until then.
#include <algorithm>
#include <functional>
#include <span>

#include "array/array_state.hpp"
#include "array/nodes.hpp"
#include "base/call.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "format/zarr_common.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/member_notes.hpp"
#include "netcdf/model.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/variables.hpp"
#include "netcdf/writer.hpp"
#include "node/document.hpp"
#include "node/move.hpp"

namespace sherd::netcdf {

namespace {

/// nullptr if the node has none.
Json* attributes_in(Json& document) {
  Json* found = document.find(attributes_part(document));
  return found != nullptr && found->is_object() ? found : nullptr;
}

/// The object with `from` renamed to `to`, or with both.
Json with_name(const Json& object, std::string_view from, const std::string& to, bool keeps_old) {
  const Json* value = object.find(from);
  if (value == nullptr) return object;
  Json::Object members;
  for (const auto& [name, each] : object.members()) {
    if (name == to) continue;  // left by a process that was killed
    if (name != from || keeps_old) members.emplace_back(name, each);
    if (name == from) members.emplace_back(to, *value);
  }
  return Json(std::move(members));
}

void define_next_to(Json& group, std::string_view dimension, const std::string& name) {
  for (Json* lengths : lists_of_group(group, &NoteForm::dimensions))
    if (lengths->is_object()) *lengths = with_name(*lengths, dimension, name, true);
}

void remove_length(Json& group, std::string_view dimension) {
  for (Json* lengths : lists_of_group(group, &NoteForm::dimensions))
    if (lengths->is_object()) lengths->erase(dimension);
}

/// Makes an array's metadata refer to the new name of a dimension, along those of its `rank` dimensions that can be it.
void rename_references(Json& array, std::size_t rank, const std::function<bool(std::size_t)>& can_be,
                       const DimensionDefinition& dimension, const std::string& to) {
  const auto replace = [&](Json* names, const std::string& old, const std::string& now) {
    if (names == nullptr || !names->is_array() || names->size() != rank) return;
    for (std::size_t d = 0; d < rank; ++d)
      if (Json& name = names->elements()[d]; can_be(d) && name.text() == old) name = now;
  };
  const std::string& group = dimension.group->path;
  for (Json* references : lists_of_array(array, &NoteForm::references))
    replace(references, member_path(group, dimension.name), member_path(group, to));
  Json* attributes = attributes_in(array);
  replace(attributes != nullptr ? attributes->find(kNamesAttribute) : nullptr, dimension.name, to);
  replace(array.find("dimension_names"), dimension.name, to);
}

/// Sorts the names in lists by their order in `names`; other names remain at the end.
void sort_as(const std::vector<Json*>& lists, const std::vector<std::string>& names) {
  const auto position = [&](const Json& each) { return std::ranges::find(names, each.text()) - names.begin(); };
  for (Json* list : lists)
    if (list->is_array()) std::ranges::stable_sort(list->elements(), {}, position);
}

using Using = std::vector<std::pair<const GroupDefinition*, VariableDefinition*>>;

void add_variables_of(GroupDefinition& group, const DimensionDefinition& dimension,
                      Using& found) {  // NOLINT(misc-no-recursion)
  for (const auto& each : group.variables)
    if (std::ranges::find(each->dimensions, &dimension) != each->dimensions.end())
      found.emplace_back(&group, each.get());
  for (const auto& each : group.groups) add_variables_of(*each, dimension, found);
}

/// `is_moved`: this writer has moved a member of the group, whose metadata are not those that it stored.
Result<void> edit_group(const Writer::State& state, GroupDefinition& group, bool is_moved,
                        const std::function<void(Json&)>& change) {
  SHERD_TRY(edited,
            edit_document(state.form.at(group.path), NodeType::group, [&](const NodeDocument& now) -> Result<Json> {
              if (!is_moved) SHERD_TRY(check_known(state.form, group, now.document));
              Json next = now.document;
              change(next);
              return next;
            }));
  group.known = note_of_group(edited.document);
  return {};
}

/// Lists the members of a stored group in their order of definition, after one was moved.
Result<void> restore_order(const Writer::State& state, GroupDefinition& group) {
  std::vector<std::string> variables, groups;
  for (const auto& each : group.variables) variables.push_back(each->options.name);
  for (const auto& each : group.groups) groups.push_back(each->name);
  return edit_group(state, group, true, [&](Json& document) {
    sort_as(lists_of_group(document, &NoteForm::arrays), variables);
    sort_as(lists_of_group(document, &NoteForm::groups), groups);
  });
}

Result<void> refer_to(const Writer::State& state, std::span<const Using::value_type> variables,
                      const DimensionDefinition& dimension, const std::string& to) {
  return parallel_for(variables.size(), waiting(state.form), [&](std::size_t i) -> Result<void> {
    const auto& [group, variable] = variables[i];
    const auto& its = variable->dimensions;
    const auto can_be = [&](std::size_t d) { return its[d] == &dimension; };
    const NodeLocation location = state.form.at(member_path(group->path, variable->options.name));
    SHERD_TRY(edit_document(location, NodeType::array, [&](const NodeDocument& now) -> Result<Json> {
      Json next = now.document;
      rename_references(next, its.size(), can_be, dimension, to);
      return next;
    }));
    return {};
  });
}

/// Checks that names alone identify the dimension, as pure Zarr requires.
Result<void> check_pure_names(const DimensionDefinition& dimension, const std::string& to, const Using& variables) {
  const std::string& owner = dimension.group->path;
  const auto is_own = [&](const auto& each) { return each.first == dimension.group; };
  if (!variables.empty() && std::ranges::none_of(variables, is_own))
    return unsupported("no variable of the group '" + owner + "' has the dimension '" + dimension.name +
                       "', so that pure Zarr has one in each group below; open the dataset again and rename those");
  for (const auto& [group, renamed] : variables)
    for (const auto& each : group->variables)
      for (const DimensionDefinition* other : each->dimensions)
        if (other->name == to && other->length != dimension.length)
          return conflict("'" + member_path(group->path, each->options.name) + "' is " + std::to_string(other->length) +
                          " long along '" + to + "', and '" + member_path(group->path, renamed->options.name) +
                          "' would be " + std::to_string(dimension.length) +
                          "; in pure Zarr the variables of a group cannot have two dimensions of one name");
  return {};
}

/// The arrays in and below a group that are no variables because netCDF has no type for their elements, as far as the
/// dimension can be theirs.
void add_others(const GroupDefinition& group, const Group& opened, const DimensionDefinition& dimension,
                std::vector<NodeLocation>& found) {  // NOLINT(misc-no-recursion)
  if (&group != dimension.group && group.dimension(dimension.name) != nullptr) return;
  for (const Array& each : opened.other_arrays()) found.push_back(each.state().location);
  for (const auto& each : group.groups)
    for (const Group& inner : opened.groups())
      if (inner.name() == each->name) add_others(*each, inner, dimension, found);
}

/// Renames a dimension in arrays that are no variables.
Result<void> rename_in_others(const Writer::State& state, const DimensionDefinition& dimension, const std::string& to) {
  if (!state.opened) return {};
  const auto opened = state.opened->root().group(dimension.group->path);
  if (!opened) return {};
  std::vector<NodeLocation> others;
  add_others(*dimension.group, *opened, dimension, others);
  return parallel_for(others.size(), waiting(state.form), [&](std::size_t i) -> Result<void> {
    SHERD_TRY(edit_document(others[i], NodeType::array, [&](const NodeDocument& now) -> Result<Json> {
      Json next = now.document;
      const Shape& shape = now.array->shape;
      const auto can_be = [&](std::size_t d) { return shape[d] == dimension.length; };
      rename_references(next, shape.size(), can_be, dimension, to);
      return next;
    }));
    return {};
  });
}

/// Renames `from` to `to` in all stored metadata.
Result<void> rename_stored(Writer::State& state, const DimensionDefinition& from, const std::string& to) {
  GroupDefinition& group = *from.group;
  Using variables;
  add_variables_of(state.root, from, variables);
  if (state.form.mode.pure) SHERD_TRY(check_pure_names(from, to, variables));
  const auto is_below = [&](const auto& each) { return each.first != &group; };
  const std::size_t own = std::ranges::stable_partition(variables, is_below).begin() - variables.begin();
  SHERD_TRY(edit_group(state, group, false, [&](Json& document) { define_next_to(document, from.name, to); }));
  SHERD_TRY(refer_to(state, std::span(variables).first(own), from, to));
  SHERD_TRY(refer_to(state, std::span(variables).subspan(own), from, to));
  SHERD_TRY(rename_in_others(state, from, to));
  SHERD_TRY(consolidate(state));  // before the old name disappears for readers of consolidated metadata
  SHERD_TRY(edit_group(state, group, false, [&](Json& document) { remove_length(document, from.name); }));
  return consolidate(state);
}

/// Opens the array of a variable that was moved.
Result<void> reopen(const Writer::State& state, const GroupDefinition& group, VariableDefinition& variable) {
  NodeDocument document = variable.array->state().document();
  document.versions.clear();
  NodeLocation location =
      variable_location(state.form.at(member_path(group.path, variable.options.name)), state.form.mode, document);
  SHERD_TRY(node, make_node(std::move(location), std::move(document)));
  variable.array = std::get<Array>(std::move(node));
  return {};
}

/// After moving a group: updates the paths below it, and the order of its members.
Result<void> follow_path(const Writer::State& state, GroupDefinition& group) {  // NOLINT(misc-no-recursion)
  group.path = member_path(group.parent->path, group.name);
  SHERD_TRY(restore_order(state, group));
  for (const auto& each : group.variables) SHERD_TRY(reopen(state, group, *each));
  for (const auto& each : group.groups) SHERD_TRY(follow_path(state, *each));
  return {};
}

/// Moves a member of a group, which still has its old name in the definitions.
Result<void> move_member(const Writer::State& state, const GroupDefinition& group, const std::string& from,
                         const std::string& to) {
  SHERD_TRY(check_definitions(state.form, group, false));
  NodeLocation location = state.form.at(member_path(group.path, from));
  location.tables.changed = member_changed;
  return move_node(location, state.form.at(member_path(group.path, to)).path);
}

/// The attributes of a defined group or variable, and where they are stored.
struct AttributesAt {
  std::vector<Attribute>* attributes;
  std::string path;
  NodeType type;
};
Result<AttributesAt> attributes_at(Writer::State& state, std::string_view path) {
  if (auto group = find_group(state.root, path))
    return AttributesAt{&(*group)->attributes, (*group)->path, NodeType::group};
  SHERD_TRY(variable, find_variable(state.root, path));
  SHERD_TRY(owner, find_group(state.root, split_path(path).group));
  return AttributesAt{&variable->options.attributes, member_path(owner->path, variable->options.name), NodeType::array};
}

}  // namespace

Result<void> Writer::rename_attribute(std::string_view path, std::string_view from, const std::string& to) {
  return as_call(state_->form.location.config, [&]() -> Result<void> {
    const std::scoped_lock lock(state_->mutex);
    SHERD_TRY(found, attributes_at(*state_, path));
    SHERD_TRY(check_attribute_name(to));
    for (const std::string_view name : {from, std::string_view(to)})
      if (found.type == NodeType::array && (name == kFillValue || name == kMaxLength))
        return invalid_argument("'" + std::string(name) + "' can only be set when the variable is defined");
    const auto old = std::ranges::find(*found.attributes, from, &Attribute::name);
    if (old == found.attributes->end())
      return not_found("'" + found.path + "' has no attribute '" + std::string(from) + "'");
    if (std::ranges::find(*found.attributes, to, &Attribute::name) != found.attributes->end())
      return conflict("'" + found.path + "' has an attribute '" + to + "' already");
    SHERD_TRY(store_all(*state_));
    SHERD_TRY(edit_document(state_->form.at(found.path), found.type, [&](const NodeDocument& now) -> Result<Json> {
      Json next = now.document;
      Json* stored = attributes_in(next);
      if (stored == nullptr) return next;
      *stored = with_name(*stored, from, to, false);
      Json* note = stored->find(kTypesNote);
      if (Json* types = note != nullptr ? note->find("types") : nullptr) *types = with_name(*types, from, to, false);
      return next;
    }));
    old->name = to;
    return consolidate(*state_);
  });
}

Result<void> Writer::rename_dimension(std::string_view path, const std::string& to) {
  return as_call(state_->form.location.config, [&]() -> Result<void> {
    const std::scoped_lock lock(state_->mutex);
    const auto [above, name] = split_path(path);
    SHERD_TRY(owner, find_group(state_->root, above));
    SHERD_TRY(check_dimension_name(to));
    SHERD_TRY(store_all(*state_));
    DimensionDefinition* const from = owner->dimension(name);
    if (from == nullptr)
      return not_found("the dimension '" + std::string(name) + "' is not defined in the group '" + owner->path + "'");
    if (owner->dimension(to) != nullptr)
      return conflict("the dimension '" + member_path(owner->path, to) + "' is defined already");
    if (from->anonymous)
      return unsupported("the dimension '" + from->name + "' has no stored name: it was made up for its length");
    SHERD_TRY(rename_stored(*state_, *from, to));
    from->name = to;
    return {};
  });
}

Result<void> Writer::rename_variable(std::string_view path, const std::string& to) {
  return as_call(state_->form.location.config, [&]() -> Result<void> {
    const std::scoped_lock lock(state_->mutex);
    SHERD_TRY(variable, find_variable(state_->root, path));
    SHERD_TRY(owner, find_group(state_->root, split_path(path).group));
    SHERD_TRY(check_new_name(*state_, *owner, to));
    SHERD_TRY(store_all(*state_));
    SHERD_TRY(move_member(*state_, *owner, variable->options.name, to));
    variable->options.name = to;
    SHERD_TRY(reopen(*state_, *owner, *variable));
    SHERD_TRY(restore_order(*state_, *owner));
    return consolidate(*state_);
  });
}

Result<void> Writer::rename_group(std::string_view path, const std::string& to) {
  return as_call(state_->form.location.config, [&]() -> Result<void> {
    const std::scoped_lock lock(state_->mutex);
    SHERD_TRY(group, find_group(state_->root, path));
    if (group->parent == nullptr) return invalid_argument("the root group has no name");
    SHERD_TRY(check_new_name(*state_, *group->parent, to));
    SHERD_TRY(store_all(*state_));
    SHERD_TRY(move_member(*state_, *group->parent, group->name, to));
    group->name = to;
    SHERD_TRY(follow_path(*state_, *group));
    SHERD_TRY(restore_order(*state_, *group->parent));
    return consolidate(*state_);
  });
}

}  // namespace sherd::netcdf
