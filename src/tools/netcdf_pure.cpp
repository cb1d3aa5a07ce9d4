// Reports what a copy in pure Zarr has no metadata for, so that readers find something different from the source.
#include <algorithm>

#include "netcdf/attribute.hpp"
#include "netcdf/type.hpp"
#include "tools/netcdf_copy.hpp"

namespace sherd::netcdf {

namespace {

/// The type that readers infer from the JSON of an attribute without a note.
Type type_without_note(const Values& values) {
  const auto json = attribute_json(values, TextForm::plain);
  return json ? type_of(inferred_values(*json)) : type_of(values);
}

/// One warning for all attributes of a group or variable.
void warn_of_attributes(const std::vector<Attribute>& attributes, const std::string& place,
                        std::vector<std::string>& warnings) {
  std::string changed;
  for (const Attribute& each : attributes) {
    if (each.name == kFillValue || is_hidden_attribute(each.name)) continue;
    const Type now = type_without_note(each.values);
    if (now == type_of(each.values)) continue;
    changed += (changed.empty() ? "" : ", ") + std::string("'") + each.name + "' (" +
               std::string(to_string(type_of(each.values))) + " becomes " + std::string(to_string(now)) + ")";
  }
  if (!changed.empty()) warnings.push_back(place + ": pure Zarr has no types of attributes: " + changed);
}

bool is_used(const Dimension& dimension, const Group& group) {  // NOLINT(misc-no-recursion)
  const auto has_it = [&](const Variable& each) {
    return std::ranges::find(each.dimensions(), dimension.full_name(), &Dimension::full_name) !=
           each.dimensions().end();
  };
  return std::ranges::any_of(group.variables(), has_it) ||
         std::ranges::any_of(group.groups(), [&](const Group& each) { return is_used(dimension, each); });
}

}  // namespace

void warn_of_pure_group(const Group& group, bool fixed, std::vector<std::string>& warnings) {
  warn_of_attributes(group.attributes(), group.path(), warnings);
  for (const Dimension& each : group.dimensions())
    if (!is_used(each, group))
      warnings.push_back(each.full_name() + ": the dimension is left out: pure Zarr has only those of variables");
    else if (each.unlimited && !fixed)
      warnings.push_back(each.full_name() + ": the dimension becomes fixed: pure Zarr has no unlimited ones");
}

void warn_of_pure_variable(const Variable& variable, FilterForm form, std::vector<std::string>& warnings) {
  warn_of_attributes(variable.attributes(), variable.full_name(), warnings);
  if (variable.type() == Type::character)
    warnings.push_back(variable.full_name() + ": pure Zarr has no characters: they become " +
                       (form == FilterForm::zarr3 ? "ubyte" : "strings of one byte"));
}

}  // namespace sherd::netcdf
