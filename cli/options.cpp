// Defines the options that several subcommands share, their help, and what they set in the engine's option structs.
#include "cli/options.hpp"

#include <charconv>

#include "base/size.hpp"
#include "base/try.hpp"
#include "cli/option_errors.hpp"
#include "cli/session.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

/// "0.5" or "50%".
Result<double> parse_share(const std::string& text) {
  double share = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, share);
  const bool percent = parsed.ptr != end && *parsed.ptr == '%';
  if (percent) share /= 100;
  if (parsed.ec != std::errc{} || parsed.ptr + (percent ? 1 : 0) != end || !(share >= 0 && share <= 1))
    return invalid_argument("'" + text + "' is not a fraction; write it as 0.5 or 50%");
  return share;
}

/// Bytes, or a share, which has a point or a percent sign.
Result<Slack> parse_slack(const std::string& text) {
  if (text.find_first_of(".%") != std::string::npos) {
    SHERD_TRY(share, parse_share(text));
    return Slack{.share = share};
  }
  SHERD_TRY(bytes, parse_size(text));
  return Slack{.bytes = bytes};
}

/// Parses lengths given per chunk: "[3,3,4],[5]".
bool has_edges(const std::optional<std::string>& text) { return text && text->find('[') != std::string::npos; }

Result<Json> parse_grid(const std::string& text) {
  auto axes = Json::parse("[" + text + "]");
  if (!axes)
    return invalid_argument("'" + text + "' is not a list of lengths; write one list per dimension, as in [3,3,4],[5]");
  return Json(Json::Object{{"name", "rectilinear"},
                           {"configuration", Json::Object{{"kind", "inline"}, {"chunk_shapes", *std::move(axes)}}}});
}

Result<void> apply_chunks(const std::string& chunks, const std::optional<std::string>& shards, CreateOptions& create) {
  if (!has_edges(chunks)) {
    SHERD_TRY(shape, parse_shape(chunks));
    create.chunks = std::move(shape);
    return {};
  }
  if (shards && shards != "none")
    return invalid_argument("inner chunks must have one shape; put the lists into --shards, or omit --shards");
  SHERD_TRY(grid, parse_grid(chunks));
  create.chunk_grid = std::move(grid);
  return {};
}

Result<void> apply_shards(const std::string& shards, bool chunks_given, CreateOptions& create) {
  if (shards == "none") return {};
  if (shards == "auto") {
    create.auto_shards = true;
    return {};
  }
  if (!has_edges(shards)) {
    SHERD_TRY(shape, parse_shape(shards));
    create.shards = std::move(shape);
    return {};
  }
  if (!chunks_given) return invalid_argument("shards of different lengths need --chunks");
  SHERD_TRY(grid, parse_grid(shards));
  create.chunk_grid = std::move(grid);
  return {};
}

}  // namespace

void add_everywhere(Arguments& arguments, Everywhere& options) {
  arguments.begin_group("Everywhere");
  arguments.flag("--json", options.json, "Reports on stdout and errors on stderr as JSON");
  arguments.number("--threads", options.threads,
                   "Threads to use; 0, the default: one per core, or more for writes that wait for a disk");
  arguments.flag("--quiet", options.quiet, "Only errors on stderr");
  arguments.choice("--progress", {"auto", "always", "never"}, options.progress,
                   "Progress on stderr; auto: on a terminal; always: elsewhere too, and a last line when done");
  arguments.flag("--stats", options.stats, "At the end, requests, bytes, chunks, memory and time as JSON on stderr");
  arguments.flag("--trace", options.trace, "Each request of a store on stderr, as with NCTRACING=9 in the environment");
  arguments.repeated("--limit", "NAME=VALUE", options.limits,
                     "Raise a limit on what stored bytes may require, such as chunk_bytes=8GiB");
  arguments.text("--lock-timeout", "SECONDS", options.lock_timeout,
                 "How long to wait for another writer of the same data; default: 600; inf: no limit");
  arguments.choice("--lock", {"auto", "none"}, options.lock,
                   "none: write without locks, for file systems that have none; safe only if no other process "
                   "writes to the same shard");
  arguments.repeated("--store-option", "NAME=VALUE", options.storage_options,
                     "An option of the stores that URLs name, such as follow_symlinks=false");
  arguments.text("--store-format", "NAME", options.store_format,
                 "The format of the store (" + known_formats() + "); default: detected");
}

void add_standalone(Arguments& arguments, Everywhere& options) {
  arguments.in_order("--standalone", "",
                     "A new node belongs to no hierarchy around its directory; --store-option standalone=true",
                     [&options](const std::string&) {
                       options.storage_options.emplace_back("standalone=true");
                       return std::string();
                     });
}

namespace {

void add_resolution(Arguments& arguments, LevelChoice& level) {
  arguments.text("--resolution", "X,Y,Z", level.resolution,
                 "The resolution of a volume by its nanometres per voxel, such as 8,8,40, instead of its number");
}

}  // namespace

void add_scale(Arguments& arguments, LevelChoice& scale) {
  arguments.number("--scale", scale.number, "Which resolution of a volume; default: 0, the finest");
  add_resolution(arguments, scale);
}

void add_level(Arguments& arguments, LevelChoice& level) {
  arguments.number("--level", level.number,
                   "Which resolution of an OME-NGFF image or a volume; default: 0, the finest");
  arguments.number("--scale", level.number, "The same as --level");
  add_resolution(arguments, level);
}

void add_gzip_level(Arguments& arguments, std::string& level) {
  arguments.choice("--gzip-level", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, level,
                   "The gzip level of Neuroglancer's chunks and values, which no document records; default: 3 for "
                   "chunks encoded raw, several times as fast as 6, and 6 for everything else");
}

void apply_gzip_level(const std::string& level, Config& config) {
  if (!level.empty()) config.gzip_level = level.front() - '0';
}

void ChunkingOptions::add_to(Arguments& arguments) {
  arguments.text(
      "--chunks", "SHAPE", chunks,
      "Shape of the inner chunk; default: chosen by size (copies keep the source's). For different lengths, one "
      "list per dimension, such as '[3,3,4],[5]'");
  arguments.text("--shards", "SHAPE|auto|none", shards, "Shape of the stored object; lists as for --chunks");
  arguments.repeated(
      "--codec", "NAME[:LEVEL]|JSON", codecs,
      "A codec of the chunks: zstd:3, gzip:6, blosc:lz4, bytes, crc32c …, or JSON as in metadata, one or a "
      "list; several are applied in turn");
  arguments.choice("--index-location", {"start", "end"}, index_location, "Where the index of a shard is");
  writing.add_to(arguments);
}

Result<void> apply_memory(const char* option, const std::string& memory, Config& config) {
  constexpr std::uint64_t least = std::uint64_t{8} << 20;
  if (memory.empty()) return {};
  SHERD_TRY(bytes, parse_size(memory).in([&] { return option; }));
  if (bytes < least)
    return invalid_argument(std::string(option) + ": a copy needs at least " + print_bytes(least) + ", not " +
                            print_bytes(bytes));
  config.memory_budget = bytes;
  return {};
}

void UpdateOptions::add_to(Arguments& arguments) {
  arguments.choice(
      "--update", {"auto", "rewrite", "append", "in_place"}, update,
      "How a stored shard is changed: rewrite it as a new object; append changed chunks to it; overwrite those that "
      "fit where they are (in_place: readers may see a chunk half written); or auto, the default: append where "
      "readers and crashes find the old or the new version. What cannot be done, or would leave more than "
      "--max-unused dead bytes, is rewritten; --stats says why");
  arguments.text("--max-unused", "SHARE", max_unused,
                 "Share of dead bytes above which an update rewrites a shard; default: 0.5");
}

Result<void> UpdateOptions::apply(Config& config) const {
  if (max_unused) {
    SHERD_TRY(share, parse_share(*max_unused).in([] { return "--max-unused"; }));
    config.max_unused = share;
  }
  config.update = update == "rewrite"    ? Update::rewrite
                  : update == "append"   ? Update::append
                  : update == "in_place" ? Update::in_place
                                         : Update::automatic;
  return {};
}

void WritingOptions::add_to(Arguments& arguments) {
  arguments.choice("--chunk-order", {"c", "f", "morton", "arrival"}, chunk_order,
                   "Order of inner chunks inside shards that this command writes; morton is the default; arrival: as "
                   "they are encoded, the fastest");
  updating.add_to(arguments);
  arguments.flag(
      "--write-empty-chunks", write_empty_chunks,
      "Store chunks that hold only the fill value too. cloud-volume cannot read volumes without them, unless it "
      "opens them with fill_missing=True");
  arguments.flag("--no-durable", no_durable, "Do not wait until data is on disk: faster, but lost in a power failure");
  arguments.choice(
      "--layout", {"plain", "zarr+neuroglancer"}, layout,
      "The layout of a new array's shards: that of its format (plain, the default), or files that are shards "
      "of Zarr and of Neuroglancer at the same time",
      "hdf5");
  add_gzip_level(arguments, gzip_level);
  arguments.text("--slack", "SIZE", slack,
                 "Room after each chunk of a new shard with --index-location start, for --update in_place: bytes, such "
                 "as 4KiB, or a share of the chunk, such as 0.25; default: none");
}

Result<void> WritingOptions::apply(Config& config) const {
  config.chunk_order = chunk_order == "c"         ? ChunkOrder::c
                       : chunk_order == "f"       ? ChunkOrder::f
                       : chunk_order == "arrival" ? ChunkOrder::arrival
                                                  : ChunkOrder::morton;
  if (slack) {
    SHERD_TRY(room, parse_slack(*slack).in([] { return "--slack"; }));
    config.slack = room;
  }
  SHERD_TRY(updating.apply(config));
  if (layout == "zarr+neuroglancer") config.layout = Layout::zarr_neuroglancer;
  apply_gzip_level(gzip_level, config);
  config.write_empty_chunks = write_empty_chunks;
  config.durable = !no_durable;
  return {};
}

std::optional<IndexLocation> ChunkingOptions::location() const noexcept {
  if (index_location.empty()) return std::nullopt;
  return index_location == "start" ? IndexLocation::start : IndexLocation::end;
}

Result<void> ChunkingOptions::apply(CreateOptions& create) const {
  if (chunks) SHERD_TRY(apply_chunks(*chunks, shards, create).in([] { return "--chunks"; }));
  if (shards) SHERD_TRY(apply_shards(*shards, chunks.has_value(), create).in([] { return "--shards"; }));
  if (!codecs.empty()) {
    SHERD_TRY(list, in_option(parse_codecs(codecs), "--codec"));
    create.codecs = std::move(list);
  }
  create.index_location = location().value_or(IndexLocation::end);
  return writing.apply(create.config);
}

void ArrayOptions::add_to(Arguments& arguments) {
  chunking.add_to(arguments);
  arguments.text("--fill-value", "JSON", fill_value, "The value of elements that were never written: 0, NaN, \"text\"");
  arguments.text("--attributes", "JSON|@FILE", attributes, "An object with the attributes");
  arguments.text("--dimension-names", "z,y,x", dimension_names, "One name per dimension");
  arguments.flag("--overwrite", overwrite, "Replace an existing node");
}

bool ArrayOptions::is_plain() const noexcept {
  return !chunking.chunks && !chunking.shards && chunking.codecs.empty() && chunking.index_location.empty() &&
         !fill_value && !dimension_names;
}

bool ArrayOptions::may_be_volume() const noexcept {
  const bool regular = !has_edges(chunking.chunks);
  return regular && !chunking.shards && chunking.codecs.empty() && chunking.index_location.empty() && !fill_value &&
         !attributes && !dimension_names;
}

Result<void> ArrayOptions::apply(CreateOptions& create) const {
  SHERD_TRY(chunking.apply(create));
  if (fill_value) create.fill_value = parse_value_argument(*fill_value);
  if (attributes) {
    SHERD_TRY(json, in_option(parse_json_argument(*attributes), "--attributes"));
    create.attributes = std::move(json);
  }
  if (dimension_names) create.dimension_names = parse_names(*dimension_names);
  create.overwrite = overwrite;
  return {};
}

}  // namespace sherd::cli
