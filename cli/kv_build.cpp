// sherd kv build: builds shards of values by id, from files named by lines of JSON on standard input. Files are read
// and encoded on all threads, one batch of lines at a time.
#include "base/pool.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/input_lines.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "cli/value_file.hpp"
#include "cli/values.hpp"
#include "sherd/sharded_build.hpp"

namespace sherd::cli {
namespace {

using neuroglancer::BuildOptions;
using neuroglancer::BuildReport;
using neuroglancer::ShardedBuilder;

constexpr std::string_view kLineOfValue = R"(a line is a JSON object such as {"id": 7, "path": "7.bin"})";

/// Accepts an id as a number, or as digits in a string: the writer may not support integers above 2^53.
std::optional<std::uint64_t> id_of(const Json* value) {
  if (value == nullptr) return std::nullopt;
  return value->is_string() ? Json::number(value->text()).as_uint() : value->as_uint();
}

Result<void> read_file(const std::string& path, const Limits& limits, Buffer& to) {
  SHERD_TRY(file, open_value_file(path, limits));
  SHERD_TRY(to.resize(file->size_bound()));
  return file->read_at(0, to.span()).in_key(path);
}

Result<void> add_file(ShardedBuilder& builder, const std::string& text, const Limits& limits) {
  const auto json = Json::parse(text);
  if (!json) return invalid_argument(json.error().message() + "; " + std::string(kLineOfValue));
  const auto id = id_of(json->find("id"));
  const Json* path = json->find("path");
  if (!id) return invalid_argument("'id' must be an integer from 0 to 2^64-1; " + std::string(kLineOfValue));
  if (path == nullptr || !path->is_string())
    return invalid_argument("'path' must name a file; " + std::string(kLineOfValue));
  const Json* before = json->find("preceding");
  if (before != nullptr && !before->is_string())
    return invalid_argument("'preceding' must name a file; " + std::string(kLineOfValue));
  Scratch bytes, preceding;
  SHERD_TRY(read_file(path->text(), limits, *bytes));
  if (before != nullptr) SHERD_TRY(read_file(before->text(), limits, *preceding));
  return builder.add({*id, bytes->span(), before != nullptr ? preceding->span() : std::span<std::byte>()});
}

struct KvBuild {
  std::string url, sharding, memory = "128MiB", temporary, gzip_level;
  bool overwrite = false;

  Result<BuildReport> build(const Config& config) const {
    if (sharding.empty()) return invalid_argument("--sharding is missing; set it to the parameters, as JSON or @FILE");
    SHERD_TRY(parameters, in_option(parse_json_argument(sharding), "--sharding"));
    BuildOptions options{.overwrite = overwrite, .temporary = temporary, .config = config};
    SHERD_TRY(bytes, parse_size(memory).in([] { return "--memory"; }));
    options.config.memory_budget = bytes;
    apply_gzip_level(gzip_level, options.config);
    SHERD_TRY(builder, ShardedBuilder::create(url, parameters, std::move(options)));
    InputLines input(config, kLineOfValue);
    for (;;) {
      SHERD_TRY(lines, input.next().in([] { return "standard input"; }));
      if (lines.empty()) return builder.finish();
      SHERD_TRY(parallel_for(lines.size(), config, [&](std::size_t i) {
        return add_file(builder, lines[i].text, config.limits).in([&] {
          return "line " + std::to_string(lines[i].number);
        });
      }));
    }
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(report, at(url, build(session.guarded("build"))));
    SHERD_TRY(session.finish());
    session.note("built " + print_count(report.shards, "shard") + " of " + print_count(report.ids, "value") + ": " +
                 print_bytes(report.bytes));
    if (session.json())
      SHERD_TRY(
          session.out().print(Json::Object{{"ids", report.ids}, {"shards", report.shards}, {"bytes", report.bytes}}));
    return 0;
  }
};

}  // namespace

Run add_kv_build(Arguments& arguments) {
  auto build = std::make_shared<KvBuild>();
  arguments.argument("URL", build->url, "The directory of the shards");
  arguments.text("--sharding", "JSON|@FILE", build->sharding,
                 "The parameters, as the member `sharding` of an info document");
  arguments.text("--memory", "SIZE", build->memory,
                 "Memory that the build may use, 8MiB or more and a file for each thread; default: 128MiB. What does "
                 "not fit waits in a temporary file");
  arguments.text("--temporary", "DIR", build->temporary,
                 "Where the temporary file is; default: the directory of the shards");
  add_gzip_level(arguments, build->gzip_level);
  arguments.flag("--overwrite", build->overwrite, "Replace shards that exist");
  arguments.examples(
      {{"sherd kv build skeletons --sharding @sharding.json < list.ndjson",
        R"(each line is such as {"id": 7, "path": "7.bin"}: the value of 7 is what that file holds)"},
       {"sherd kv build meshes --sharding @sharding.json < meshes.ndjson",
        R"(lines such as {"id": 7, "path": "7.manifest", "preceding": "7.fragments"}: what precedes the value)"},
       {"jq -c '{id: .segment, path: .file}' all.json | sherd kv build meshes --sharding @sharding.json --memory 1GiB",
        "lines from another program, in any order"}});
  return [build](Session& session) { return build->run(session); };
}

}  // namespace sherd::cli
