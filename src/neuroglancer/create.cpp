// Creates a volume: everything, including the codecs of its scales, is checked before the info is written.
#include "neuroglancer/create.hpp"

#include <algorithm>

#include "array/nodes.hpp"
#include "base/nearest.hpp"
#include "base/try.hpp"
#include "neuroglancer/document.hpp"
#include "node/document.hpp"
#include "shard/uint64.hpp"

namespace sherd::neuroglancer {

Error in_encoding(Error error) {
  if (!error.member().starts_with("codecs")) return error;
  return Error(error.code(), error.message()).in_member("encoding");
}

Result<void> check_scale_names(std::string_view encoding, const Json& sharding) {
  const bool is_others = encoding == "compresso" || encoding == "jxl";  // which Sherd cannot encode
  if (std::ranges::find(kVolumeEncodings, encoding) == kVolumeEncodings.end() && !is_others) {
    const std::string hint = did_you_mean(encoding, {kVolumeEncodings.begin(), kVolumeEncodings.end()});
    return member_error("encoding", "unknown encoding '" + std::string(encoding) + "'" +
                                        (hint.empty() ? "; use raw, jpeg, png or compressed_segmentation" : hint));
  }
  if (sharding.is_object()) SHERD_TRY(Uint64Sharding::parse_given(sharding).in_member("sharding"));
  return {};
}

Result<VolumeInfo> parse_given_info(const Json& document) {
  const Json* scales = document.find("scales");
  for (std::size_t i = 0; scales != nullptr && i < scales->elements().size(); ++i) {
    const Json* encoding = scales->elements()[i].find("encoding");
    const Json* sharding = scales->elements()[i].find("sharding");
    if (encoding == nullptr || !encoding->is_string()) continue;
    SHERD_TRY(check_scale_names(encoding->text(), sharding == nullptr ? Json() : *sharding)
                  .in_member("scales[" + std::to_string(i) + "]"));
  }
  return VolumeInfo::parse(document);
}

Result<void> check_resolution(const VolumeScale& scale) {
  if (std::ranges::all_of(scale.resolution, [](double length) { return length > 0; })) return {};
  return member_error("resolution", "must be three numbers above 0: nanometres per voxel");
}

Result<Group> create_volume(NodeLocation location, const VolumeInfo& info, bool overwrite) {
  SHERD_TRY(json, info.print());
  for (std::size_t i = 0; i < info.scales.size(); ++i) {
    const std::string member = "scales[" + std::to_string(i) + "]";
    SHERD_TRY(check_resolution(info.scales[i]).in_member(member));
    SHERD_TRY(check_scale_names(info.scales[i].encoding, info.scales[i].sharding).in_member(member));
    // In a stored document such a key is unsupported; here it is an invalid argument.
    if (const auto directory = directory_of(location.path, info.scales[i].key); !directory)
      return invalid_argument(directory.error().message()).in_member("key").in_member(member);
    SHERD_TRY(scale, lower_volume(scale_document(json, i), location.path));
    if (scale.array->no_access) return Error(*scale.array->no_access).in_member(member);
    if (scale.array->no_change) return *scale.array->no_change;
    NodeLocation reading = location;
    reading.writable = false;
    if (auto made = make_array(std::move(reading), std::move(scale)); !made)
      return in_encoding(std::move(made).error()).in_member(member);
  }
  SHERD_TRY(node, lower_volume(volume_document(std::move(json)), location.path));
  return create_group_of(std::move(location), std::move(node), overwrite);
}

}  // namespace sherd::neuroglancer
