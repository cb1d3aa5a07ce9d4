// The info of a volume that shares its shards with a Zarr array.
#include <algorithm>

#include "base/try.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/document.hpp"
#include "neuroglancer/dual_format.hpp"
#include "neuroglancer/names.hpp"

namespace sherd::neuroglancer {
namespace {

// The default directory of the shards.
Result<std::string> key_of(const Json& resolution) {
  std::vector<double> nanometres;
  for (const Json& number : resolution.elements()) {
    SHERD_TRY(each, finite(number).in_member("resolution"));
    nanometres.push_back(each);
  }
  return key_of_resolution(nanometres);
}

// The directory is next to the array's own document and chunks.
Result<void> check_new_key(const Json& key, const NodeKeys& taken) {
  const bool good = key.is_string() && !key.text().empty() && key.text().find('/') == std::string::npos &&
                    !key.text().starts_with('.') && key.text() != "c" && key.text() != kInfo &&
                    !taken.is_document(key.text()) &&
                    !std::ranges::all_of(key.text(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  if (good) return {};
  return member_error("key", "must be the name of a directory next to the array's chunks, such as 8_8_40");
}

Json first_three(const Shape& shape) { return Json::numbers(Shape(shape.begin(), shape.begin() + 3)); }

// Keeps the other members of an earlier info, and its spelling where nothing changes.
Result<Json> printed(VolumeInfo info, const Json& kept) {
  if (kept.is_null()) return info.print();
  SHERD_TRY(earlier, VolumeInfo::parse(kept));
  info.other = earlier.other;
  info.other.set(kLayoutMember, kDualFormat);
  info.scales.front().other = earlier.scales.front().other;
  return info == earlier ? Result<Json>(kept) : info.print();
}

}  // namespace

Result<Json> volume_of(const VolumeView& view, const Json& wanted, const Json& kept, const NodeKeys& taken) {
  Json scale;
  for (const auto& [member, value] : wanted.members()) {
    if (member == "type") continue;
    if (member != "key" && member != "resolution" && member != "voxel_offset")
      return member_error(member, "is unknown; the members are type, key, resolution, voxel_offset and sharding");
    scale.set(member, value);
  }
  if (scale.find("resolution") == nullptr) scale.set("resolution", Json::numbers({1, 1, 1}));
  const Json& resolution = *scale.find("resolution");
  if (!resolution.is_array()) return member_error("resolution", "must be three numbers, the nanometres of a voxel");
  if (scale.find("key") == nullptr) {
    SHERD_TRY(key, key_of(resolution));
    scale.set("key", key);
  }
  SHERD_TRY(check_new_key(*scale.find("key"), taken));
  scale.set("size", first_three(view.shape));
  scale.set("chunk_sizes", Json(Json::Array{first_three(view.chunk_shape)}));
  scale.set("encoding", "raw");
  scale.set("sharding", view.sharding.json());
  Json document;
  const Json* type = wanted.find("type");
  document.set("type", type != nullptr ? *type : Json("image"));
  document.set("data_type", view.dtype.name());
  document.set("num_channels", view.shape[3]);
  document.set("scales", Json(Json::Array{std::move(scale)}));
  document.set(kLayoutMember, kDualFormat);
  SHERD_TRY(info, VolumeInfo::parse(document));
  SHERD_TRY(check_resolution(info.scales.front()));
  SHERD_TRY(json, printed(std::move(info), kept));
  return Json(Json::Object{{"info", std::move(json)}});
}

}  // namespace sherd::neuroglancer
