// Converts an attribute for another format: in some formats xarray stores `_FillValue` of floats in another form, and
// cannot open their datasets without it.
#include "copy/planned_copy.hpp"
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

}  // namespace sherd
