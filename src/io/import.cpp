// Imports a file as an array: creates the destination with the file's shape, type, names and attributes, then fills it
// in boxes that follow its shards, reading each box while the previous one is written. The array is moved to its path
// when it is complete (array/new_node.hpp), so a failure preserves what existed before.
#include "io/import.hpp"

#include <numeric>

#include "array/nodes.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "io/import_space.hpp"
#include "neuroglancer/document.hpp"
#include "neuroglancer/dual_format.hpp"
#include "node/document.hpp"
#include "node/new_node.hpp"

namespace sherd {
namespace {

template <class T>
std::vector<T> reversed(const std::vector<T>& values) {
  return {values.rbegin(), values.rend()};
}

template <class T>
std::vector<T> in_order(const std::vector<T>& values, const std::vector<std::size_t>& order) {
  std::vector<T> result;
  for (std::size_t d = 0; d < values.size(); ++d) result.push_back(values[order[d]]);
  return result;
}

// The format of a file, or of the files that a directory or pattern names.
Result<const FileFormat*> format_of(const std::string& source, const std::string& name) {
  if (!name.empty()) return find_file_format(name, source);
  const FileFormat* found = nullptr;
  for (const FileFormat* format : {&kPngFiles, &kPgmFiles, &kTiffFiles}) {
    auto listed = list_images(source, format->suffixes);
    if (!listed && listed.error().code() == ErrorCode::not_found) continue;
    if (!listed) return std::move(listed).error();
    if (!*listed) return find_file_format({}, source);
    if (!has_suffix((*listed)->front(), format->suffixes)) continue;
    if (found != nullptr)
      return invalid_argument("contains images of several formats; choose one of them with --from (Python: from_)")
          .in_key(source);
    found = format;
  }
  if (found == nullptr)
    return not_found("no png, pgm or tiff image found; an array or a group is copied by 'sherd copy'").in_key(source);
  return found;
}

// A volume in the same files (Layout::zarr_neuroglancer) has the array's spacing.
void add_resolution(CreateOptions& create, const ImportedSpace& space) {
  const auto has = [](const std::optional<Json>& json) { return json && json->find("resolution") != nullptr; };
  if (create.config.layout != Layout::zarr_neuroglancer || has(create.volume) || has(create.attributes)) return;
  const auto nanometres = nanometres_of(space);
  if (!nanometres) return;
  Json volume = create.volume.value_or(Json(Json::Object{}));
  volume.set("resolution", neuroglancer::numbers_json(*nanometres));
  create.volume = std::move(volume);
}

Result<CreateOptions> target_options(const FileArray& file, const ImportOptions& options) {
  CreateOptions create = options.create;
  create.shape = file.fortran ? reversed(file.shape) : file.shape;
  create.dtype = file.dtype;
  ImportedSpace space{create.shape, file.fortran ? reversed(file.dimension_names) : file.dimension_names,
                      file.attributes};
  if (create.dimension_names) space.names = *create.dimension_names;
  SHERD_TRY(apply_space_options(space, options));
  add_resolution(create, space);
  if (!create.dimension_names && !space.names.empty()) create.dimension_names = std::move(space.names);
  if (space.attributes.is_object()) {
    if (create.attributes)
      for (const auto& [name, value] : create.attributes->members()) space.attributes.set(name, value);
    create.attributes = std::move(space.attributes);
  }
  return create;
}

// Half of the budget is for the two boxes, half for the memory that the array needs to write one.
Config quiet(Config config) {
  config.memory_budget /= 2;
  config.progress = nullptr;
  config.interrupted = nullptr;
  return config;
}

// The file's dimension for each of the array's, if any; in C order the last one is the fastest of both.
std::vector<std::size_t> file_order(const FileImport& from) {
  const std::size_t rank = from.reader->array().shape.size();
  std::vector<std::size_t> order = from.order;
  if (order.empty()) {
    order.resize(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  for (std::size_t& d : order)
    if (from.reader->array().fortran && d != FileImport::kNoDimension) d = rank - 1 - d;
  return order;
}

// Values for the array's dimensions, from those of the file's dimensions; `absent` for dimensions that the file lacks.
template <class T>
std::vector<T> in_array(const std::vector<T>& values, const std::vector<std::size_t>& order, T absent) {
  std::vector<T> result;
  for (const std::size_t d : order) result.push_back(d == FileImport::kNoDimension ? absent : values[d]);
  return result;
}

// The inverse.
Shape in_file(const Shape& lengths, const std::vector<std::size_t>& order, std::size_t rank) {
  if (lengths.empty()) return lengths;
  Shape result(rank);
  for (std::size_t d = 0; d < order.size(); ++d)
    if (order[d] != FileImport::kNoDimension) result[order[d]] = lengths[d];
  return result;
}

// Options for one kind of file have no effect on others.
Result<void> check_taken(const FileFormat& format, const ImportOptions& options, const std::string& source) {
  const auto refuse = [&](std::string_view option, std::string_view kind) {
    return invalid_argument(std::string(option) + " can only be used with " + std::string(kind) +
                            " files, and this is " + std::string(format.name))
        .in_key(source);
  };
  if (format.name != kRawFiles.name) {
    if (!options.shape.empty()) return refuse("shape", "raw");
    if (options.dtype) return refuse("dtype", "raw");
    if (options.big_endian) return refuse("big_endian", "raw");
  }
  if (options.apply_scale && format.name != kNiftiFiles.name) return refuse("apply_scale", "NIfTI");
  return {};
}

}  // namespace

Result<FileImport> open_import(const std::string& source, const ImportOptions& options) {
  SHERD_TRY(format, format_of(source, options.from));
  SHERD_TRY(check_taken(*format, options, source));
  FileImport import;
  SHERD_TRY(reader, format->open(source, options));
  import.reader = std::move(reader);
  SHERD_TRY(create, target_options(import.reader->array(), options));
  import.create = std::move(create);
  return import;
}

Result<void> fill_array(const FileImport& from, const Array& array, const std::string& url) {
  const Config& config = from.create.config;
  ArrayFileReader& reader = *from.reader;
  const FileArray& file = reader.array();
  const Array target = array.with_config(quiet(config));
  const std::vector<std::size_t> order = file_order(from);
  BlockRequest request;
  request.shape = file.shape;
  request.coarse = in_file(array.shards().value_or(Shape{}), order, file.shape.size());
  request.fine = in_file(array.chunks(), order, file.shape.size());
  request.elements = std::max<std::uint64_t>(1, config.memory_budget / 4 / file.dtype.size());
  request.random_access = reader.random_access();
  Transfer transfer;
  transfer.take = [&](const Box& box, std::span<std::byte> into) {
    return for_each_run(file.shape, box, [&](std::uint64_t first, std::uint64_t at, std::uint64_t count) {
      return reader.read(first, into.subspan(at * file.dtype.size(), count * file.dtype.size()));
    });
  };
  transfer.give = [&](const Box& box, std::span<std::byte> bytes) {
    const auto dense = ConstAnyView::dense(bytes.data(), file.dtype, box.shape);
    const ConstAnyView view{dense.data, dense.dtype, in_array(dense.shape, order, std::uint64_t{1}),
                            in_array(dense.strides, order, std::int64_t{0})};
    return in_store(target.write(Box{in_array(box.origin, order, std::uint64_t{0}), view.shape}, view), url);
  };
  SHERD_TRY(transfer_blocks(request, file.dtype.size(), config, transfer));
  return reader.finish();
}

Json permuted_attributes(Json attributes, const std::vector<std::size_t>& order) {
  for (const char* name : {"spacing", "units", "voxel_offset"}) {
    Json* list = attributes.find(name);
    if (list == nullptr || !list->is_array() || list->size() != order.size()) continue;
    *list = Json(in_order(std::as_const(*list).elements(), order));
  }
  return attributes;
}

Result<void> import_at(const std::string& source, const ImportOptions& options, const NodeLocation& location) {
  SHERD_TRY(import, open_import(source, options));
  const std::string& url = location.store->url();
  SHERD_TRY(document, in_store(new_document(location, import.create), url));
  return create_with(location, document, import.create.overwrite,
                     [&](const Array& array) { return fill_array(import, array, url); });
}

}  // namespace sherd
