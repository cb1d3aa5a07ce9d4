// Variables grow with their unlimited dimensions: netcdf-c cannot open a dataset with a variable shorter than its
// dimension. All of them are changed together, and consolidated metadata once afterwards. The first growth after the
// lengths were stored looks for definitions by other processes, which could be of more such variables.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "array/resize.hpp"
#include "base/checked.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"
#include "netcdf/member_notes.hpp"
#include "netcdf/model.hpp"
#include "netcdf/writer.hpp"
#include "node/consolidated.hpp"

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

using Grown = std::vector<std::pair<VariableDefinition*, Shape>>;

/// Extends all stored variables to their dimensions, with `skips` except for those that cannot be written. `grown`
/// receives those that were shorter, with their shapes.
Result<void> grow_variables(Writer::State& state, bool skips, Grown& grown) {
  std::vector<VariableDefinition*> shorter;
  SHERD_TRY(visit_variables(state.root, [&](VariableDefinition& each) -> Result<void> {
    if (!each.array || each.dimensions.empty()) return {};
    if (each.known_shape == each.shape() && each.unfilled.empty()) return {};
    if (skips && !each.refused.empty()) return {};
    shorter.push_back(&each);
    return check_writable(each);
  }));
  std::mutex mutex;
  return parallel_for(shorter.size(), waiting(state.form), [&](std::size_t i) -> Result<void> {
    VariableDefinition& each = *shorter[i];
    const Shape old = each.known_shape, now = each.shape();
    if (old != now) SHERD_TRY(resize_from(*each.array, old, now).in([&] { return "'" + each.options.name + "'"; }));
    each.known_shape = now;
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
  SHERD_TRY(grow_variables(state, true, grown));
  SHERD_TRY(renew_grown(state.form, grown));
  state.behind = false;
  return {};
}

Result<void> grow(Writer::State& state, VariableDefinition& variable, const Box& box) {
  SHERD_TRY(catch_up(state));
  SHERD_TRY(lengths, lengths_for(variable, box));
  if (lengths.empty()) return {};
  for (const auto& [dimension, length] : lengths)
    if (dimension->noted == dimension->length) SHERD_TRY(check_definitions(state.form, *dimension->group, true));
  const auto exchange = [&] {
    for (auto& [dimension, length] : lengths) std::swap(dimension->length, length);
  };
  exchange();
  Grown grown;
  auto done = grow_variables(state, false, grown);
  if (done) done = renew_grown(state.form, grown);
  if (!done) {
    // A variable that remains longer than its dimension is read, and the next writer extends the others. After a
    // conflict nothing is shortened: another writer may have written there.
    const bool is_alone = done.error().code() != ErrorCode::conflict;
    for (const auto& [each, shape] : grown) {
      if (is_alone && resize_from(*each->array, each->known_shape, shape)) each->unfilled.clear();
      each->known_shape = shape;
    }
    static_cast<void>(renew_grown(state.form, grown));
    exchange();
    return done;
  }
  for (const auto& [dimension, length] : lengths) dimension->group->changed = true;
  return {};
}

Result<void> lengths_changed(const NodeLocation& group) {
  SHERD_TRY(root, dataset_around(group));
  if (!root) return {};
  SHERD_TRY(writer, open_writer(*std::move(root), {}));
  return writer.sync();
}

}  // namespace sherd::netcdf
