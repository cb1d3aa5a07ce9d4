// sherd copy: copies an array or a hierarchy; chunks, shards and codecs can be changed.
#include <algorithm>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/pyramid.hpp"
#include "cli/suffix.hpp"
#include "cli/values.hpp"
#include "cli/volume.hpp"
#include "sherd/object_copy.hpp"
#include "sherd/tools.hpp"
#include "store/archive_of.hpp"

namespace sherd::cli {
namespace {

Json report_json(const CopyReport& report, bool dropped) {
  Json links{Json::Object{}};
  for (const auto& [member, path] : report.dangling) links.set(member, path);
  const Json none{Json::Object{}};
  return Json::Object{{"arrays", report.arrays},
                      {"groups", report.groups},
                      {"shards", report.shards},
                      {"shards_skipped", report.shards_skipped},
                      {"chunks_moved", report.chunks_moved},
                      {"chunks_encoded", report.chunks_encoded},
                      {"dangling_kept", dropped ? none : links},
                      {"dangling_dropped", dropped ? links : none},
                      {"warnings", Json::Array(report.warnings.begin(), report.warnings.end())}};
}

std::string dangling_note(const std::string& member, const std::string& path, bool dropped) {
  const std::string missing = "'" + path + "' is not part of the copy";
  return dropped ? "dropped the member '" + member + "': " + missing
                 : "the member '" + member + "' is kept, but " + missing +
                       "; --dangling drop leaves it out, and sherd link changes it";
}

/// What to do with links of a new volume whose targets do not exist.
void note_dangling(Session& session, const CopyReport& report, bool dropped) {
  for (const auto& [member, path] : report.dangling) session.note(dangling_note(member, path, dropped));
}

bool may_go_on(const Error& error) { return error.code() == ErrorCode::io || error.code() == ErrorCode::unavailable; }

/// What becomes of what a failed copy has written.
void note_rest(Session& session, const std::string& destination, const Config& config) {
  const auto store = open_store(destination, config);
  session.note(store && is_in_archive(**store)
                   ? "the archive is as it was before; --resume can only continue copies to directories"
                   : "the same command with --resume continues this copy");
}

/// Options of images and volumes.
struct ImageOptions {
  PyramidOptions pyramid;
  std::optional<std::string> sharding, axes, resolution, voxel_offset;
  std::string encoding, type, dangling;

  void add_to(Arguments& arguments) {
    arguments.begin_group("Images, and volumes of Neuroglancer (--to precomputed)");
    pyramid.add_to(arguments);
    arguments.text("--axes", "z,y,x", axes,
                   "The axes of the Zarr array, in its order: x, y, z, c and t; for SRC if neither its names nor "
                   "OME-NGFF axes describe them; for DST if SRC is a volume, default: c,z,y,x");
    arguments.choice("--type", {"image", "segmentation"}, type,
                     "What the elements are; default: as SRC says, segmentation with --pyramid mode or "
                     "compressed_segmentation; a segmentation has integers");
    arguments.text("--resolution", "X,Y,Z", resolution,
                   "Nanometres per voxel of the finest resolution; default: as SRC says");
    arguments.text("--voxel-offset", "X,Y,Z", voxel_offset,
                   "Where the first voxel of the finest resolution is; default: as SRC says");
    arguments.choice("--encoding", {"raw", "jpeg", "png", "compressed_segmentation"}, encoding,
                     "How chunks of the volume are stored; raw is the default");
    arguments.choice(
        "--dangling", {"keep", "drop"}, dangling,
        "What happens to mesh, skeletons and segment_properties of the volume if what they refer to is not "
        "part of the copy; default: keep");
    arguments.text("--sharding", "auto|none|JSON|@FILE", sharding,
                   "How chunks of the volume are grouped into shards: auto chooses by size, JSON is as in an "
                   "info document; default: auto if SRC is sharded");
  }

  [[nodiscard]] Result<void> apply(CopyOptions& options) const {
    options.drop_dangling = dangling == "drop";
    options.encoding = encoding;
    options.type = type;
    if (axes)
      for (const auto& name : parse_names(*axes)) options.axes.push_back(name.value_or(""));
    SHERD_TRY(levels, pyramid.get());
    options.pyramid = std::move(levels);
    if (resolution) {
      SHERD_TRY(nanometres, parse_positive(*resolution, 3).in([] { return "--resolution"; }));
      options.resolution = {nanometres[0], nanometres[1], nanometres[2]};
    }
    if (voxel_offset) {
      SHERD_TRY(voxels, parse_voxel(*voxel_offset).in([] { return "--voxel-offset"; }));
      options.voxel_offset = voxels;
    }
    if (!sharding) return {};
    SHERD_TRY(given, parse_sharding(*sharding));
    options.sharding = std::move(given);
    return {};
  }
};

struct Copy {
  std::string source, destination, memory, format;
  std::optional<std::string> select, dtype;
  ChunkingOptions chunking;
  ImageOptions image;
  bool resume = false, overwrite = false, skip_damaged = false, raw = false;

  [[nodiscard]] Result<CopyOptions> options(Session& session) const {
    CreateOptions chosen{.config = session.guarded("copy")};
    SHERD_TRY(chunking.apply(chosen));
    if (chosen.chunk_grid) return invalid_argument("copy makes chunks and shards of one shape; write it as 64,64");
    SHERD_TRY(check_format("--to", format));
    CopyOptions options{.resume = resume, .overwrite = overwrite, .format = format, .config = std::move(chosen.config)};
    if (chunking.chunks) options.chunks = chosen.chunks;
    if (chunking.shards && !chosen.auto_shards) options.shards = chosen.shards;
    options.auto_shards = chosen.auto_shards;
    options.codecs = chosen.codecs;
    options.index_location = chunking.location();
    options.skip_damaged = skip_damaged;
    options.source_format = session.format();
    options.select = select;
    if (dtype) {
      SHERD_TRY(type, in_option(parse_dtype_argument(*dtype), "--dtype"));
      options.dtype = std::move(type);
    }
    SHERD_TRY(image.apply(options));
    SHERD_TRY(apply_memory("--memory", memory, options.config));
    return options;
  }

  /// Copies the objects as they are.
  Result<int> run_raw(Session& session, const CopyOptions& chosen) const {
    const bool changes = chosen.chunks || chosen.shards || chosen.auto_shards || chosen.codecs ||
                         chosen.index_location || chosen.select || chosen.dtype || chosen.pyramid ||
                         chosen.resolution || chosen.voxel_offset || chosen.sharding || !chosen.axes.empty() ||
                         !chosen.type.empty() || !chosen.encoding.empty() || !chosen.format.empty() ||
                         chosen.skip_damaged || chosen.drop_dangling;
    if (changes)
      return invalid_argument(
          "--raw copies objects as they are; it can only be combined with --resume, --overwrite and --memory");
    auto copied =
        copy_objects(source, destination, {.resume = resume, .overwrite = overwrite, .config = chosen.config});
    if (!copied && may_go_on(copied.error())) note_rest(session, destination, chosen.config);
    SHERD_TRY(report, std::move(copied));
    std::string text = "copied " + print_count(report.objects, "object") + ", " + print_bytes(report.bytes);
    if (report.skipped != 0) text += "; " + print_count(report.skipped, "object") + " already existed";
    SHERD_TRY(session.finish());
    session.note(text);
    if (session.json())
      SHERD_TRY(session.out().print(Json(
          Json::Object{{"objects", report.objects}, {"bytes", report.bytes}, {"objects_skipped", report.skipped}})));
    return 0;
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(chosen, options(session));
    if (destination == "-")
      return invalid_argument("DST: a copy is not a stream; write ./- for a directory of that name");
    if (raw) return run_raw(session, chosen);
    std::shared_ptr<Recorder>& recorder = chosen.config.recorder;
    if (!recorder) recorder = std::make_shared<Recorder>();
    std::vector<std::string> notes;
    chosen.note = [&notes](const std::string& text) { notes.push_back(text); };
    auto copied = sherd::copy(source, destination, chosen);
    if (!copied) {
      if (may_go_on(copied.error()) && recorder->stats().bytes_written != 0)
        note_rest(session, destination, chosen.config);
      return std::move(copied).error();
    }
    const CopyReport report = *copied;
    std::string text = "copied " + print_count(report.arrays, "array") + ", " + print_count(report.groups, "group") +
                       ": " + print_count(report.shards, "object") + " written, " +
                       print_count(report.chunks_moved, "chunk") + " moved without decoding, " +
                       std::to_string(report.chunks_encoded) + " encoded again";
    if (report.shards_skipped != 0) text += "; " + print_count(report.shards_skipped, "object") + " already existed";
    SHERD_TRY(session.finish());
    session.note(text);
    for (const std::string& note : notes) session.note(note + "; --resolution sets it");
    for (const std::string& warning : report.warnings) session.note("warning: " + warning);
    note_dangling(session, report, chosen.drop_dangling);
    if (const auto made = sherd::open(destination))
      warn_of_suffix(session, destination, std::visit([](const auto& node) { return node.format(); }, *made));
    if (session.json()) SHERD_TRY(session.out().print(report_json(report, chosen.drop_dangling)));
    return 0;
  }
};

}  // namespace

Run add_copy(Arguments& arguments) {
  auto copy = std::make_shared<Copy>();
  arguments.argument("SRC", copy->source, "An array or a group");
  arguments.argument("DST", copy->destination, "The destination of the copy");
  copy->chunking.add_to(arguments);
  arguments.text("--memory", "SIZE", copy->memory,
                 "Memory that the copy may use, 8MiB or more and a few chunks; default: 256MiB");
  arguments.flag(
      "--raw", copy->raw,
      "Copy every object of SRC as it is, whatever it is, and read it back; SRC and DST are stores, such as a "
      "directory and a zip archive");
  arguments.flag("--resume", copy->resume, "Continue an interrupted copy");
  arguments.flag("--overwrite", copy->overwrite, "Replace an existing DST; with --raw, its objects one by one");
  arguments.flag(
      "--skip-damaged", copy->skip_damaged,
      "Leave out arrays and groups of SRC that cannot be read or are gone, with a warning; default: an error");
  arguments.text("--to", "FORMAT", copy->format,
                 "The format of the copy, such as zarr3 or precomputed; default: that of SRC");
  arguments.text("--select", "SELECTION", copy->select,
                 "Copy a box, as in '0:10,::,3'; the dimension of an integer is dropped. Of an image the finest "
                 "resolution; default: all");
  arguments.text("--dtype", "TYPE", copy->dtype,
                 "Convert the elements, each to the nearest number; a number out of range is an error");
  copy->image.add_to(arguments);
  arguments.examples(
      {{"sherd copy a.zarr b.zarr --shards 1024,1024,1024", "other shards; chunks are moved without decoding"},
       {"sherd copy a.zarr b.zarr --chunks 32,32,32 --codec zstd:9 --memory 128MiB", "other chunks, in bounded memory"},
       {"sherd copy a.zarr b.zarr --resume", "after a crash"},
       {"sherd copy --raw a.zip a.zarr", "all objects of an archive, as they are"},
       {"sherd copy cells.ome.zarr t3.ome.zarr --select 3,... --pyramid mean", "one time of a t,c,z,y,x image"},
       {"sherd copy em.zarr crop.zarr --select 0:64,128:512,128:512 --dtype uint8", "a box, with a check of the range"},
       {"sherd copy draft.zarr b.zarr --to zarr3", "a store of the 2022 draft in today's Zarr v3"},
       {"sherd copy em.zarr em --to precomputed --axes z,y,x --sharding auto --pyramid mean",
        "a volume that Neuroglancer shows, with coarser resolutions"},
       {"sherd copy labels labels.zarr --to zarr3 --pyramid mode --ignore-zero", "a volume as OME-Zarr"}});
  return [copy](Session& session) { return copy->run(session); };
}

}  // namespace sherd::cli
