// Converts an attribute for another format: in some formats xarray stores `_FillValue` of floats in another form, and
// cannot open their datasets without it. Warns of what the other format has no place for.
#include <algorithm>
#include <set>
#include <string_view>

#include "base/try.hpp"
#include "copy/planned_copy.hpp"
#include "io/axes.hpp"
#include "netcdf/attribute.hpp"

namespace sherd {

namespace {

/// A float in `_FillValue`, or a part of a complex number there.
Json copied_fill(const Json& fill, netcdf::Type type, bool encoded) {
  if (encoded) {
    const auto values = netcdf::values_of_type(fill, type);
    return (values ? netcdf::fill_for_xarray(*values) : std::nullopt).value_or(fill);
  }
  const auto value = netcdf::float_of_xarray(fill);
  if (!value) return fill;
  netcdf::Values values = std::vector{*value};
  if (type == netcdf::Type::float32) values = std::vector{static_cast<float>(*value)};
  auto number = netcdf::attribute_json(values, netcdf::TextForm::plain);
  return number ? *std::move(number) : fill;
}

}  // namespace

Json copied_attributes(const Format& from, const Format& to, const NodeDocument& array) {
  Json attributes = array.attributes;
  Json* fill = attributes.is_object() ? attributes.find(netcdf::kFillValue) : nullptr;
  const bool encoded = to.traits().encodes_fill_attribute;
  if (fill == nullptr || !array.array || encoded == from.traits().encodes_fill_attribute) return attributes;
  const DType::Kind kind = array.array->dtype.kind();
  const bool single = kind == DType::Kind::float32 || kind == DType::Kind::complex64;
  const netcdf::Type type = single ? netcdf::Type::float32 : netcdf::Type::float64;
  if (kind == DType::Kind::float16 || kind == DType::Kind::float32 || kind == DType::Kind::float64)
    *fill = copied_fill(*fill, type, encoded);
  else if ((kind == DType::Kind::complex64 || kind == DType::Kind::complex128) && fill->elements().size() == 2)
    for (Json& part : fill->elements()) part = copied_fill(part, type, encoded);
  return attributes;
}

std::vector<std::string> short_names(const ArraySpec& spec) {
  std::vector<std::string> names(spec.shape.size());
  for (std::size_t d = 0; d < spec.dimension_names.size(); ++d)
    names[d] = short_axis_name(spec.dimension_names[d].value_or(""));
  return names;
}

Result<void> set_axes(const std::vector<std::string>& axes, ArraySpec& spec) {
  if (axes.empty()) return {};
  SHERD_TRY(names, axis_names(axes).in_member("axes"));
  if (names.size() != spec.shape.size())
    return std::move(invalid_argument("the copy has " + std::to_string(spec.shape.size()) + " dimensions"))
        .in_member("axes");
  spec.dimension_names.assign(names.begin(), names.end());
  return {};
}

void warn_of_left_behind(const Format& from, const Format& to, const NodeDocument& node, const std::string& key,
                         std::vector<std::string>& warnings) {
  constexpr std::size_t most = 8;  // a damaged document may have any number
  const std::vector<std::string> names = from.ignored_members(node.document);
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    warnings.push_back("'" + key + "': the member '" + names[i] + "' is not copied; the format " +
                       std::string(to.name()) + " has no place for it");
  if (names.size() > most)
    warnings.push_back("'" + key + "': " + std::to_string(names.size() - most) + " more members are not copied");
}

void warn_of_replaced(const Json& attributes, const NodeDocument& copy, const std::string& key,
                      std::vector<std::string>& warnings) {
  std::set<std::string_view> kept;
  for (const auto& [name, value] : copy.attributes.members()) kept.insert(name);
  for (const auto& [name, value] : attributes.members()) {
    if (kept.contains(name)) continue;
    Json::Array names;
    for (const auto& each : copy.array->dimension_names) names.push_back(each ? Json(*each) : Json());
    if (value == Json(names)) continue;
    warnings.push_back("'" + key + "': the attribute '" + name + "' is replaced by the names of the dimensions, " +
                       Json(std::move(names)).dump());
  }
}

}  // namespace sherd
