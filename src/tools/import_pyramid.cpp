// An import straight into an image of several resolutions: the file fills the finest one, and the others are made of
// it, before any of them is visible.
#include "array/hierarchy.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "codec/number.hpp"
#include "io/image.hpp"
#include "io/import.hpp"
#include "tools/copy.hpp"
#include "tools/copy_labels.hpp"
#include "tools/pyramid.hpp"

namespace sherd {
namespace {

// What the file says of its array as an image.
Result<Image> image_of_file(const CreateOptions& create, const CopyOptions& options) {
  ArraySpec spec;
  spec.shape = create.shape;
  spec.dtype = create.dtype;
  if (create.dimension_names) spec.dimension_names = *create.dimension_names;
  auto image = image_of_array(spec, create.attributes.value_or(Json(Json::Object{})), {});
  if (!image && image.error().code() == ErrorCode::invalid_argument && !spec.dimension_names.empty())
    return std::move(image).error();
  if (!image && spec.dimension_names.empty())
    return std::move(invalid_argument("the file does not say what its dimensions are; name them (--axes z,y,x)"))
        .in_member("axes");
  SHERD_TRY(known, std::move(image));
  SHERD_TRY(check_ome_axes(known.axes).in_member("axes"));
  known.labels = known.labels || (options.pyramid->method == Pyramid::Method::mode && is_integer(create.dtype));
  return known;
}

// The array has channels before space, and chunks that are given are in its order.
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

}  // namespace

Result<void> import_pyramid(const std::string& source, const ImportOptions& options, const NodeLocation& destination) {
  if (options.create.config.layout != Layout::plain)
    return invalid_argument(
        "layout zarr+neuroglancer: the resolutions of a pyramid would be volumes of their own; "
        "import without a pyramid");
  if (!destination.format->arrays_have_documents())
    return unsupported(
        "a pyramid cannot be imported into a volume; import into an array, and copy that with --to precomputed");
  SHERD_TRY(import, open_import(source, options));
  const CreateOptions& create = import.create;
  CopyOptions copy{.overwrite = create.overwrite, .pyramid = options.pyramid, .config = create.config};
  SHERD_TRY(image, image_of_file(create, copy).in_key(source));
  SHERD_TRY(labelled, find_labelled_image(destination));
  if (labelled) {
    SHERD_TRY(of_labels, options_of_labels(*labelled, image, copy));
    copy = std::move(of_labels);
    if (!is_integer(create.dtype))
      return Error(invalid_argument("labels are integers, and the elements are " + create.dtype.name())).in_key(source);
    refer_to_image(image);
  }
  name_factors(*copy.pyramid, image.axes);
  put_in_ome_order(import, image);
  const std::string& url = destination.store->url();
  const NodeLocation array = at_path(destination, join_path(destination.path, "0"));
  SHERD_TRY(document, in_store(new_document(array, create), url));
  const auto fill = [&](const Array& made) { return fill_array(import, made, url); };
  SHERD_TRY(nodes, plan_filled({std::move(image), std::move(document), fill}, destination, copy));
  if (labelled) SHERD_TRY(check_levels(*labelled, nodes.size() - 1));
  SHERD_TRY(make_nodes(std::move(nodes), destination, copy));
  return labelled ? list_labels(*labelled) : Result<void>();
}

}  // namespace sherd
