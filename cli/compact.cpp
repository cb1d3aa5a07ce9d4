// sherd compact: rewrites the shards that have dead bytes.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"
#include "sherd/tools.hpp"

namespace sherd::cli {
namespace {

struct Compact {
  std::string url;

  Result<int> run(Session& session) const {
    CompactOptions options{.format = session.format(), .config = session.watched("compact")};
    // Objects are listed while others are rewritten, so the total so far would say little.
    if (const auto show = options.config.progress)
      options.config.progress = [show](const Progress& progress) { show({progress.done, 0}); };
    SHERD_TRY(report, at(url, compact(url, options)));
    SHERD_TRY(session.finish());
    session.end_progress(true);
    if (session.json()) {
      SHERD_TRY(session.out().print(report.to_json()));
    } else {
      SHERD_TRY(session.out().write("reclaimed " + print_bytes(report.reclaimed) + " in " +
                                    print_count(report.shards, "shard") + "\n"));
    }
    return 0;
  }
};

}  // namespace

Run add_compact(Arguments& arguments) {
  auto compact = std::make_shared<Compact>();
  arguments.argument("URL", compact->url, "An array, a group or a collection, including everything below it");
  arguments.examples(
      {{"sherd compact study.zarr", "free the bytes of superseded chunks, beside readers and writers"},
       {"sherd compact s3://bucket/study.zarr --json", R"(prints {"reclaimed": bytes, "shards": count})"}});
  return [compact](Session& session) { return compact->run(session); };
}

}  // namespace sherd::cli
