// sherd import: creates an array from a file of another format.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/describe.hpp"
#include "cli/object_file.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/pyramid.hpp"
#include "cli/scratch_file.hpp"
#include "cli/suffix.hpp"
#include "cli/values.hpp"
#include "cli/volume.hpp"
#include "sherd/tools.hpp"

namespace sherd::cli {
namespace {

struct Import {
  std::string source, url, from, to, dtype;
  std::optional<std::string> shape, axes, spacing, units;
  std::optional<std::uint64_t> id;
  bool big_endian = false, apply_scale = false;
  ArrayOptions array;
  VolumeOptions volume;
  PyramidOptions pyramid;

  /// A skeleton or a mesh.
  Result<int> run_object(Session& session) const {
    if (shape || axes || spacing || pyramid.pyramid || pyramid.factors || !dtype.empty() || big_endian || apply_scale ||
        !array.is_plain() || array.attributes || volume.is_given() || !to.empty())
      return invalid_argument(
          "skeletons and meshes are imported with --id, --units, --from, --overwrite and options of writing only");
    ObjectFileOptions options{.format = from, .id = id, .overwrite = array.overwrite};
    options.config = session.guarded("import");
    SHERD_TRY(array.chunking.writing.apply(options.config));
    if (units) options.unit = *units;
    return run_import_object(session, source, url, std::move(options));
  }

  Result<int> run(Session& session) const {
    if (is_object_file(from, source)) return run_object(session);
    if (id) return invalid_argument("--id can only be used with SWC, PLY and OBJ files");
    ImportOptions options{.from = from, .big_endian = big_endian, .apply_scale = apply_scale};
    options.create.config = session.guarded("import");
    options.note = [&session](const std::string& text) { session.note(text); };
    options.create.format = session.format();
    if (!to.empty() && !options.create.format.empty() && to != options.create.format)
      return invalid_argument("--to and --store-format name different formats: " + to + " and " +
                              options.create.format);
    if (!to.empty()) options.create.format = to;
    SHERD_TRY(array.apply(options.create));
    SHERD_TRY(apply_space(options));
    SHERD_TRY(levels, pyramid.get());
    options.pyramid = std::move(levels);
    if (shape) {
      SHERD_TRY(lengths, parse_shape(*shape).in([] { return "--shape"; }));
      options.shape = std::move(lengths);
    }
    if (!dtype.empty()) {
      SHERD_TRY(type, in_option(parse_file_dtype(dtype), "--dtype"));
      if (big_endian && type.big_endian == false)
        return invalid_argument("--dtype: '" + dtype + "' is little-endian, which --big-endian contradicts");
      options.big_endian = big_endian || type.big_endian.value_or(false);
      options.dtype = std::move(type.dtype);
    }
    std::optional<ScratchFile> spooled;
    if (source == "-") {
      if (from.empty()) return invalid_argument("set the format of standard input with --from");
      SHERD_TRY(file, ScratchFile::make());
      SHERD_TRY(file.take_input(*InputPipe::standard_input(options.create.config)).in_key("standard input"));
      spooled.emplace(std::move(file));
    }
    auto made = import_file(spooled ? spooled->path() : source, url, options);
    if (!made && spooled && made.error().key() == spooled->path())
      return Error(made.error().code(), made.error().message()).in_key("standard input");
    if (!made) return std::move(made).error();
    warn_of_suffix(session, url, made->format());
    note_labels(session);
    SHERD_TRY(session.finish());
    session.note("imported " + source + ": " + summary(*made) + " in " + shown(url));
    if (session.json()) SHERD_TRY(session.out().print(describe(*made)));
    return 0;
  }

 private:
  // The destination is IMAGE/labels/NAME, but IMAGE is not an image.
  void note_labels(Session& session) const {
    const std::size_t end = url.rfind('/');
    if (end == url.npos || last_component(url.substr(0, end)) != "labels" || sherd::open_group(url)) return;
    session.note(
        url +
        " is a plain array, not labels: the group around 'labels' is not an OME-NGFF image; create the image first");
  }

  Result<void> apply_space(ImportOptions& options) const {
    const bool with_array = options.create.config.layout == Layout::zarr_neuroglancer;
    SHERD_TRY(with_array ? volume.apply(options.create) : volume.apply(options));
    if (axes)
      for (const auto& name : parse_names(*axes)) options.axes.push_back(name.value_or(""));
    if (spacing) {
      SHERD_TRY(numbers, parse_positive(*spacing).in([] { return "--spacing"; }));
      options.spacing = std::move(numbers);
    }
    if (units)
      for (const auto& name : parse_names(*units)) options.units.push_back(name.value_or(""));
    if (volume.resolution) {
      SHERD_TRY(numbers, parse_positive(*volume.resolution, 3).in([] { return "--resolution"; }));
      options.resolution = {numbers[0], numbers[1], numbers[2]};
    }
    return {};
  }
};

}  // namespace

Run add_import(Arguments& arguments) {
  auto import = std::make_shared<Import>();
  arguments.argument("SRC", import->source,
                     "A file, or - for standard input; for images also a directory or a pattern such as 'slice_*.png'");
  arguments.argument(
      "URL", import->url,
      "Where to create the array; for SWC, PLY and OBJ the collection of skeletons or meshes, which is created if it "
      "does not exist");
  arguments.choice("--from", {"nifti", "npy", "raw", "png", "pgm", "tiff", "swc", "ply", "obj"}, import->from,
                   "The format of SRC; default: by its suffix");
  arguments.text("--to", "FORMAT", import->to,
                 "The format of the array, such as zarr3 or precomputed; the same as --store-format");
  arguments.text("--shape", "512,512", import->shape, "raw: length of each dimension");
  arguments.text("--dtype", "NAME|JSON", import->dtype, "raw: type of the elements");
  arguments.flag("--big-endian", import->big_endian, "raw: the most significant byte comes first");
  arguments.flag("--apply-scale", import->apply_scale,
                 "NIfTI: store values scaled by scl_slope and scl_inter, as floats");
  arguments.text(
      "--axes", "t,c,z,y,x", import->axes,
      "What the dimensions of the array are, in its order: x, y, z, c (channel) and t (time); default: as the "
      "file says");
  arguments.text(
      "--spacing", "40,8,8", import->spacing,
      "The distance between elements, in the order of the dimensions: one number per dimension, or one for each of "
      "x, y and z");
  arguments.text("--units", "nanometer", import->units,
                 "The unit of the spacing: one for x, y and z, or one per dimension as in 'second,,um,um,um'. The unit "
                 "of coordinates in SWC (default: um), PLY and OBJ (default: nm)");
  import->pyramid.add_to(arguments);
  import->array.add_to(arguments);
  import->volume.add_to(arguments, "--to precomputed, --layout zarr+neuroglancer");
  add_object_id(arguments, import->id,
                "The id of the object; default: the number at the beginning of the name of SRC. An existing "
                "object is replaced only with --overwrite");
  arguments.examples(
      {{"sherd import brain.nii.gz brain.zarr --chunks 64,64,64 --shards 256,256,256", "a volume, sharded"},
       {"sherd import 'slices/z_*.tif' stack.zarr --shards auto --resolution 4,4,40",
        "a stack of images, voxels in nm"},
       {"sherd import cells.ome.tif cells.zarr", "an OME-TIFF, its dimensions t,c,z,y,x as far as it has them"},
       {"sherd import cells.ome.tif cells.ome.zarr --pyramid mean",
        "straight into an OME-Zarr image of several resolutions"},
       {"sherd import 'slices/z_*.tif' em --to precomputed --resolution 4,4,40 --pyramid mean --sharding auto",
        "straight into a volume that Neuroglancer shows"},
       {"curl -s URL | sherd import - brain.zarr --from nifti", "from another program"},
       {"sherd import 17.swc em/skeletons", "a skeleton, the object 17"},
       {"sherd import cell.ply em/mesh --id 17", "a mesh in nanometers"},
       {"sherd import dump.bin d.zarr --from raw --shape 512,512 --dtype float32", "plain bytes"}});
  return [import](Session& session) { return import->run(session); };
}

}  // namespace sherd::cli
