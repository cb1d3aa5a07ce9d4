// What an attribute becomes in another format: xarray stores `_FillValue` of floats in Zarr v3 in another form than in
// Zarr v2, and opens no dataset of Zarr v3 without it.
#include "netcdf/attribute.hpp"
#include "tools/copy.hpp"

namespace sherd {

Json copied_attributes(const Format& from, const Format& to, const NodeDocument& array) {
  Json attributes = array.attributes;
  Json* fill = attributes.is_object() ? attributes.find(netcdf::kFillValue) : nullptr;
  const bool is_v3 = to.name() == "zarr3";
  if (fill == nullptr || !array.array || is_v3 == (from.name() == "zarr3")) return attributes;
  const DType::Kind kind = array.array->dtype.kind();
  if (kind != DType::Kind::float16 && kind != DType::Kind::float32 && kind != DType::Kind::float64) return attributes;
  if (is_v3) {
    const auto type = kind == DType::Kind::float32 ? netcdf::Type::float32 : netcdf::Type::float64;
    const auto values = netcdf::values_of_type(*fill, type);
    if (auto encoded = values ? netcdf::fill_for_xarray(*values) : std::nullopt) *fill = *std::move(encoded);
  } else if (const auto value = netcdf::float_of_xarray(*fill)) {
    netcdf::Values values = std::vector{*value};
    if (kind == DType::Kind::float32) values = std::vector{static_cast<float>(*value)};
    if (auto number = netcdf::attribute_json(values, netcdf::TextForm::plain)) *fill = *std::move(number);
  }
  return attributes;
}

}  // namespace sherd
