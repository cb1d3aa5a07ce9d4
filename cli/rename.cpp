// sherd rename: moves an array or a group, with everything below it, to another path of its hierarchy.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

struct Rename {
  std::string url, name;

  Result<int> run(Session& session) const {
    SHERD_TRY(at(url, rename(url, name, session.opening(session.guarded("rename")))));
    session.note("renamed " + url + " to " + name);
    return 0;
  }
};

}  // namespace

Run add_rename(Arguments& arguments) {
  auto rename = std::make_shared<Rename>();
  arguments.argument("URL", rename->url, "The array or group");
  arguments.word(
      "NEW", rename->name,
      "Its new path, below the group that contains it or, with / at the start, below the root of the hierarchy");
  arguments.examples({{"sherd rename study.zarr/raw/a b", "study.zarr/raw/b, as soon as active writers have ended"},
                      {"sherd rename study.zarr/raw/a /final/a", "study.zarr/final/a; missing groups are created"}});
  return [rename](Session& session) { return rename->run(session); };
}

}  // namespace sherd::cli
