// Refuses what netCDF's older data models lack.
#include "base/try.hpp"
#include "netcdf/cdl/schema.hpp"

namespace sherd::netcdf {

namespace {

bool is_classic(Type type, DataModel model) {
  switch (type) {
    case Type::string:
      return false;
    case Type::uint8:
    case Type::uint16:
    case Type::uint32:
    case Type::int64:
    case Type::uint64:
      return model == DataModel::classic_64;
    default:
      return true;
  }
}

Error beyond(const CdlPosition& position, const std::string& what, DataModel model) {
  return at(position, invalid_argument(what + ", which " +
                                       (model == DataModel::classic ? "the classic model" : "the model of CDF-5") +
                                       " does not have; ask for netCDF-4"));
}

Result<void> check_attributes(const std::vector<Attribute>& attributes, const CdlPosition& position, DataModel model) {
  for (const Attribute& each : attributes)
    if (const Type type = type_of(each.values); !is_classic(type, model))
      return beyond(position, "the attribute '" + each.name + "' is of the type " + std::string(to_string(type)),
                    model);
  return {};
}

}  // namespace

Result<void> check_data_model(const CdlGroup& root, DataModel model) {
  if (model == DataModel::enhanced) return {};
  if (!root.group_order.empty()) return beyond(root.group_order.front()->position, "there is a group", model);
  SHERD_TRY(check_attributes(root.attributes, root.position, model));
  const CdlDimension* unlimited = nullptr;
  for (const CdlDimension* each : root.dimension_order) {
    if (!each->unlimited) continue;
    if (unlimited != nullptr)
      return beyond(each->position, "'" + each->name + "' is a second unlimited dimension", model);
    unlimited = each;
  }
  for (const CdlVariable* each : root.variable_order) {
    const NewVariable& definition = each->definition;
    if (!is_classic(definition.type, model))
      return beyond(each->position,
                    "'" + definition.name + "' is of the type " + std::string(to_string(definition.type)), model);
    SHERD_TRY(check_attributes(definition.attributes, each->position, model));
    for (std::size_t d = 1; d < each->dimensions.size(); ++d)
      if (each->dimensions[d] == unlimited)
        return beyond(each->position, "the unlimited dimension of '" + definition.name + "' is not the first", model);
  }
  return {};
}

}  // namespace sherd::netcdf
