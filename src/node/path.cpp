#include "node/path.hpp"

#include <utility>

namespace sherd {

Result<std::string> normal_path(std::string_view path) {
  std::string normal;
  while (!path.empty()) {
    const std::size_t end = path.find('/');
    const std::string_view segment = path.substr(0, end);
    path = end == path.npos ? std::string_view() : path.substr(end + 1);
    if (segment.empty()) continue;
    if (segment == "." || segment == "..")
      return invalid_argument("a path inside a store cannot contain '.' or '..': '" + std::string(segment) + "'");
    if (!normal.empty()) normal += '/';
    normal += segment;
  }
  return normal;
}

std::string join_path(const std::string& path, std::string_view name) {
  if (path.empty() || name.empty()) return path + std::string(name);
  return path + "/" + std::string(name);
}

std::optional<std::string_view> path_from(std::string_view group, std::string_view path) noexcept {
  if (path.size() <= group.size() || !path.starts_with(group)) return std::nullopt;
  if (group.empty()) return path;
  if (path[group.size()] != '/') return std::nullopt;
  return path.substr(group.size() + 1);
}

NodeLocation at_path(const NodeLocation& location, std::string path) {
  NodeLocation other = location;
  other.path = std::move(path);
  return other;
}

std::vector<std::string> ancestors(const std::string& path) {
  std::vector<std::string> paths;
  if (path.empty()) return paths;
  paths.emplace_back();
  for (std::size_t end = path.find('/'); end != path.npos; end = path.find('/', end + 1))
    paths.push_back(path.substr(0, end));
  return paths;
}

}  // namespace sherd
