// A directory that a test has for itself.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

class TempDir {
 public:
  /// Temporary files may be in memory; the working directory is not.
  enum class Where : std::uint8_t { temporary, disk };
  explicit TempDir(Where where = Where::temporary) {
    const auto in = where == Where::disk ? std::filesystem::current_path() : std::filesystem::temp_directory_path();
    std::string name = (in / "sherd-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  /// Everything below, hidden files and directories too.
  [[nodiscard]] std::set<std::string> contents() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      names.insert(entry.path().lexically_relative(path_).string());
    }
    return names;
  }

 private:
  std::string path_;
};
