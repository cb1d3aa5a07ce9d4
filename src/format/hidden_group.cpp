#include "format/hidden_group.hpp"

#include "base/try.hpp"
#include "format/zarr2.hpp"
#include "node/consolidated.hpp"
#include "node/path.hpp"

namespace sherd {

Result<std::optional<std::string>> hidden_group(const NodeLocation& location, const Json& group) {
  if (location.format->name() != "zarr3") return std::optional<std::string>();
  if (const auto told = consolidated_entries(*location.format, group); told && !told->empty())
    return std::optional<std::string>();
  SHERD_TRY(beside, location.store->open(join_path(location.path, zarr2::kGroup)));
  if (beside == nullptr) return std::optional<std::string>();
  SHERD_TRY(members, members_of(location));
  if (!members.empty()) return std::optional<std::string>();
  return std::optional<std::string>(
      "the group of zarr.json is empty, but .zgroup is beside it; if this is Zarr v2, use --store-format zarr2 (in "
      "Python zarr_format=2, in copies source_zarr_format=2), or remove zarr.json");
}

}  // namespace sherd
