// Finds the hierarchy of a node from the node's URL, and its root as the user spelled it.
#include "cli/hierarchy.hpp"

#include "api/location.hpp"
#include "api/netcdf.hpp"
#include "array/nodes.hpp"
#include "base/try.hpp"
#include "format/hidden_group.hpp"

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

Result<bool> hides_zarr2(const std::string& dataset, const Config& config) {
  const auto parsed = netcdf::parse_dataset_url(dataset);
  const auto node = parsed ? open(dataset, {.config = config}) : Result<Node>(parsed.error());
  const Group* const group = node ? std::get_if<Group>(&*node) : nullptr;
  if (group == nullptr) return false;  // reported when it is opened
  SHERD_TRY(hidden, hidden_group(location_of(*group), group->metadata()));
  return hidden.has_value();
}

Result<void> note_hidden_group(Session& session, const Node& node) {
  const Group* const group = std::get_if<Group>(&node);
  if (group == nullptr) return {};
  SHERD_TRY(hidden, hidden_group(location_of(*group), group->metadata()));
  if (hidden) session.note("warning: " + *hidden);
  return {};
}

}  // namespace sherd::cli
