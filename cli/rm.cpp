// sherd rm: erases an array, or a group with everything below it.
#include <variant>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

struct Rm {
  std::string url;
  bool recursive = false;

  /// A group with members is erased only with --recursive. A damaged node is treated as an array, since its members are
  /// unknown. If nothing can be opened, erase() finds out whether a collection exists.
  [[nodiscard]] Result<void> check_members(const OpenOptions& options) const {
    const auto node = open(url, options);
    if (!node && node.error().code() != ErrorCode::corrupt && node.error().code() != ErrorCode::unsupported &&
        node.error().code() != ErrorCode::not_found)
      return node.error();
    const Group* group = node ? std::get_if<Group>(&*node) : nullptr;
    if (group == nullptr || recursive) return {};
    SHERD_TRY(members, at(url, group->members()));
    if (members.empty()) return {};
    return conflict(shown(url) + " is a group with " + print_count(members.size(), "member") +
                    "; add --recursive to erase it with all of them");
  }

  Result<int> run(Session& session) const {
    const OpenOptions options = session.opening(session.guarded("rm"));
    SHERD_TRY(check_members(options));
    SHERD_TRY(at(url, erase(url, options)));
    SHERD_TRY(session.finish());
    if (session.json()) SHERD_TRY(session.out().print(Json(Json::Object{{"url", url}})));
    session.note("erased " + url);
    return 0;
  }
};

}  // namespace

Run add_rm(Arguments& arguments) {
  auto rm = std::make_shared<Rm>();
  arguments.argument("URL", rm->url, "The array or group");
  arguments.flag("--recursive,-r", rm->recursive, "Erase a group with its members");
  arguments.examples({{"sherd rm study.zarr/old", "waits for active writers; renews consolidated metadata"},
                      {"sherd rm -r study.zarr", "a group and everything below it"}});
  return [rm](Session& session) { return rm->run(session); };
}

}  // namespace sherd::cli
