// Finds the hierarchy of a node from the node's URL, and its root as the user spelled it.
#include "cli/hierarchy.hpp"

#include "api/location.hpp"
#include "base/try.hpp"

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

}  // namespace sherd::cli
