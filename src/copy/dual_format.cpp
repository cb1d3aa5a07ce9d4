// Copies from and to dual-format arrays: which of the two is the source, and the volume document of a copy. A copy
// never keeps the source's counterpart; with the layout it gets its own.
#include "array/nodes.hpp"
#include "base/try.hpp"
#include "copy/planned_copy.hpp"
#include "io/image.hpp"
#include "neuroglancer/create.hpp"
#include "neuroglancer/document.hpp"
#include "node/storage_kind.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

constexpr std::string_view kAxes = "xyzc";

std::vector<std::string> axes_in(const std::vector<std::size_t>& dimensions) {
  std::vector<std::string> axes(dimensions.size());
  for (std::size_t axis = 0; axis < dimensions.size(); ++axis) axes[dimensions[axis]] = kAxes.substr(axis, 1);
  return axes;
}

// An info's data for a scale, in the form of CreateOptions::volume.
Json words_of(const Json& info, std::size_t number) {
  Json words{Json::Object{}};
  if (const Json* type = info.find("type")) words.set("type", *type);
  const Json& scale = info.find("scales")->elements()[number];
  for (const char* member : {"resolution", "voxel_offset"})
    if (const Json* value = scale.find(member)) words.set(member, *value);
  return words;
}

// All data of that scale, which shares its shards with an array as the copy's will.
NewCounterpart again(const Json& info) {
  NewCounterpart same{.volume = words_of(info, 0), .info = info};
  same.volume.set("key", *info.find("scales")->elements().front().find("key"));
  return same;
}

// A single array has one entry per dimension where a volume has x, y and z.
Result<Json> words_of_array(const NodeOfCopy& to) {
  const Json& attributes = to.document.attributes;
  if (attributes.find("spacing") == nullptr && attributes.find("neuroglancer_info") == nullptr) return Json();
  NodeLocation reading = to.location;
  reading.writable = false;
  SHERD_TRY(array, make_array(std::move(reading), to.document));
  const auto view = VolumeView::of(*to.document.array, array.state().layout);
  if (!view) return Json();  // creating the destination fails later and reports the reason
  SHERD_TRY(image, image_of_array(*to.document.array, attributes, axes_in(view->dimensions)));
  SHERD_TRY(resolution, resolution_of(image, 0));
  SHERD_TRY(offset, voxel_offset_of(image, 0));
  Json words;
  words.set("resolution", neuroglancer::numbers_json(resolution));
  words.set("voxel_offset", Json(Json::Array(offset.begin(), offset.end())));
  if (attributes.find("type") != nullptr) return words;
  if (const Json* type = image.info.find("type"))
    words.set("type", *type);
  else if (image.labels)
    words.set("type", "segmentation");
  return words;
}

}  // namespace

Result<std::vector<std::string>> axes_of_counterpart(const VolumeCounterpart& counterpart,
                                                     const std::vector<std::string>& given) {
  std::vector<std::string> axes = axes_in(counterpart.dimensions);
  if (given.empty()) return axes;
  SHERD_TRY(names, axis_names(given).in_member("axes"));
  if (names == axes) return axes;
  std::string known;
  for (const std::string& axis : axes) known += (known.empty() ? "" : ",") + axis;
  return std::move(invalid_argument("are " + known + ": the array is also a Neuroglancer volume")).in_member("axes");
}

Result<NodeLocation> source_of_copy(const NodeLocation& source, const NodeLocation& destination,
                                    const CopyOptions& options) {
  if (destination.format->arrays_have_documents() || !source.format->arrays_have_documents()) return source;
  SHERD_TRY(node, source.format->open(*source.store, source.path, source.config.limits));
  if (!node || node->type != NodeType::array) return source;
  const std::string key = source.format->document_key(source.path, NodeType::array);
  SHERD_TRY(counterpart, find_volume_counterpart(source, *node).in_key(key));
  if (!counterpart) return source;
  SHERD_TRY(axes_of_counterpart(*counterpart, options.axes).in_key(key));
  return std::move(counterpart->location);
}

Result<NewCounterpart> counterpart_of_copy(const NodeOfCopy& source, const NodeOfCopy& to) {
  if (!source.location.format->arrays_have_documents()) {
    const Json* scale = source.document.document.find("scale");
    const Json& info = *neuroglancer::info_in(source.document.document);
    const auto counterpart = find_counterpart(source.location, source.document);
    return counterpart && *counterpart ? again(info) : NewCounterpart{.volume = words_of(info, *scale->as_uint())};
  }
  SHERD_TRY(counterpart, find_volume_counterpart(source.location, source.document));
  if (counterpart) return again(counterpart->info);
  SHERD_TRY(words, words_of_array(to));
  return NewCounterpart{.volume = std::move(words)};
}

}  // namespace sherd
