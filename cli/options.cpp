// Knows the options that several subcommands share, their help, and what they set in the engine's option structs.
#include "cli/options.hpp"

#include "base/try.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
void add_everywhere(Arguments& arguments, Everywhere& options) {
  arguments.begin_group("Everywhere");
  arguments.flag("--json", options.json, "Reports on stdout and errors on stderr as JSON");
  arguments.number("--threads", options.threads, "Threads to use; 0, the default, means all cores");
  arguments.flag("--quiet", options.quiet, "Nothing on stderr but errors");
  arguments.choice("--progress", {"auto", "always", "never"}, options.progress,
                   "Progress on stderr; auto: on a terminal");
  arguments.flag("--stats", options.stats, "At the end, requests, bytes, chunks, memory and time as JSON on stderr");
  arguments.repeated("--limit", "NAME=VALUE", options.limits,
                     "Raise a limit on what stored bytes may ask for, such as chunk_bytes=8GiB");
  arguments.text("--store-format", "NAME", options.store_format,
                 "The format of the store, where it is not to be guessed");
}

void ChunkingOptions::add_to(Arguments& arguments) {
  arguments.text("--chunks", "SHAPE", chunks, "Shape of the inner chunk; chosen by size where absent");
  arguments.text("--shards", "SHAPE|auto|none", shards, "Shape of the stored object");
  arguments.repeated(
      "--codec", "NAME[:LEVEL]|JSON", codecs,
      "A codec of the chunks: zstd:3, gzip:6, blosc:lz4, bytes, crc32c …, or JSON as in metadata; several "
      "are applied in turn");
  arguments.choice("--index-location", {"start", "end"}, index_location, "Where a shard's index stands");
  add_order_to(arguments);
}

void ChunkingOptions::add_order_to(Arguments& arguments) {
  arguments.choice("--chunk-order", {"c", "f", "morton"}, chunk_order,
                   "Order of inner chunks inside shards that this command writes; morton is the default");
}

std::optional<IndexLocation> ChunkingOptions::location() const noexcept {
  if (index_location.empty()) return std::nullopt;
  return index_location == "start" ? IndexLocation::start : IndexLocation::end;
}

ChunkOrder ChunkingOptions::order() const noexcept {
  return chunk_order == "c" ? ChunkOrder::c : chunk_order == "f" ? ChunkOrder::f : ChunkOrder::morton;
}

Result<void> ChunkingOptions::apply(CreateOptions& create) const {
  if (chunks) {
    SHERD_TRY(shape, parse_shape(*chunks).in([] { return "--chunks"; }));
    create.chunks = std::move(shape);
  }
  if (shards == "auto") {
    create.auto_shards = true;
  } else if (shards && shards != "none") {
    SHERD_TRY(shape, parse_shape(*shards).in([] { return "--shards"; }));
    create.shards = std::move(shape);
  }
  if (!codecs.empty()) {
    SHERD_TRY(list, parse_codecs(codecs).in([] { return "--codec"; }));
    create.codecs = std::move(list);
  }
  create.index_location = location().value_or(IndexLocation::end);
  create.config.chunk_order = order();
  return {};
}

void ArrayOptions::add_to(Arguments& arguments) {
  chunking.add_to(arguments);
  arguments.text("--fill-value", "JSON", fill_value, "What elements hold that were never written: 0, NaN, \"text\"");
  arguments.text("--attributes", "JSON|@FILE", attributes, "An object with the attributes");
  arguments.text("--dimension-names", "z,y,x", dimension_names, "A name for each dimension");
  arguments.flag("--overwrite", overwrite, "Replace what stands there");
}

bool ArrayOptions::is_plain() const noexcept {
  return !chunking.chunks && !chunking.shards && chunking.codecs.empty() && chunking.index_location.empty() &&
         !fill_value && !dimension_names;
}

Result<void> ArrayOptions::apply(CreateOptions& create) const {
  SHERD_TRY(chunking.apply(create));
  if (fill_value) create.fill_value = parse_value_argument(*fill_value);
  if (attributes) {
    SHERD_TRY(json, parse_json_argument(*attributes).in([] { return "--attributes"; }));
    create.attributes = std::move(json);
  }
  if (dimension_names) create.dimension_names = parse_names(*dimension_names);
  create.overwrite = overwrite;
  return {};
}

}  // namespace sherd::cli
