// Errors and notes for users name files and stores as the user typed them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sherd::cli {

class TypedPaths {
 public:
  TypedPaths() = default;
  /// Keeps those of the arguments that are relative paths.
  explicit TypedPaths(const std::vector<std::string>& arguments);
  /// The text with each absolute path or URL of an argument replaced by what the user typed.
  [[nodiscard]] std::string in(std::string text) const;

 private:
  std::vector<std::pair<std::string, std::string>> paths_;  ///< absolute path or URL, and as typed
};

}  // namespace sherd::cli
