// Imports directly into an image of several resolutions, an OME-NGFF group or a Neuroglancer volume: the file fills the
// finest one, and the others are computed from it, before any of them is visible.
#include "copy/import_pyramid.hpp"

#include "array/nodes.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "codec/number.hpp"
#include "copy/copy.hpp"
#include "copy/image.hpp"
#include "image/pyramid.hpp"
#include "io/image.hpp"
#include "io/import.hpp"
#include "neuroglancer/document.hpp"
#include "node/path.hpp"

namespace sherd {
namespace {

// The image that the file's metadata describe.
Result<Image> image_of_file(const CreateOptions& create) {
  ArraySpec spec;
  spec.shape = create.shape;
  spec.dtype = create.dtype;
  if (create.dimension_names) spec.dimension_names = *create.dimension_names;
  auto image = image_of_array(spec, create.attributes.value_or(Json(Json::Object{})), {});
  if (!image && image.error().code() == ErrorCode::invalid_argument && !spec.dimension_names.empty())
    return std::move(image).error();
  if (!image && spec.dimension_names.empty())
    return std::move(
               invalid_argument("the file does not say what its dimensions are" + advice_on_axes(create.shape.size())))
        .in_member("axes");
  return image;
}

// Moves the array's channels before space; given chunks are in the array's order.
void put_in_ome_order(FileImport& import, Image& image) {
  import.order = ome_order(image.axes);
  CreateOptions& create = import.create;
  Shape shape;
  for (const std::size_t d : import.order) shape.push_back(create.shape[d]);
  create.shape = std::move(shape);
  if (create.attributes) create.attributes = permuted_attributes(*std::move(create.attributes), import.order);
  image = permuted(std::move(image), import.order);
  create.dimension_names.emplace(image.axes.begin(), image.axes.end());
}

Result<void> refuse_options_of_volumes(const ImportOptions& options) {
  return refuse_volume_options({.encoding = options.encoding, .sharding = options.sharding});
}

// Refuses options that an array has and a volume does not.
Result<void> refuse_options_of_arrays(const CreateOptions& create) {
  const std::pair<bool, const char*> given[] = {
      {create.auto_shards || !create.shards.empty(), "shards"},
      {create.codecs || create.raw_codecs, "codecs"},
      {create.index_codecs || create.index_location != IndexLocation::end, "index_location"},
      {create.fill_value.has_value(), "fill_value"},
      {create.attributes.has_value(), "attributes"},
      {create.dimension_names.has_value(), "dimension_names"},
      {create.chunk_grid.has_value(), "chunk_grid"},
      {create.chunk_key_encoding.has_value(), "chunk_key_encoding"},
      {create.volume.has_value(), "volume"},
      {create.config.layout != Layout::plain, "layout"}};
  for (const auto& [is_given, name] : given)
    if (is_given)
      return std::move(
                 invalid_argument("cannot be used with a volume; it has encoding and sharding, and no attributes"))
          .in_member(name);
  return {};
}

// The image in the form of a volume, and the corresponding dimensions of the file. A plane becomes a single slice, as
// thick as specified or as its pixels are wide.
FilledVolume as_volume(const Image& image, FileImport& import, const ImportOptions& options) {
  const std::size_t rank = image.axes.size(), x = dimension_of(image.axes, "x");
  FilledVolume volume{.image = image, .shape = {}, .dtype = import.create.dtype, .fill = {}};
  Image& seen = volume.image;
  ImageLevel& level = seen.levels.front();
  seen.axes = {"x", "y", "z", "c"};
  seen.units.clear();
  level.spacing.clear();
  level.offset.clear();
  import.order.clear();
  const ImageLevel& from = image.levels.front();
  const double thickness = options.resolution ? (*options.resolution)[2] : from.spacing[x];
  const double begin = options.voxel_offset ? static_cast<double>((*options.voxel_offset)[2]) : 0;
  for (const std::string& axis : seen.axes) {
    const std::size_t d = dimension_of(image.axes, axis);
    const bool slice = d == rank && axis == "z", is_there = d != rank;
    import.order.push_back(is_there ? d : FileImport::kNoDimension);
    volume.shape.push_back(is_there ? import.create.shape[d] : 1);
    seen.units.push_back(is_there ? image.units[d] : slice ? image.units[x] : "");
    level.spacing.push_back(is_there ? from.spacing[d] : slice ? thickness : 1);
    level.offset.push_back(is_there ? from.offset[d] : slice ? begin : 0);
  }
  return volume;
}

Result<void> check_axes(std::vector<std::string> axes, bool named) {
  const auto has = [&](const char* axis) { return dimension_of(axes, axis) != axes.size(); };
  if (has("x") && has("y") && !has("z") && !has("t")) axes.emplace_back("z");  // a plane
  return check_volume_axes(axes, named ? "" : "file",
                           "import the file into an array, and copy one time of that (sherd copy ARRAY VOLUME --to "
                           "precomputed --select 0,...), or say what its dimensions are (--axes)");
}

// Reports the parts of the file's spatial metadata that the volume lacks.
void note_space(const Image& image, const Json& file_attributes, const ImportOptions& options) {
  if (!options.note) return;
  if (const auto assumed = assumed_unit(image)) options.note(*assumed);
  if (!options.voxel_offset && file_attributes.find("affine") != nullptr && !offset_of_affine(file_attributes))
    options.note(
        "the affine mirrors or turns the image, and a volume does not: its voxels keep their order, and it "
        "begins at 0");
}

}  // namespace

Result<void> import_volume(const std::string& source, const ImportOptions& options, const NodeLocation& destination) {
  SHERD_TRY(refuse_options_of_arrays(options.create));
  SHERD_TRY(import, open_import(source, options));
  const CreateOptions& create = import.create;
  CopyOptions copy{.overwrite = create.overwrite,
                   .pyramid = options.pyramid,
                   .type = options.type,
                   .encoding = options.encoding,
                   .sharding = options.sharding,
                   .config = create.config};
  if (!create.chunks.empty()) copy.chunks = create.chunks;
  SHERD_TRY(image, image_of_file(create).in_key(source));
  SHERD_TRY(check_axes(image.axes, !options.axes.empty()));
  SHERD_TRY(set_type(image, create.dtype, copy));
  if (copy.pyramid) name_factors(*copy.pyramid, image.axes);
  FilledVolume volume = as_volume(image, import, options);
  const std::string& url = destination.store->url();
  volume.fill = [&](const Array& made, const ReportProgress& progress) {
    import.create.config.progress = progress;
    return fill_array(import, made, url);
  };
  SHERD_TRY(nodes, plan_filled(std::move(volume), destination, copy));
  note_space(image, import.reader->array().attributes, options);
  SHERD_TRY(make_nodes(std::move(nodes), destination, copy));
  return {};
}

Result<void> import_pyramid(const std::string& source, const ImportOptions& options, const NodeLocation& destination,
                            const std::optional<LabelledImage>& labelled) {
  if (options.create.config.layout != Layout::plain)
    return invalid_argument(
        "layout zarr+neuroglancer: the resolutions of a pyramid would be volumes of their own; "
        "import without a pyramid");
  SHERD_TRY(import, open_import(source, options));
  const CreateOptions& create = import.create;
  SHERD_TRY(refuse_options_of_volumes(options));
  CopyOptions copy{
      .overwrite = create.overwrite, .pyramid = options.pyramid, .type = options.type, .config = create.config};
  SHERD_TRY(image, image_of_file(create).in_key(source));
  SHERD_TRY(check_ome_axes(image.axes).in_member("axes").in_key(source));
  if (labelled) {
    if (!copy.pyramid) copy.pyramid = Pyramid{.method = Pyramid::Method::mode};
    SHERD_TRY(adopt_space(*labelled, create.shape, image, options.note));
    SHERD_TRY(of_labels, options_of_labels(*labelled, image, copy));
    copy = std::move(of_labels);
    if (!is_integer(create.dtype))
      return Error(invalid_argument("labels are integers, and the elements are " + create.dtype.name())).in_key(source);
  }
  SHERD_TRY(set_type(image, create.dtype, copy));
  if (labelled) refer_to_image(image);
  name_factors(*copy.pyramid, image.axes);
  put_in_ome_order(import, image);
  const std::string& url = destination.store->url();
  const NodeLocation array = at_path(destination, join_path(destination.path, "0"));
  SHERD_TRY(document, in_store(new_document(array, create), url));
  const auto fill = [&](const Array& made, const ReportProgress& progress) {
    import.create.config.progress = progress;
    return fill_array(import, made, url);
  };
  SHERD_TRY(nodes, plan_filled({std::move(image), std::move(document), fill}, destination, copy));
  if (labelled) SHERD_TRY(check_levels(*labelled, nodes.size() - 1));
  SHERD_TRY(make_nodes(std::move(nodes), destination, copy));
  return labelled ? list_labels(*labelled) : Result<void>();
}

}  // namespace sherd
