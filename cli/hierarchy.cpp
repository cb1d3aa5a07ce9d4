// Finds the hierarchy of a node from the node's URL, and its root as the user spelled it.
#include "cli/hierarchy.hpp"

#include "api/location.hpp"
#include "base/try.hpp"
#include "format/zarr2.hpp"
#include "store/key.hpp"

namespace sherd::cli {
namespace {

std::string without_end_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

Result<std::optional<MemberPath>> find_member(const std::string& url, const Config& config) {
  SHERD_TRY(store, open_store(url, config));
  SHERD_TRY(above, outermost(*store, config));
  if (!above) return std::optional<MemberPath>();
  MemberPath member{std::move(above->store), std::move(above->path), without_end_slash(url)};
  const std::string end = "/" + member.path;
  if (member.root.ends_with(end))
    member.root.resize(member.root.size() - end.size());
  else
    member.root.clear();
  return std::optional(std::move(member));
}

Result<void> note_hidden_group(Session& session, const Node& node) {
  const Group* const group = std::get_if<Group>(&node);
  if (group == nullptr || group->format() != "zarr3") return {};
  SHERD_TRY(members, group->members());
  if (!members.empty()) return {};
  SHERD_TRY(hidden, group->store()->open(prefix_of(group->path()) + std::string(zarr2::kGroup)));
  if (hidden != nullptr)
    session.note(
        "warning: the group of zarr.json is empty, but .zgroup is beside it; remove zarr.json if this is Zarr v2");
  return {};
}

}  // namespace sherd::cli
