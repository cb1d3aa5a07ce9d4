// Checks OME-NGFF images: the arrays of their resolutions, their labels, plates and wells. Errors are violations that
// the validators of ome-zarr-models refuse; violations of the specification that they accept are warnings, which for
// 0.4 includes everything about labels. Also checks that the levels of images and volumes agree with their scales.
#include "check/ome.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/try.hpp"
#include "codec/number.hpp"
#include "io/image.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/document.hpp"
#include "node/path.hpp"
#include "ome/ome.hpp"
#include "sherd/neuroglancer.hpp"

namespace sherd {
namespace {

constexpr std::string_view kMetadata = "ome_metadata", kNode = "ome_node", kLevel = "level_shape";

bool is_image(const NodeDocument& node, const std::string& path) {
  const auto group = ome_group(node.attributes, path);
  return node.type == NodeType::group && group && group->multiscales > 0;
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

/// A member of the attributes as the document has it.
std::string member_text(const Format& format, const std::string& member) {
  const std::string_view above = attributes_member(format);
  return quoted(above.empty() ? member : std::string(above) + "." + member);
}

std::vector<std::string> names_of(const ArraySpec& spec) {
  std::vector<std::string> names;
  for (const auto& name : spec.dimension_names) names.push_back(name.value_or(""));
  return names;
}

struct Axis {
  double length, spacing, begin;  ///< in elements, in the unit of the axis, in the unit of the axis
};

Axis axis_of(const ImageLevel& level, const Shape& shape, std::size_t d) {
  return {static_cast<double>(shape[d]), level.spacing[d], level.offset[d] * level.spacing[d]};
}

// Whether a level covers the same space as the finest, except for less than one of its elements. Scales may be rounded
// decimals. The elements of an image that does not begin at 0 may extend beyond it at both ends.
bool covers(const Axis& level, const Axis& finest) {
  constexpr double kLessThanOne = 1 - 1e-6;
  const auto agrees = [&](double factor) { return std::abs(level.length - finest.length / factor) < kLessThanOne; };
  const double factor = level.spacing / finest.spacing, whole = std::round(factor);
  if (agrees(factor) || (std::abs(factor - whole) < 0.02 * whole && agrees(whole))) return true;
  const auto end = [](const Axis& axis) { return axis.begin + axis.length * axis.spacing; };
  const double reach = level.spacing * kLessThanOne;
  return finest.begin != 0 && factor > 1.5 && std::abs(level.begin - finest.begin) < reach &&
         std::abs(end(level) - end(finest)) < reach;
}

// Reports levels whose lengths contradict their scales. `members` are those that describe the levels, in the document.
void check_lengths(const Image& image, const std::vector<Shape>& shapes, const std::vector<std::string>& members,
                   Findings& to) {
  for (std::size_t i = 1; i < image.levels.size(); ++i)
    for (std::size_t d = 0; d < image.axes.size(); ++d) {
      const Axis level = axis_of(image.levels[i], shapes[i], d), finest = axis_of(image.levels[0], shapes[0], d);
      if (covers(level, finest)) continue;
      const double factor = level.spacing / finest.spacing;
      to.warning(kLevel, {},
                 members[i] + ": has " + std::to_string(shapes[i][d]) + " elements along " + image.axes[d] +
                     ", which its scale contradicts: of the " + std::to_string(shapes[0][d]) +
                     " of the finest level it makes " + neuroglancer::number_json(tidy(finest.length / factor)).dump() +
                     "; make the coarser levels again (sherd copy --pyramid)");
      break;
    }
}

// Whether a whole factor, rounded either way, makes `level` elements of `finest`: none is longer than finest, and one
// exists between finest / (level + 1) and finest / (level - 1).
bool is_whole_part(std::uint64_t level, std::uint64_t finest) {
  if (level == 0 || level > finest) return level == finest;
  return (finest / (level + 1) + 1) * (level - 1) < finest;
}

// Checks the factors of levels without scales (OME-NGFF before 0.4), which follow from their lengths.
void check_factors(const Image& image, const std::vector<Shape>& shapes, const std::vector<std::string>& members,
                   Findings& to) {
  for (std::size_t i = 1; i < shapes.size(); ++i)
    for (std::size_t d = 0; d < image.axes.size(); ++d) {
      if (is_whole_part(shapes[i][d], shapes[0][d])) continue;
      to.warning(kLevel, {},
                 members[i] + ": has " + std::to_string(shapes[i][d]) + " elements along " + image.axes[d] +
                     ", which no whole factor makes of the " + std::to_string(shapes[0][d]) +
                     " of the finest level; make the coarser levels again (sherd copy --pyramid)");
      break;
    }
}

void check_scales(const NodeDocument& volume, Findings& to) {
  const Json* info = neuroglancer::info_in(volume.document);
  if (info == nullptr) return;
  const auto parsed = neuroglancer::VolumeInfo::parse(*info);
  const auto image = image_of_volume(*info, std::nullopt, {"x", "y", "z"});
  if (!parsed || !image) return;  // reported with the document
  std::vector<Shape> shapes;
  std::vector<std::string> members;
  for (const auto& scale : parsed->scales) {
    shapes.emplace_back(scale.size.begin(), scale.size.end());
    members.push_back(quoted("scales[" + std::to_string(members.size()) + "]"));
  }
  check_lengths(*image, shapes, members, to);
}

class OmeCheck {
 public:
  /// `attributes` are the `stored` ones with OME-NGFF's metadata before 0.4 converted.
  OmeCheck(const NodeLocation& location, const Json& stored, const Json& attributes, Findings& to)
      : location_(location),
        stored_(stored),
        attributes_(attributes),
        group_(*ome_group(attributes, location.path)),
        to_(to) {}

  Result<void> run() {
    for (const OmeDataset& dataset : group_.datasets) SHERD_TRY(check_dataset(dataset));
    for (std::size_t i = 0; i < group_.multiscales; ++i) check_scales_of(i);
    if (!group_.datasets.empty()) SHERD_TRY(check_labels_of_image());
    for (const std::string& label : group_.labels) SHERD_TRY(check_label(label));
    for (const std::string& well : group_.wells) SHERD_TRY(check_well_of_plate(well));
    for (const std::string& image : group_.images) SHERD_TRY(check_image("well.images", image));
    return group_.is_series ? check_series() : Result<void>();
  }

 private:
  [[nodiscard]] std::string place(const std::string& member) const {
    return member_text(*location_.format, group_.prefix + member) + ": ";
  }
  void error(const std::string& member, const std::string& message) { to_.error(kNode, {}, place(member) + message); }
  void warning(const std::string& member, const std::string& message) {
    to_.warning(kNode, {}, place(member) + message);
  }
  // The last finding about a member.
  Result<void> end_with_error(const std::string& member, const std::string& message) {
    error(member, message);
    return {};
  }
  // For violations that only the validators of 0.5 check.
  void error_of_labels(const std::string& member, const std::string& message) {
    if (group_.is_old)
      warning(member, message);
    else
      error(member, message);
  }

  struct Found {
    std::optional<NodeDocument> node;
    bool damaged = false;  ///< reported where the node is checked
  };

  Result<Found> find(const std::string& below) const {
    const auto path = normal_path(below);
    if (!path) return Found{};
    auto node = location_.format->open(*location_.store, join_path(location_.path, *path), location_.config.limits);
    if (!node && (node.error().code() == ErrorCode::unavailable || node.error().code() == ErrorCode::conflict))
      return std::move(node).error();
    if (!node) return Found{{}, true};
    return Found{*std::move(node)};
  }

  Result<void> check_dataset(const OmeDataset& dataset) {
    const std::string member = dataset.member + ".path";
    SHERD_TRY(found, find(dataset.path));
    if (found.damaged) return {};
    if (!found.node) return end_with_error(member, "there is no array " + quoted(dataset.path));
    if (!found.node->array) return end_with_error(member, quoted(dataset.path) + " is not an array");
    const ArraySpec& spec = *found.node->array;
    shapes_.emplace(dataset.member, spec.shape);
    const auto names = names_of(spec);
    if (spec.shape.size() != dataset.axes.size())
      error(member, quoted(dataset.path) + " has " + std::to_string(spec.shape.size()) + " dimensions, and the image " +
                        std::to_string(dataset.axes.size()) + " axes");
    else if (!group_.is_old && names.empty())
      error(member, quoted(dataset.path) + " has no dimension names; they must be those of the axes, " +
                        listed_names(dataset.axes));
    else if (!group_.is_old && names != dataset.axes)
      error(member, quoted(dataset.path) + " has dimensions called " + listed_names(names) + ", and the axes are " +
                        listed_names(dataset.axes));
    return {};
  }

  // Faults of the metadata are reported by the rules, and arrays that do not exist or do not match where they are read.
  void check_scales_of(std::size_t number) {
    const auto image = image_in(attributes_, number);
    if (!image) return;
    std::vector<Shape> shapes;
    std::vector<std::string> members;
    for (const OmeDataset& dataset : group_.datasets) {
      if (dataset.image != number) continue;
      const auto shape = shapes_.find(dataset.member);
      if (shape == shapes_.end() || shape->second.size() != image->axes.size()) return;
      shapes.push_back(shape->second);
      members.push_back(member_text(*location_.format, group_.prefix + dataset.member));
    }
    if (shapes.size() != image->levels.size()) return;
    (states_scales(number) ? check_lengths : check_factors)(*image, shapes, members, to_);
  }

  [[nodiscard]] bool states_scales(std::size_t number) const {
    const Json* datasets = ome_member(stored_, "multiscales")->elements()[number].find("datasets");
    return std::ranges::any_of(
        datasets->elements(), [](const Json& dataset) { return dataset.find("coordinateTransformations") != nullptr; });
  }

  // Checks the group `labels` of an image, and that each of its images has as many resolutions.
  Result<void> check_labels_of_image() {
    SHERD_TRY(found, find("labels"));
    if (!found.node || found.node->implicit) return {};
    const std::string path = join_path(location_.path, "labels");
    const auto labels = ome_group(found.node->attributes, path);
    if (found.node->type != NodeType::group) {
      error("multiscales", "'labels' is not a group, and labels belong there");
    } else if (!is_ome_member(found.node->attributes, "labels", path)) {
      error("multiscales", "the group 'labels' has no list of labels (ome.labels)");
    } else if (labels && group_.multiscales == 1) {
      for (const std::string& name : labels->labels) SHERD_TRY(check_levels(name));
    }
    return {};
  }

  Result<void> check_levels(const std::string& name) {
    const std::string path = join_path("labels", name);
    SHERD_TRY(found, find(path));
    if (!found.node) return {};
    const auto label = ome_group(found.node->attributes, path);
    if (label && label->multiscales == 1 && label->datasets.size() != group_.datasets.size())
      error_of_labels("multiscales[0].datasets", "there are " + std::to_string(group_.datasets.size()) +
                                                     " resolutions, and " + std::to_string(label->datasets.size()) +
                                                     " of " + quoted(path));
    return {};
  }

  Result<void> check_label(const std::string& name) {
    SHERD_TRY(found, find(name));
    if (found.damaged) return {};
    if (!found.node || !is_image(*found.node, name)) {
      error_of_labels("labels", quoted(name) + (found.node ? " is not an image" : " does not exist"));
      return {};
    }
    const auto image = ome_group(found.node->attributes, name);
    for (const OmeDataset& dataset : image->datasets) {
      SHERD_TRY(level, find(join_path(name, dataset.path)));
      if (level.node && level.node->array && !is_integer(level.node->array->dtype))
        error_of_labels("labels", quoted(join_path(name, dataset.path)) + " has elements of the type " +
                                      level.node->array->dtype.name() + "; labels are integers");
    }
    return {};
  }

  // A well or an image that does not exist was not acquired.
  Result<void> check_image(const std::string& member, const std::string& path) {
    SHERD_TRY(found, find(path));
    if (!found.node && !found.damaged)
      warning(member, quoted(path) + " does not exist");
    else if (found.node && !is_image(*found.node, path))
      error(member, quoted(path) + " is not an image");
    return {};
  }

  Result<void> check_well_of_plate(const std::string& path) {
    SHERD_TRY(found, find(path));
    if (found.damaged) return {};
    if (!found.node) {
      warning("plate.wells", quoted(path) + " does not exist");
      return {};
    }
    if (!is_ome_member(found.node->attributes, "well", path))
      return end_with_error("plate.wells", quoted(path) + " is not a well");
    if (!group_.acquisitions) return {};
    const auto well = ome_group(found.node->attributes, path);
    for (const std::uint64_t id : well->image_acquisitions)
      if (std::ranges::find(*group_.acquisitions, id) == group_.acquisitions->end())
        error("plate.acquisitions", "the well " + quoted(path) + " has an image of the acquisition " +
                                        std::to_string(id) + ", which is not listed");
    return {};
  }

  Result<void> check_series() {
    for (std::uint64_t number = 0;; ++number) {
      SHERD_TRY(found, find(std::to_string(number)));
      if (!found.node) {
        if (number == 0 && !found.damaged) warning("bioformats2raw.layout", "there is no image '0'");
        return {};
      }
      SHERD_TRY(check_image("bioformats2raw.layout", std::to_string(number)));
    }
  }

  const NodeLocation& location_;
  const Json& stored_;
  const Json& attributes_;
  const OmeGroup group_;
  Findings& to_;
  std::map<std::string, Shape> shapes_;  // of the arrays that exist, by the member that names them
};

}  // namespace

Result<void> check_image_group(const NodeLocation& group, const NodeDocument& document,
                               const std::function<void(Findings&)>& merge) {
  const Format& format = *group.format;
  if (!format.arrays_have_documents()) {
    Findings findings(format.document_key(group.path, NodeType::group));
    check_scales(document, findings);
    merge(findings);
    return {};
  }
  Findings findings(attributes_key(format, group.path));
  for (const OmeFinding& finding : check_ome(document.attributes, ome_version_of(format), group.path)) {
    const std::string message = member_text(format, finding.member) + ": " + finding.message;
    if (finding.is_error)
      findings.error(kMetadata, {}, message);
    else
      findings.warning(kMetadata, {}, message);
  }
  if (ome_group(document.attributes, group.path)) {
    const auto attributes = ome_attributes(group, document.attributes);
    if (attributes) SHERD_TRY(OmeCheck(group, document.attributes, *attributes, findings).run());
    if (!attributes) SHERD_TRY(findings.failed(attributes.error(), kMetadata, {}));
  }
  merge(findings);
  return {};
}

}  // namespace sherd
