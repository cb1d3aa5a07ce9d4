// sherd copy: an array or a hierarchy, with other chunks, shards or codecs where they are asked for.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"
#include "sherd/tools.hpp"

namespace sherd::cli {
namespace {

constexpr std::uint64_t kLeastMemory = std::uint64_t{8} << 20;

Json as_json(const CopyReport& report) {
  return Json::Object{{"arrays", report.arrays},
                      {"groups", report.groups},
                      {"shards", report.shards},
                      {"shards_skipped", report.shards_skipped},
                      {"chunks_moved", report.chunks_moved},
                      {"chunks_encoded", report.chunks_encoded}};
}

struct Copy {
  std::string source, destination, memory, format;
  ChunkingOptions chunking;
  bool resume = false, overwrite = false;

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
    if (!memory.empty()) {
      SHERD_TRY(bytes, parse_size(memory).in([] { return "--memory"; }));
      if (bytes < kLeastMemory)
        return invalid_argument("--memory: a copy takes " + print_bytes(kLeastMemory) + " at the least, not " +
                                print_bytes(bytes));
      options.config.memory_budget = bytes;
    }
    return options;
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(chosen, options(session));
    auto copied = sherd::copy(source, destination, chosen);
    if (!copied) {
      const ErrorCode code = copied.error().code();
      if (code == ErrorCode::io || code == ErrorCode::unavailable)
        session.note("what is copied so far stays beside " + destination + "; the same command with --resume goes on");
      return std::move(copied).error();
    }
    const CopyReport report = *copied;
    std::string text = "copied " + print_count(report.arrays, "array") + ", " + print_count(report.groups, "group") +
                       ": " + print_count(report.shards, "object") + " written, " +
                       print_count(report.chunks_moved, "chunk") + " moved as they were, " +
                       std::to_string(report.chunks_encoded) + " encoded anew";
    if (report.shards_skipped != 0)
      text += "; " + print_count(report.shards_skipped, "object") + " stood there already";
    session.note(text);
    if (session.json()) SHERD_TRY(session.out().print(as_json(report)));
    return 0;
  }
};

}  // namespace

Run add_copy(Arguments& arguments) {
  auto copy = std::make_shared<Copy>();
  arguments.argument("SRC", copy->source, "An array or a group");
  arguments.argument("DST", copy->destination, "Where the copy goes");
  copy->chunking.add_to(arguments);
  arguments.text("--memory", "SIZE", copy->memory,
                 "Memory that the copy may use, 8MiB or more and a few chunks; 256MiB where absent");
  arguments.flag("--resume", copy->resume, "Go on where the same copy was cut off");
  arguments.flag("--overwrite", copy->overwrite, "Replace what stands at DST");
  arguments.text("--to", "FORMAT", copy->format, "The format of the copy, such as zarr3; that of SRC where absent");
  arguments.later({"--pyramid VALUE", "--ignore-zero", "--encoding VALUE", "--sharding VALUE", "--axes VALUE"});
  arguments.examples(
      {{"sherd copy a.zarr b.zarr --shards 1024,1024,1024", "other shards; chunks are moved as they are"},
       {"sherd copy a.zarr b.zarr --chunks 32,32,32 --codec zstd:9 --memory 128MiB", "other chunks, in bounded memory"},
       {"sherd copy a.zarr b.zarr --resume", "after a crash"},
       {"sherd copy draft.zarr b.zarr --to zarr3", "a store of the 2022 draft in today's Zarr v3"}});
  return [copy](Session& session) { return copy->run(session); };
}

}  // namespace sherd::cli
