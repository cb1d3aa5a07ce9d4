// A copy as it is planned: its nodes, their documents, and the arrays that are filled from the source or a file.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/array_state.hpp"
#include "copy/labels.hpp"
#include "image/cutout.hpp"
#include "image/reduce.hpp"
#include "neuroglancer/dual_format.hpp"
#include "node/creation.hpp"
#include "ome/image.hpp"
#include "sherd/tools.hpp"

namespace sherd {

/// The cheapest way of copying from one array to the other that is not cheaper than `best`.
CopyWay copy_way(const Array::State& source, const Array::State& destination, CopyWay best);

using ReportProgress = std::function<void(const Progress&)>;
/// Writes the elements of an array. The function for progress may be empty.
using FillArray = std::function<Result<void>(const Array&, const ReportProgress&)>;

/// An array being copied.
struct ArrayCopy {
  Array source;
  Array destination;  ///< its document is not in its store yet
  CopyWay way;
  bool clips;  ///< the last chunks of only one side end where the array does: these chunks must be encoded again
  std::vector<std::uint64_t>
      stored;  ///< the source's stored chunks that are inside the array, as numbers in C order, sorted
  std::vector<std::uint64_t> objects;  ///< the destination's objects that may result from them, in order
  std::uint64_t bytes = 0;             ///< of the elements of those objects
  /// Set if missing elements of the source have another value in the destination, so that all of its objects must be
  /// made: their number.
  std::optional<std::uint64_t> everything = {};
  std::shared_ptr<const ElementMap> map = {};  ///< from the source's elements, if the copy's are different
  /// Whether one of the stored chunks did not exist any more.
  std::shared_ptr<std::atomic<bool>> vanished = std::make_shared<std::atomic<bool>>(false);

  /// The number of objects to make, and the i-th of them.
  [[nodiscard]] std::uint64_t object_count() const { return everything.value_or(objects.size()); }
  [[nodiscard]] std::uint64_t object(std::uint64_t i) const { return everything ? i : objects[i]; }
};
/// Everything but the lists of chunks and objects, without any request.
Result<ArrayCopy> plan_unlisted(Array source, Array destination, std::shared_ptr<const ElementMap> map);
/// Lists the stored chunks of the source.
Result<void> list_chunks(ArrayCopy& plan);
/// plan_unlisted() and list_chunks().
Result<ArrayCopy> plan_copy(Array source, Array destination, std::shared_ptr<const ElementMap> map = {});

/// The source of a node in a pyramid: the previous level, at the finer resolution.
struct ReducedFrom {
  std::size_t node;
  Reduction how;
};
/// One node of a copy.
struct NodeCopy {
  std::string path;  ///< below the root of the copy
  NodeDocument document;
  std::vector<Document> stored = {};  ///< the documents to write; empty until they are made from `document`
  std::optional<ArrayCopy> array = {};
  std::optional<ReducedFrom> reduced = {};
  FillArray fill = {};  ///< for an array made from a file
};

/// Whether a copy treats an image as a whole, instead of copying nodes one by one.
bool is_image_copy(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options);
/// invalid_argument if options are set that a copy of arrays does not support.
Result<void> refuse_volume_options(const CopyOptions& options);
/// The nodes of such a copy, groups before their members, and the links of a new volume that lead to nothing in it: see
/// CopyReport::dangling.
struct ImageCopy {
  std::vector<NodeCopy> nodes;
  std::vector<std::pair<std::string, std::string>> dangling = {};
};
/// `labelled` is the image to whose labels the copy is added.
Result<ImageCopy> plan_image(const NodeLocation& source, const NodeLocation& destination, const CopyOptions& options,
                             const std::optional<LabelledImage>& labelled);
/// An image in several resolutions. A function fills the finest one, `0`.
struct FilledImage {
  Image image;
  NodeDocument array;
  FillArray fill;
};
Result<std::vector<NodeCopy>> plan_filled(FilledImage image, const NodeLocation& destination,
                                          const CopyOptions& options);
/// A volume with several scales. A function fills the finest one. The axes of the image are x, y, z and c.
struct FilledVolume {
  Image image;
  Shape shape;
  DType dtype;
  FillArray fill;
};
Result<std::vector<NodeCopy>> plan_filled(FilledVolume volume, const NodeLocation& destination,
                                          const CopyOptions& options);
/// The location of a copy's source: for a copy to a volume, the volume counterpart of a dual-format array.
Result<NodeLocation> source_of_copy(const NodeLocation& source, const NodeLocation& destination,
                                    const CopyOptions& options);
/// The axes of the Zarr array's dimensions according to such a counterpart. invalid_argument if `given` contradicts it.
Result<std::vector<std::string>> axes_of_counterpart(const VolumeCounterpart& counterpart,
                                                     const std::vector<std::string>& given);
/// The document of the volume counterpart of a copy at `to`, whose document otherwise exists; like the source's.
struct NodeOfCopy {
  const NodeLocation& location;
  const NodeDocument& document;
};
Result<NewCounterpart> counterpart_of_copy(const NodeOfCopy& source, const NodeOfCopy& to);
/// The document of a new array, laid out by the destination's format. Keys stay the same as far as the format allows;
/// their prefix is the format's own.
Result<NodeDocument> new_node(const NodeLocation& destination, ArraySpec spec, const Json& attributes);
/// The attributes of an array's copy: `_FillValue` has the form that xarray requires in Zarr v3, elsewhere a number.
Json copied_attributes(const Format& from, const Format& to, const NodeDocument& array);
/// The names of the array's dimensions, as an image has them: x, y, z, c, t where they say that.
std::vector<std::string> short_names(const ArraySpec& spec);
/// Gives the dimensions of a copy the names that the caller wants, if any.
Result<void> set_axes(const std::vector<std::string>& axes, ArraySpec& spec);
/// Warns of members of the node's document that readers ignore, for which the other format has no place.
void warn_of_left_behind(const Format& from, const Format& to, const NodeDocument& node, const std::string& key,
                         std::vector<std::string>& warnings);
/// Warns of attributes that the new format replaces with dimension names.
void warn_of_replaced(const Json& attributes, const NodeDocument& copy, const std::string& key,
                      std::vector<std::string>& warnings);
/// The metadata of a copy of a group in another format.
Result<Json> copied_group(const NodeLocation& location, const NodeDocument& source, const NodeLocation& destination);

/// Codecs without zstd's checksum setting, which not every format has: zstd frames record it themselves.
[[nodiscard]] std::vector<CodecSpec> without_checksums(std::vector<CodecSpec> codecs);
/// The array of a copy at `destination`: the source, or a part of it, with the chunks and codecs set in the
/// options.
Result<ArraySpec> copied_spec(const Array::State& source, const NodeLocation& destination, const CopyOptions& options,
                              const Cutout* cutout = nullptr);
/// `spec` with chunks in C order; nullopt if they are already, or if they are inside other codecs.
Result<std::optional<ArraySpec>> in_c_order(ArraySpec spec);
/// Whether the last chunks end where the array does.
bool is_clipped(const Array::State& state);

}  // namespace sherd
