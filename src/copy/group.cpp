// Converts a group's metadata for a copy to another format. Only the members of OME-NGFF change.
#include "base/try.hpp"
#include "copy/planned_copy.hpp"
#include "node/format.hpp"
#include "ome/ome.hpp"

namespace sherd {
namespace {

/// What is converted from a version before 0.4 must become valid metadata.
Result<void> refuse_invalid_conversion(const NodeLocation& location, const Json& given, const Json& converted) {
  if (given == converted) return {};
  for (const OmeFinding& each : check_ome(converted, "0.4", location.path))
    if (each.is_error)
      return std::move(unsupported(each.message +
                                   " in OME-NGFF 0.4, to which a copy converts older metadata; correct it, or copy the "
                                   "arrays one by one"))
          .in_key(attributes_key(*location.format, location.path))
          .in_member(each.member)
          .in_member(attributes_member(*location.format));
  return {};
}

}  // namespace

Result<Json> copied_group(const NodeLocation& location, const NodeDocument& source, const NodeLocation& destination) {
  SHERD_TRY(present, ome_attributes(location, source.attributes));
  SHERD_TRY(refuse_invalid_conversion(location, source.attributes, present));
  const Format& to = *destination.format;
  return to.group_document(as_ome_version(present, ome_version_of(to), location.path));
}

}  // namespace sherd
