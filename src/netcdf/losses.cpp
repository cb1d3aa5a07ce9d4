// What a dataset in pure Zarr has no metadata for, so that readers find something else than was defined.
#include <algorithm>

#include "netcdf/attribute.hpp"
#include "netcdf/model.hpp"
#include "netcdf/type.hpp"
#include "netcdf/writer.hpp"

namespace sherd::netcdf {

namespace {

class Losses {
 public:
  explicit Losses(const Form& form) : form_(form) {}

  void add(const GroupDefinition& group) {  // NOLINT(misc-no-recursion)
    add(group.attributes, group.path);
    for (const auto& each : group.dimensions) {
      if (each->anonymous) continue;
      const std::string name = member_path(group.path, each->name);
      if (!is_used(*each, group))
        found_.push_back(name + ": the dimension is left out: pure Zarr has only those of variables");
      else if (form_.mode.noxarray)
        found_.push_back(name + ": the dimension loses its name: with noxarray, pure Zarr has none" +
                         (each->unlimited ? ", and becomes fixed" : ""));
      else if (each->unlimited)
        found_.push_back(name + ": the dimension becomes fixed: pure Zarr has no unlimited ones");
    }
    for (const auto& each : group.variables) add(*each, member_path(group.path, each->options.name));
    for (const auto& each : group.groups) add(*each);
  }

  std::vector<std::string> found() && { return std::move(found_); }

 private:
  void add(const VariableDefinition& variable, const std::string& path) {
    add(variable.options.attributes, path);
    if (variable.options.type == Type::character)
      found_.push_back(path + ": pure Zarr has no characters: they become " +
                       (form_.v3() ? "ubyte" : "strings of one byte"));
    if (variable.options.no_fill && form_.v3())
      found_.push_back(path + ": pure Zarr v3 has no variables without a fill value (_NoFill): it has one");
  }

  /// One sentence for all attributes of a group or variable.
  void add(const std::vector<Attribute>& attributes, const std::string& path) {
    std::string changed;
    for (const Attribute& each : attributes) {
      if (each.name == kFillValue || is_hidden_attribute(each.name)) continue;
      const Type now = type_without_note(each.values);
      if (now == type_of(each.values)) continue;
      changed += (changed.empty() ? "" : ", ") + std::string("'") + each.name + "' (" +
                 std::string(to_string(type_of(each.values))) + " becomes " + std::string(to_string(now)) + ")";
    }
    if (!changed.empty()) found_.push_back(path + ": pure Zarr has no types of attributes: " + changed);
  }

  /// The type that readers infer from the JSON of an attribute without a note.
  static Type type_without_note(const Values& values) {
    const auto json = attribute_json(values, TextForm::plain);
    return json ? type_of(inferred_values(*json)) : type_of(values);
  }

  static bool is_used(const DimensionDefinition& dimension,
                      const GroupDefinition& group) {  // NOLINT(misc-no-recursion)
    const auto has_it = [&](const auto& each) {
      return std::ranges::find(each->dimensions, &dimension) != each->dimensions.end();
    };
    return std::ranges::any_of(group.variables, has_it) ||
           std::ranges::any_of(group.groups, [&](const auto& each) { return is_used(dimension, *each); });
  }

  const Form& form_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> losses_of(const Writer::State& state) {
  if (!state.form.mode.pure) return {};
  Losses losses(state.form);
  losses.add(state.root);
  return std::move(losses).found();
}

std::vector<std::string> Writer::losses() const {
  const std::scoped_lock lock(state_->mutex);
  std::vector<std::string> losses = losses_of(*state_);
  std::erase_if(losses, [&](const std::string& each) {
    return std::ranges::find(state_->lost_before, each) != state_->lost_before.end();
  });
  return losses;
}

}  // namespace sherd::netcdf
