// sherd tree: prints a hierarchy with the shape and type of each array, and the collections of volumes. Nodes that
// cannot be opened are shown with their error, and the first such error becomes the command's error.
#include <unistd.h>

#include "base/try.hpp"
#include "cli/collection.hpp"
#include "cli/command.hpp"
#include "cli/describe.hpp"
#include "cli/hierarchy.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

struct Branch {
  std::string name;
  NodeType type = NodeType::group;
  std::string about;  ///< of an array: shape and type; of a collection: its kind
  std::vector<Branch> children = {};
  std::optional<Error> error = {};
  bool is_collection = false;
};

class Grower {
 public:
  Branch grow(std::string name, NodeType type, Result<Node> node) {
    Branch branch{std::move(name), type, ""};
    if (node && std::holds_alternative<Array>(*node)) {
      branch.about = summary(std::get<Array>(*node));
      return branch;
    }
    auto grown = !node ? Result<void>(std::move(node).error())
                       : for_each_member(
                             std::get<Group>(*node),
                             [&](const std::string& child, NodeType child_type, Result<Node> opened) -> Result<void> {
                               branch.children.push_back(grow(child, child_type, std::move(opened)));
                               return {};
                             });
    if (node)
      for (neuroglancer::VolumeCollection& each : neuroglancer::collections_in(std::get<Group>(*node)))
        branch.children.push_back({.name = std::move(each.name), .about = std::move(each.kind), .is_collection = true});
    if (!grown) {
      branch.error = std::move(grown).error();
      if (!failure_) failure_ = branch.error;
    }
    return branch;
  }
  [[nodiscard]] const std::optional<Error>& failure() const noexcept { return failure_; }

 private:
  std::optional<Error> failure_;
};

Json tree_json(const Branch& branch) {
  if (branch.is_collection)
    return Json(Json::Object{
        {"name", branch.name}, {"node_type", "collection"}, {"kind", branch.about}, {"children", Json::Array{}}});
  Json::Array children;
  for (const Branch& child : branch.children) children.push_back(tree_json(child));
  Json json(Json::Object{
      {"name", branch.name}, {"node_type", type_name(branch.type)}, {"children", Json(std::move(children))}});
  if (branch.error) json.set("error", as_json(*branch.error));
  return json;
}

void draw(const Branch& branch, const std::string& indent, bool colour, std::string& to) {
  const bool bold = colour && branch.type == NodeType::group && !branch.is_collection;
  to += (bold ? "\x1b[1;34m" : "") + printable(branch.name) + (bold ? "\x1b[0m" : "");
  if (!branch.about.empty()) to += "  " + printable(branch.about);
  if (branch.error) to += "  ! " + printable(branch.error->text());
  to += '\n';
  for (const Branch& child : branch.children) {
    const bool last = &child == &branch.children.back();
    to += indent + (last ? "└── " : "├── ");
    draw(child, indent + (last ? "    " : "│   "), colour, to);
  }
}

struct Tree {
  std::string url;

  Result<int> run(Session& session) const {
    SHERD_TRY(root, at(url, open(url, session.opening(session.config()))));
    SHERD_TRY(at(url, note_hidden_group(session, root)));
    const NodeType type = std::holds_alternative<Array>(root) ? NodeType::array : NodeType::group;
    Grower grower;
    const Branch tree = grower.grow(last_component(shown(url)), type, std::move(root));
    if (session.json()) {
      SHERD_TRY(session.out().print(tree_json(tree)));
    } else {
      std::string text;
      draw(tree, "", wants_colour(STDOUT_FILENO), text);
      SHERD_TRY(session.out().write(text));
    }
    if (grower.failure()) return at(url, Result<int>(*grower.failure()));
    return 0;
  }
};

}  // namespace

Run add_tree(Arguments& arguments) {
  auto tree = std::make_shared<Tree>();
  arguments.argument("URL", tree->url, "A group or an array");
  arguments.examples({{"sherd tree study.zarr", "every group and array below study.zarr"}});
  return [tree](Session& session) { return tree->run(session); };
}

}  // namespace sherd::cli
