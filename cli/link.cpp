// sherd link: prints the collections that a volume's info document links to, or changes the links in one atomic write.
#include <algorithm>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "sherd/precomputed.hpp"

namespace sherd::cli {
namespace {

using neuroglancer::VolumeLinks;

struct Link {
  std::string url;
  VolumeLinks links;
  std::vector<std::string> removed;

  struct Member {
    const char* name;
    std::optional<std::string> VolumeLinks::* path;
  };
  static constexpr Member kMembers[] = {{"mesh", &VolumeLinks::mesh},
                                        {"skeletons", &VolumeLinks::skeletons},
                                        {"segment_properties", &VolumeLinks::segment_properties}};

  /// A link to be removed has an empty path.
  [[nodiscard]] Result<VolumeLinks> wanted() const {
    VolumeLinks all = links;
    for (const Member& member : kMembers)
      if (const auto& path = all.*member.path; path && path->empty())
        return invalid_argument("is empty; --unlink removes a link").in_member(member.name);
    for (std::string name : removed) {
      std::ranges::replace(name, '-', '_');
      const auto member = std::ranges::find(kMembers, name, [](const Member& each) { return std::string(each.name); });
      if (member == std::end(kMembers))
        return invalid_argument("--unlink: '" + name + "' is not mesh, skeletons or segment_properties");
      if (all.*member->path) return invalid_argument("--unlink: '" + name + "' is also set; use only one of the two");
      all.*member->path = "";
    }
    return all;
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(all, wanted());
    const bool changes = !(all == VolumeLinks{});
    const Config config = changes ? session.guarded("link") : session.config();
    SHERD_TRY(now, at(url, changes ? link_collections(url, all, config) : neuroglancer::volume_links(url, config)));
    Json report{Json::Object{}};
    for (const Member& member : kMembers) {
      const auto& path = now.*member.path;
      report.set(member.name, path ? Json(*path) : Json());
      if (!session.json() && path) SHERD_TRY(session.out().write(std::string(member.name) + "\t" + *path + "\n"));
    }
    if (session.json()) SHERD_TRY(session.out().print(report));
    return 0;
  }
};

}  // namespace

Run add_link(Arguments& arguments) {
  auto link = std::make_shared<Link>();
  arguments.argument("VOLUME", link->url, "The directory of the volume, where its info document is");
  arguments.text("--mesh", "DIR", link->links.mesh,
                 "Refer to the meshes in DIR, a path from VOLUME such as mesh or ../mesh");
  arguments.text("--skeletons", "DIR", link->links.skeletons, "Refer to the skeletons in DIR");
  arguments.text("--segment-properties", "DIR", link->links.segment_properties,
                 "Refer to the segment properties in DIR");
  arguments.repeated("--unlink", "MEMBER", link->removed,
                     "Remove mesh, skeletons or segment_properties; may be given several times");
  arguments.examples({{"sherd link seg", "what the volume refers to"},
                      {"sherd link seg --mesh mesh --segment-properties ../names",
                       "the collections in seg/mesh and names, which must exist"},
                      {"sherd link seg --unlink mesh", "the meshes stay, and the volume no longer refers to them"}});
  return [link](Session& session) { return link->run(session); };
}

}  // namespace sherd::cli
