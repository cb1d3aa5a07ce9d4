// Renames what OME-NGFF's metadata of a group list by the names of its members.
#include "cli/hierarchy.hpp"

#include "api/location.hpp"
#include "base/try.hpp"
#include "cli/values.hpp"
#include "ome/ome.hpp"
#include "store/key.hpp"

namespace sherd::cli {
namespace {

std::string without_end_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// The members of an object that differ from those of another one.
Json changed_members(const Json& before, const Json& after) {
  Json changed{Json::Object{}};
  for (const auto& [name, value] : after.members()) {
    const Json* old = before.find(name);
    if (old == nullptr || *old != value) changed.set(name, value);
  }
  return changed;
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

Result<void> rename_in_metadata(Session& session, const MemberPath& member, const std::optional<std::string>& to) {
  const auto parts = split_key(member.path);  // the prefix ends in '/'
  OpenOptions options = session.opening(session.config(), true);
  options.path = parts.prefix.empty() ? "" : std::string(parts.prefix.substr(0, parts.prefix.size() - 1));
  auto group = open_group(member.store, options);
  if (!group) return {};  // a directory without a document has no metadata
  const bool stays = to && to->starts_with(parts.prefix);
  const auto name = stays ? std::optional(to->substr(parts.prefix.size())) : std::nullopt;
  const std::string path = options.path.empty() ? last_component(member.store->url()) : options.path;
  const Json before = group->attributes();
  const auto after = with_renamed_member(before, path, parts.name, name);
  if (!after) return {};
  SHERD_TRY(group->update_attributes(changed_members(before, *after)));
  session.note("the OME-NGFF metadata of " + group->url() + (name ? " name it " + *name : " no longer list it"));
  return {};
}

}  // namespace sherd::cli
