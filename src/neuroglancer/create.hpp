// Creating a volume at a location.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "node/node_location.hpp"
#include "sherd/precomputed.hpp"

namespace sherd {
struct VolumeView;
}  // namespace sherd

namespace sherd::neuroglancer {

/// The encodings of scales that can be written and read.
inline constexpr std::array<std::string_view, 4> kVolumeEncodings{"raw", "jpeg", "png", "compressed_segmentation"};

/// The document of a volume, and that of one of its scales.
[[nodiscard]] Json volume_document(Json info);
[[nodiscard]] Json scale_document(Json info, std::uint64_t number);
/// The info in either of them; nullptr if the document belongs to another format.
[[nodiscard]] const Json* info_in(const Json& document) noexcept;

/// The document of a volume at a path, or of one of its scales: {"info": …, "scale": number}. With "axes", a list of
/// "x", "y", "z" and "c" in any order, the scale is an array with these dimensions; "c" may be omitted if there is one
/// channel.
Result<NodeDocument> lower_volume(Json document, const std::string& volume);

/// The document of a volume that shares its shards with a Zarr array, {"info": …}. `wanted` has members of the document
/// or its scale; `kept` is an earlier info of the volume whose other members are kept, or null. `taken` are the keys of
/// the array, whose directory contains that of the scale.
Result<Json> volume_of(const VolumeView& view, const Json& wanted, const Json& kept, const NodeKeys& taken);

/// Checks an encoding and a sharding (null: none) that a caller chooses for a scale. Unknown names are
/// invalid_argument, with the nearest name; in a stored document they could be from a later version of the format.
Result<void> check_scale_names(std::string_view encoding, const Json& sharding);
/// Parses the info of a new volume: VolumeInfo::parse(), and check_scale_names() for each scale.
Result<VolumeInfo> parse_given_info(const Json& document);

/// The resolution of a scale must be three numbers above 0, as Neuroglancer requires; others read it differently.
Result<void> check_resolution(const VolumeScale& scale);

/// An error about the codecs of a scale, whose document names all of them with one word.
Error in_encoding(Error error);

/// See create_precomputed(). `location` is writable and has the precomputed format.
Result<Group> create_volume(NodeLocation location, const VolumeInfo& info, bool overwrite);

}  // namespace sherd::neuroglancer
