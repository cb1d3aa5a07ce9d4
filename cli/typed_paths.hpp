// Errors and notes for people name files and stores as the user typed them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sherd::cli {

class TypedPaths {
 public:
  TypedPaths() = default;
  /// Of the arguments, those that are relative paths.
  explicit TypedPaths(const std::vector<std::string>& arguments);
  /// The text with each absolute path or URL that begins with one of them beginning as it was typed.
  [[nodiscard]] std::string in(std::string text) const;

 private:
  std::vector<std::pair<std::string, std::string>> paths_;  ///< absolute path or URL, and as typed
};

}  // namespace sherd::cli
