// sherd rename: moves an array or a group, with everything below it, to another path of its hierarchy.
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/hierarchy.hpp"
#include "cli/options.hpp"
#include "store/key.hpp"

namespace sherd::cli {
namespace {

struct Rename {
  std::string url, name;

  /// The new path from the root of the hierarchy.
  [[nodiscard]] std::string target(const MemberPath& member) const {
    // As in mv: "a.zarr/x a.zarr/y".
    if (!member.root.empty() && name.starts_with(member.root + "/")) return name.substr(member.root.size() + 1);
    if (name.starts_with('/')) return name.substr(1);
    return std::string(split_key(member.path).prefix) + name;
  }

  Result<int> run(Session& session) const {
    if (name.find("://") != name.npos)
      return invalid_argument("NEW: must be a path in the same hierarchy, not a URL: " + name);
    const OpenOptions options = session.opening(session.guarded("rename"));
    SHERD_TRY(member, find_member(url, options.config));
    if (!member) {  // rename() reports the error
      SHERD_TRY(at(url, rename(url, name, options)));
      return 0;
    }
    const std::string path = target(*member);
    SHERD_TRY(at(url, rename(url, "/" + path, options)));
    const std::string renamed = (member->root.empty() ? "" : member->root + "/") + path;
    SHERD_TRY(session.finish());
    if (session.json()) SHERD_TRY(session.out().print(Json(Json::Object{{"before", url}, {"url", renamed}})));
    session.note("renamed " + url + " to " + renamed);
    return 0;
  }
};

}  // namespace

Run add_rename(Arguments& arguments) {
  auto rename = std::make_shared<Rename>();
  arguments.argument("URL", rename->url, "The array or group");
  arguments.word("NEW", rename->name,
                 "The new path, relative to the group that contains it; if it begins with /, relative to the root "
                 "of the hierarchy; or written like URL, with the same root");
  arguments.examples({{"sherd rename study.zarr/raw/a b", "study.zarr/raw/b, as soon as active writers have ended"},
                      {"sherd rename study.zarr/raw/a /final/a", "study.zarr/final/a; missing groups are created"},
                      {"sherd rename cells.ome.zarr/labels/nuclei cells.ome.zarr/labels/dapi",
                       "labels of an image; its list of labels follows"}});
  return [rename](Session& session) { return rename->run(session); };
}

}  // namespace sherd::cli
