// Stores know themselves by absolute paths and URLs. A user who typed `em` looks for `em` in the message, and should
// not have to read the full path of the working directory.
#include "cli/typed_paths.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/url.hpp"

namespace sherd::cli {
namespace {

// Whether a path may continue with this character: /ab does not begin with the path /a.
bool continues(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("._-%").find(c) != std::string_view::npos;
}

void replace_all(std::string& text, const std::string& path, const std::string& typed) {
  for (std::size_t at = text.find(path); at != text.npos; at = text.find(path, at)) {
    const std::size_t end = at + path.size();
    if (end < text.size() && continues(text[end])) {
      at = end;
      continue;
    }
    text.replace(at, path.size(), typed);
    at += typed.size();
  }
}

}  // namespace

TypedPaths::TypedPaths(const std::vector<std::string>& arguments) {
  for (std::string typed : arguments) {
    while (typed.size() > 1 && typed.ends_with('/')) typed.pop_back();
    if (typed.empty() || typed == "-" || typed.starts_with('/') || is_url(typed)) continue;
    // The argument a/b may be in the store a.
    for (std::filesystem::path part = typed; !part.empty(); part = part.parent_path()) {
      std::error_code failed;
      const std::string path = std::filesystem::absolute(part, failed).string();
      if (failed) break;
      paths_.emplace_back(file_url(path), part.string());
      paths_.emplace_back(path, part.string());
    }
  }
  std::ranges::stable_sort(paths_, std::ranges::greater(), [](const auto& each) { return each.first.size(); });
}

std::string TypedPaths::in(std::string text) const {
  for (const auto& [path, typed] : paths_) replace_all(text, path, typed);
  return text;
}

}  // namespace sherd::cli
