// sherd export: an array becomes a file of another format.
#include "base/scalar.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/describe.hpp"
#include "cli/options.hpp"
#include "cli/scratch_file.hpp"
#include "sherd/tools.hpp"

namespace sherd::cli {
namespace {

struct Export {
  std::string url, destination, to;
  std::uint64_t scale = 0;

  Result<int> run(Session& session) const {
    SHERD_TRY(array, at(url, open_array(url, session.opening(session.guarded("export"), false, scale))));
    if (destination == "-") {
      if (to.empty()) return invalid_argument("say with --to what goes to standard output");
      SHERD_TRY(file, ScratchFile::make());
      SHERD_TRY(export_file(array, file.path(), {.to = to}));
      SHERD_TRY(file.give(session.out()));
      return 0;
    }
    SHERD_TRY(export_file(array, destination, {.to = to}));
    session.note("exported " + url + ": " + summary(array) + " in " + destination);
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
  arguments.argument("URL", options->url, "The array");
  arguments.argument(
      "DST", options->destination,
      "A file, which is replaced, or - for standard output; for images of several planes a directory or a "
      "pattern such as slice_%04d.png");
  arguments.choice("--to", {"nifti", "npy", "raw", "png", "pgm", "tiff"}, options->to,
                   "What DST becomes; told by its suffix where absent");
  add_scale(arguments, options->scale);
  arguments.examples({{"sherd export brain.zarr brain.nii.gz", "with affine and units from the attributes"},
                      {"sherd export brain.zarr - --to nifti | gzip > brain.nii.gz", "to another program"},
                      {"sherd export brain.zarr planes/z_%04d.png", "one image a plane"}});
  return [options](Session& session) { return options->run(session); };
}

}  // namespace sherd::cli
