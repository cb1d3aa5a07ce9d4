// Variables grow with their unlimited dimensions, including those that others created while a writer was open: netcdf-c
// cannot open a dataset with a variable shorter than its dimension. All of them are changed together, and consolidated
// metadata once afterwards.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "array/core.hpp"
#include "array/nodes.hpp"
#include "array/resize.hpp"
#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "netcdf/model.hpp"
#include "netcdf/note_forms.hpp"
#include "netcdf/writer.hpp"
#include "node/consolidated.hpp"
#include "node/document.hpp"

namespace sherd::netcdf {

namespace {

/// Adds the new parts of a grown array to those to be filled: one box for each dimension that has grown.
void add_unfilled(VariableDefinition& variable, Shape old, const Shape& now) {
  for (std::size_t d = 0; d < now.size(); ++d) {
    if (old[d] >= now[d]) continue;
    Box box{Shape(now.size(), 0), old};
    box.origin[d] = old[d];
    box.shape[d] = now[d] - old[d];
    variable.unfilled.push_back(std::move(box));
    old[d] = now[d];
  }
}

/// Fills a box of a variable whose fill value is a text, which its array cannot have.
Result<void> fill_text(const VariableDefinition& variable, const Box& box) {
  const auto fill = text_fill(variable);
  if (!fill || element_count(box.shape) == 0U) return {};
  const DType& dtype = variable.array->dtype();
  std::vector<std::byte> element(dtype.size());
  if (dtype.is_variable()) {
    const VarBytes handle{fill->data(), fill->size()};
    std::memcpy(element.data(), &handle, sizeof handle);
  } else {
    std::memcpy(element.data(), fill->data(), std::min(fill->size(), element.size()));
  }
  return variable.array->fill(box, element);
}

template <class Visit>
Result<void> visit_variables(GroupDefinition& group, const Visit& visit) {  // NOLINT(misc-no-recursion)
  for (const auto& each : group.variables) SHERD_TRY(visit(*each));
  for (const auto& each : group.groups) SHERD_TRY(visit_variables(*each, visit));
  return {};
}

/// The new lengths of dimensions.
using Lengths = std::map<DimensionDefinition*, std::uint64_t>;

/// The lengths required for a box, for dimensions that are shorter.
Result<Lengths> lengths_for(const VariableDefinition& variable, const Box& box) {
  Lengths longer;
  for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
    DimensionDefinition& dimension = *variable.dimensions[d];
    const auto end = checked_add(box.origin[d], box.shape[d]);
    if (end && *end <= dimension.length) continue;
    if (!end || *end > kLongestDimension)
      return invalid_argument("the box ends beyond 2^62 along '" + dimension.name + "', the largest length");
    if (!dimension.unlimited)
      return invalid_argument("the box ends at " + std::to_string(*end) + " along '" + dimension.name +
                              "', whose length is " + std::to_string(dimension.length));
    std::uint64_t& length = longer[&dimension];
    length = std::max(length, *end);
  }
  return longer;
}

/// Whether another process erased the array without replacing it.
Result<bool> is_erased(const Array& array) {
  const NodeLocation& location = array.state().location;
  SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
  return !node;
}

using Grown = std::vector<std::pair<VariableDefinition*, Shape>>;

/// Extends all stored variables to their dimensions, except for erased ones other than `written`, and without it also
/// except for those that cannot be written. `grown` receives those that were shorter, with their shapes.
Result<void> grow_variables(Writer::State& state, const VariableDefinition* written, Grown& grown) {
  std::vector<VariableDefinition*> shorter;
  SHERD_TRY(visit_variables(state.root, [&](VariableDefinition& each) -> Result<void> {
    if (!each.array || each.dimensions.empty()) return {};
    if (each.array->shape() == each.shape() && each.unfilled.empty()) return {};
    if (written == nullptr && !each.refused.empty()) return {};
    shorter.push_back(&each);
    return check_writable(each);
  }));
  std::mutex mutex;
  return parallel_for(shorter.size(), waiting(state.form), [&](std::size_t i) -> Result<void> {
    VariableDefinition& each = *shorter[i];
    const Shape old = each.array->shape(), now = each.shape();
    if (auto resized = old != now ? resize_from(*each.array, old, now) : Result<void>(); !resized) {
      if (written == nullptr && resized.error().code() == ErrorCode::conflict) return {};  // others extend it, too
      SHERD_TRY(erased, &each != written ? is_erased(*each.array) : false);
      if (erased) return {};
      return std::move(resized).error().in("'" + each.options.name + "'");
    }
    add_unfilled(each, old, now);
    {
      const std::scoped_lock lock(mutex);
      grown.emplace_back(&each, old);
    }
    return fill_new_parts(each);
  });
}

Result<void> renew_grown(const Form& form, const Grown& grown) {
  std::vector<std::string> paths;
  for (const auto& [each, shape] : grown) paths.push_back(each->array->path());
  return renew_consolidated_of(form.location, paths);
}

/// By the full names of dimensions.
using GrownLengths = std::map<std::string, std::uint64_t, std::less<>>;

Result<void> grow_array(NodeLocation location, const GrownLengths& lengths) {
  const auto found = find_node(std::move(location));
  if (!found && !is_stored_fault(found.error())) return found.error();
  const auto* array = found && *found ? std::get_if<Array>(&**found) : nullptr;
  if (array == nullptr) return {};
  Warnings ignored;
  const auto note = array_note({.path = {}, .name = {}, .document = array->state().document().document}, ignored);
  const Shape old = array->shape();
  if (!note || note->dimensions.size() != old.size()) return {};
  Shape now = old;
  for (std::size_t d = 0; d < old.size(); ++d)
    if (const auto grown = lengths.find(note->dimensions[d]); grown != lengths.end())
      now[d] = std::max(now[d], grown->second);
  return now != old ? resize_from(*array, old, now) : Result<void>();
}

/// The paths of listed variables in and below the group at `path` that the writer does not know. `known` is the
/// writer's definition of that group; nullptr if others created it.
Result<void> find_others(const Form& form, const std::string& path,  // NOLINT(misc-no-recursion)
                         const GroupDefinition* known, std::vector<std::string>& others, std::size_t depth = 0) {
  const NodeLocation location = form.at(path);
  SHERD_TRY(node, location.format->open(*location.store, location.path, location.config.limits));
  const auto note = node && node->type == NodeType::group ? note_of_group(node->document) : std::nullopt;
  if (!note || depth > kMaxGroupDepth) return {};
  for (const ListedMember& each : note->members) {
    std::string below = member_path(path, each.name);
    if (each.type == NodeType::group) {
      const GroupDefinition* next = nullptr;
      for (std::size_t i = 0; known != nullptr && next == nullptr && i < known->groups.size(); ++i)
        if (known->groups[i]->name == each.name) next = known->groups[i].get();
      SHERD_TRY(find_others(form, below, next, others, depth + 1));
    } else if (known == nullptr || !known->has_member(each.name)) {
      others.push_back(std::move(below));
    }
  }
  return {};
}

}  // namespace

Result<void> fill_new_parts(VariableDefinition& variable) {
  for (; !variable.unfilled.empty(); variable.unfilled.pop_back())
    SHERD_TRY(fill_text(variable, variable.unfilled.back()));
  return {};
}

Result<void> check_writable(const VariableDefinition& variable) {
  if (variable.refused.empty()) return {};
  return unsupported("the variable '" + variable.options.name + "' cannot be written: " + variable.refused);
}

Result<void> catch_up(Writer::State& state) {
  if (!state.behind) return {};
  Grown grown;
  SHERD_TRY(grow_variables(state, nullptr, grown));
  SHERD_TRY(renew_grown(state.form, grown));
  state.behind = false;
  return {};
}

Result<void> grow(Writer::State& state, VariableDefinition& variable, const Box& box) {
  SHERD_TRY(catch_up(state));
  SHERD_TRY(lengths, lengths_for(variable, box));
  if (lengths.empty()) return {};
  const auto exchange = [&] {
    for (auto& [dimension, length] : lengths) std::swap(dimension->length, length);
  };
  exchange();
  Grown grown;
  auto done = grow_variables(state, &variable, grown);
  if (done) done = renew_grown(state.form, grown);
  if (!done) {
    // A variable that cannot be shortened again is longer than its dimension, which readers accept.
    for (const auto& [each, shape] : grown)
      if (resize_from(*each->array, each->shape(), shape)) each->unfilled.clear();
    static_cast<void>(renew_grown(state.form, grown));
    exchange();
    return done;
  }
  for (const auto& [dimension, length] : lengths) dimension->group->changed = true;
  return {};
}

Result<void> grow_others(const Form& form, const GroupDefinition& group) {
  GrownLengths lengths;
  for (const auto& each : group.dimensions)
    if (each->noted && each->noted != each->length) lengths.emplace(member_path(group.path, each->name), each->length);
  if (lengths.empty()) return {};
  std::vector<std::string> others, paths;
  SHERD_TRY(find_others(form, group.path, &group, others));
  SHERD_TRY(parallel_for(others.size(), waiting(form), [&](std::size_t i) {
    return grow_array(form.at(others[i]), lengths).in([&] { return others[i]; });
  }));
  for (const std::string& each : others) paths.push_back(form.at(each).path);
  return renew_consolidated_of(form.location, paths);
}

}  // namespace sherd::netcdf
