// OME-NGFF (https://ngff.openmicroscopy.org) as stored in groups: version 0.5 in the attribute `ome`, version 0.4 among
// the attributes themselves. This is the only part of Sherd that knows its members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/consolidated.hpp"
#include "node/format.hpp"
#include "ome/image.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd {

/// The version with which groups of a format describe images: "0.4" in Zarr v2, otherwise "0.5".
[[nodiscard]] std::string_view ome_version_of(const Format& format);

/// The OME-XML of all images below a group, in the layout of bioformats2raw.
inline constexpr SideDocument kOmeXmlDocument{"OME", "METADATA.ome.xml"};

/// The object that contains OME-NGFF's members: `ome`, or the attributes themselves.
[[nodiscard]] const Json& ome_members(const Json& attributes);
/// A member of it; nullptr if it does not exist.
[[nodiscard]] const Json* ome_member(const Json& attributes, std::string_view name);
/// Whether the attributes have this member of OME-NGFF, and not one of another program with the same name.
[[nodiscard]] bool is_ome_member(const Json& attributes, std::string_view name, const std::string& path);

/// The attributes of a group with OME-NGFF's metadata converted to `version`. `path` is the group's. Other versions,
/// and other attributes, are unchanged.
Json as_ome_version(const Json& attributes, std::string_view version, const std::string& path);

/// The key of the document that stores a group's attributes, and the member that they are in it: "" or "attributes".
/// For messages.
[[nodiscard]] std::string attributes_key(const Format& format, const std::string& path);
[[nodiscard]] std::string_view attributes_member(const Format& format) noexcept;
/// The attributes of a group, with OME-NGFF's metadata of versions before 0.4 converted to 0.4 (early.hpp).
Result<Json> ome_attributes(const NodeLocation& group, const Json& attributes);

/// For a group whose attributes contain `multiscales`; otherwise nullopt. Invalid metadata are `corrupt`; the error
/// says where they are stored.
Result<std::optional<Image>> image_of_group(const NodeLocation& group, const Json& attributes);
/// One of the images in `multiscales`, which is not of a version before 0.4. `corrupt` if it does not exist.
Result<Image> image_in(const Json& attributes, std::size_t number);
/// The position of the centre of a level's first element along each axis, in its unit.
[[nodiscard]] std::vector<double> translation_of(const Image& image, std::size_t level);
/// A description of an image for people and programs: {"version", "name", "axes", "levels", "labels", "omero"}, with
/// the shape and type of each level's array. nullopt if the group is not an image; `corrupt` as for image_of_group().
Result<std::optional<Json>> describe_image(const Group& group);
/// `given`, the attributes of a group, with those of this image in OME-NGFF 0.5 added.
Json group_attributes(const Image& image, Json given, const DType& dtype);
/// A resolution of an image, as the document has it.
struct OmeDataset {
  std::string member;             ///< such as "multiscales[0].datasets[1]"
  std::size_t image = 0;          ///< the number of its image in `multiscales`
  std::string path;               ///< below the group
  std::vector<std::string> axes;  ///< names
};
/// The resolutions of all images of a group; empty if it has none.
[[nodiscard]] std::vector<OmeDataset> ome_datasets(const Json& attributes);

/// `listed`, the members of a group; or, if that is an error because neither the store nor consolidated metadata list
/// them, those that exist of the ones that OME-NGFF's metadata name, of the group or of those around it. The error if
/// no metadata name any.
Result<Members> listed_or_named(Result<Members> listed, const NodeLocation& group);

/// The attributes of the group `labels` with `name` added to its list of labels.
Json with_label(Json attributes, const std::string& name, std::string_view version);

/// The attributes of a group after the path `name` has become `to` or, without `to`, was erased: entries for that path
/// or one below it (resolutions, labels, images of a well, wells of a plate) are updated. `path` is the group's.
/// nullopt if nothing changes; the last entry of a list is kept, except in a list of labels.
[[nodiscard]] std::optional<Json> with_renamed_member(const Json& attributes, const std::string& path,
                                                      std::string_view name, const std::optional<std::string>& to);

/// A violation of an OME-NGFF rule in a group. Warnings are violations that readers accept.
struct OmeFinding {
  bool is_error = true;
  std::string member;  ///< of the attributes, such as "ome.multiscales[0].axes"
  std::string message;
};
/// Checks OME-NGFF's members of a group; `path` is the group's, `version` that of its format. Reads no other node.
[[nodiscard]] std::vector<OmeFinding> check_ome(const Json& attributes, std::string_view version,
                                                const std::string& path);

/// What a group is, according to its metadata.
struct OmeGroup {
  bool is_old = false;                                          ///< 0.4
  std::string prefix;                                           ///< of members among the attributes: "" or "ome."
  std::vector<OmeDataset> datasets = {};                        ///< of an image
  std::size_t multiscales = 0;                                  ///< how many lists of resolutions it has
  std::vector<std::string> labels = {};                         ///< of a group of labels: names of its images
  std::vector<std::string> wells = {};                          ///< of a plate: paths
  std::vector<std::string> images = {};                         ///< of a well: paths
  std::optional<std::vector<std::uint64_t>> acquisitions = {};  ///< of a plate
  std::vector<std::uint64_t> image_acquisitions = {};           ///< of a well
  bool is_series = false;                                       ///< bioformats2raw: images are called 0, 1, …
};
/// nullopt if the attributes contain none of these; `path` is the group's.
[[nodiscard]] std::optional<OmeGroup> ome_group(const Json& attributes, const std::string& path);

}  // namespace sherd
