// sherd export: writes an array as a file of another format.
#include "base/scalar_dtype.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/describe.hpp"
#include "cli/object_file.hpp"
#include "cli/options.hpp"
#include "cli/scratch_file.hpp"
#include "sherd/tools.hpp"

namespace sherd::cli {
namespace {

struct Export {
  std::string url, destination, to;
  std::string units;
  std::optional<std::uint64_t> id;
  LevelChoice level;

  Result<int> run(Session& session) const {
    if (is_object_file(to, destination)) {
      if (!id)
        return invalid_argument("--id is missing: which skeleton or mesh of " + shown(url) + " is to be exported");
      return run_export_object(session, url, destination, {.format = to, .id = id, .unit = units});
    }
    if (id || !units.empty())
      return invalid_argument(std::string(id ? "--id" : "--units") + " can only be used with SWC, PLY and OBJ files");
    SHERD_TRY(array, session.open_level(url, session.guarded("export"), level));
    const ExportOptions options{.to = to, .note = [&session](const std::string& text) { session.note(text); }};
    if (destination == "-") {
      if (to.empty()) return invalid_argument("set the format of standard output with --to");
      SHERD_TRY(file, ScratchFile::make());
      if (const auto made = export_file(array, file.path(), options); !made) return file.of_output(made.error());
      SHERD_TRY(file.give(session.out()));
      return 0;
    }
    SHERD_TRY(export_file(array, destination, options));
    session.note("exported " + shown(url) + ": " + summary(array) + " in " + destination);
    if (session.json())
      SHERD_TRY(session.out().print(Json(Json::Object{{"url", array.url()},
                                                      {"file", destination},
                                                      {"shape", Json::numbers(array.shape())},
                                                      {"dtype", print_dtype(array.dtype())}})));
    return 0;
  }
};

}  // namespace

Run add_export(Arguments& arguments) {
  auto options = std::make_shared<Export>();
  arguments.argument(
      "URL", options->url,
      "An array, a volume, or an OME-NGFF image; for SWC, PLY and OBJ a collection of skeletons or meshes");
  arguments.argument(
      "DST", options->destination,
      "A file, which is replaced, or - for standard output; for images of several planes a directory or a "
      "pattern such as slice_%04d.png");
  arguments.choice("--to", {"nifti", "npy", "raw", "png", "pgm", "tiff", "swc", "ply", "obj"}, options->to,
                   "The format of DST. Default: by its suffix");
  add_level(arguments, options->level);
  add_object_id(arguments, options->id, "Which skeleton or mesh");
  arguments.text("--units", "nanometer", options->units,
                 "The unit of the coordinates; default: um in SWC, nm in PLY and OBJ");
  arguments.examples({{"sherd export brain.zarr brain.nii.gz", "with affine and units from the attributes"},
                      {"sherd export brain.zarr - --to nifti | gzip > brain.nii.gz", "to another program"},
                      {"sherd export brain.zarr planes/z_%04d.png", "one image of x and y per plane"},
                      {"sherd export cells.ome.zarr/1 cells.tif", "a resolution, as OME-TIFF with its pixels' size"},
                      {"sherd export em/skeletons 17.swc --id 17", "a skeleton, in micrometers"},
                      {"sherd export em/mesh 17.ply --id 17", "a mesh; of several resolutions the finest"}});
  return [options](Session& session) { return options->run(session); };
}

}  // namespace sherd::cli
