// OME-NGFF's metadata name most nodes of a hierarchy: an image names its resolutions, a plate its wells, a well its
// images. The rest follows from the layout: rows of a plate are part of the names of its wells, the group of an image's
// labels has a fixed name, and the images of a series are listed in its group `OME`, or numbered.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/call.hpp"
#include "base/try.hpp"
#include "node/path.hpp"
#include "ome/ome.hpp"
#include "store/listing.hpp"
#include "store/prefetched.hpp"

namespace sherd {
namespace {

/// The number of members whose documents are read together.
constexpr std::size_t kReadTogether = 128;

Result<std::optional<NodeDocument>> open_node(const NodeLocation& node) {
  return node.format->open(*node.store, node.path, node.config.limits);
}

NodeLocation member_of(const NodeLocation& group, std::string_view name) {
  return at_path(group, join_path(group.path, name));
}

/// The images of a series, and its group `OME`.
Result<void> name_series(const NodeLocation& group, std::vector<std::string>& paths) {
  constexpr std::string_view name = "OME";
  SHERD_TRY(about, open_node(member_of(group, name)));
  if (about) paths.emplace_back(name);
  if (const Json* const listed = about ? ome_member(about->attributes, "series") : nullptr) {
    for (const Json& each : listed->elements())
      if (each.is_string()) paths.push_back(each.text());
    return {};
  }
  for (std::size_t i = 0;; ++i) {
    SHERD_TRY(check_interrupted());
    const auto image = open_node(member_of(group, std::to_string(i)));
    if (!image && (i == 0 || !image.error().is_denied())) return image.error();
    if (!image || !*image) return {};  // a server may deny what does not exist
    paths.push_back(std::to_string(i));
  }
}

/// The paths below a group that its attributes name, or that follow from them.
Result<std::vector<std::string>> named_below(const NodeLocation& group, const Json& attributes) {
  std::vector<std::string> paths;
  const auto ome = ome_group(attributes, group.path);
  if (!ome) return paths;
  for (const OmeDataset& dataset : ome->datasets) paths.push_back(dataset.path);
  if (!ome->datasets.empty()) paths.emplace_back("labels");
  for (const auto* const names : {&ome->labels, &ome->wells, &ome->images})
    paths.insert(paths.end(), names->begin(), names->end());
  if (ome->is_series) SHERD_TRY(name_series(group, paths));
  return paths;
}

/// The first segments of those of the paths that are below `prefix`.
std::vector<std::string> children_among(const std::vector<std::string>& paths, const std::string& prefix) {
  std::set<std::string> names;
  for (const std::string& path : paths) {
    const auto normal = normal_path(path);
    const auto below = normal ? path_from(prefix, *normal) : std::nullopt;
    if (below && !below->empty()) names.emplace(below->substr(0, below->find('/')));
  }
  return {names.begin(), names.end()};
}

/// Those of the names at which there are nodes.
Result<Members> existing(const NodeLocation& group, const std::vector<std::string>& names) {
  Members members;
  const Format* const format = group.format.get();
  for (std::size_t first = 0; first < names.size(); first += kReadTogether) {
    SHERD_TRY(check_interrupted());
    const auto some = std::span(names).subspan(first, std::min(kReadTogether, names.size() - first));
    std::vector<std::string> keys;
    for (const std::string& name : some)
      for (std::string& key : document_keys({&format, 1}, join_path(group.path, name))) keys.push_back(std::move(key));
    SHERD_TRY(documents, prefetched_store(*group.store, keys));
    for (const std::string& name : some) {
      const auto node = format->open(*documents, join_path(group.path, name), group.config.limits);
      if (!node && node.error().code() == ErrorCode::unavailable) return node.error();
      if (!node && node.error().is_denied()) continue;  // as a server may answer for what does not exist
      if (!node || *node) members.emplace_back(name, node ? (*node)->type : NodeType::unknown);
    }
  }
  return members;
}

}  // namespace

Result<Members> listed_or_named(Result<Members> listed, const NodeLocation& group) {
  if (listed || !is_unlisted(listed.error())) return listed;
  std::string path;  // from the group whose metadata are read
  for (std::optional<NodeLocation> at = group; at;) {
    const auto node = open_node(*at);
    if (!node && node.error().code() == ErrorCode::unavailable) return node.error();
    if (node && *node && (*node)->type == NodeType::group) {
      SHERD_TRY(paths, named_below(*at, (*node)->attributes));
      if (const auto names = children_among(paths, path); !names.empty()) return existing(group, names);
    }
    SHERD_TRY(around, enclosing_group(*at));
    if (around) path = join_path(around->name, path);
    at = around ? std::optional(std::move(around->group)) : std::nullopt;
  }
  return listed;
}

}  // namespace sherd
