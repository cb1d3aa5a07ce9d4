#include "remote/aws_config.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "os/fd.hpp"
#include "store/file_tree.hpp"

namespace sherd::remote {
namespace {

constexpr std::uint64_t kFileBytes = std::uint64_t{4} << 20;
constexpr std::size_t kFileLines = 100000;

/// The name in `profile "a b"` and `profile a`.
std::string_view section_name(std::string_view text) {
  text = trimmed(text);
  const bool is_quoted =
      text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

class AwsFileParser {
 public:
  AwsFileParser(AwsFile kind, AwsConfig& into) : kind_(kind), into_(into) {}

  Result<void> parse(std::string_view text) {
    std::size_t number = 0;
    while (!text.empty()) {
      if (++number > kFileLines) return unsupported("more than " + std::to_string(kFileLines) + " lines");
      const auto end = std::min(text.find('\n'), text.size());
      SHERD_TRY(add(text.substr(0, end)).in([&] { return "line " + std::to_string(number); }));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
  }

 private:
  Result<void> add(std::string_view line) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#' || text.front() == ';') return {};
    const auto indent = static_cast<std::size_t>(text.data() - line.data());
    if (has_name_ && indent > indent_) return continue_setting(text);
    indent_ = indent;
    return text.front() == '[' ? open_section(text) : open_setting(text);
  }

  Result<void> open_section(std::string_view text) {
    has_name_ = false;
    const auto end = text.rfind(']');
    if (end == std::string_view::npos) return corrupt("a section without ']'");
    const std::string_view header = trimmed(text.substr(1, end - 1));
    is_in_section_ = true;
    section_ = section_of(header);
    return {};
  }

  /// nullptr for a section that is ignored.
  AwsSection* section_of(std::string_view header) {
    if (kind_ == AwsFile::credentials || header == "default") return &into_.profiles[std::string(header)];
    const auto space = header.find_first_of(" \t");
    if (space == std::string_view::npos) into_.ignored.emplace(header);
    if (space == std::string_view::npos) return nullptr;
    const std::string_view word = header.substr(0, space);
    const std::string name(section_name(header.substr(space)));
    if (word == "profile") return &into_.profiles[name];
    return word == "services" ? &into_.services[name] : nullptr;
  }

  Result<void> open_setting(std::string_view text) {
    if (!is_in_section_) return corrupt("a setting before the first section");
    const auto mark = text.find_first_of("=:");
    name_ = lowered(trimmed(text.substr(0, mark)));
    if (mark == std::string_view::npos || name_.empty()) return corrupt("neither a section, a setting nor a comment");
    has_name_ = true;
    const std::string_view value = trimmed(text.substr(mark + 1));
    has_value_ = !value.empty();
    if (section_ != nullptr) section_->insert_or_assign(name_, std::string(value));
    return {};
  }

  Result<void> continue_setting(std::string_view text) {
    if (has_value_) {
      if (section_ != nullptr) (*section_)[name_].append("\n").append(text);
      return {};
    }
    const auto mark = text.find('=');
    const std::string nested = lowered(trimmed(text.substr(0, mark)));
    if (mark == std::string_view::npos || nested.empty()) return corrupt("not a nested setting");
    if (section_ != nullptr) section_->insert_or_assign(name_ + '.' + nested, trimmed(text.substr(mark + 1)));
    return {};
  }

  AwsFile kind_;
  AwsConfig& into_;
  AwsSection* section_ = nullptr;
  bool is_in_section_ = false;
  bool has_name_ = false, has_value_ = false;  ///< of the setting that an indented line continues
  std::string name_;
  std::size_t indent_ = 0;
};

Result<std::string> read_open(const os::Fd& file, const std::string& path, std::uint64_t limit) {
  struct stat status{};
  if (os::fstat(file.get(), status) != 0) return system_error("look at", path, errno);
  if (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode)) return io_error("'" + path + "' is not a file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > limit) {
    return unsupported("'" + path + "' has " + std::to_string(size) + " bytes; the limit is " + std::to_string(limit));
  }
  std::string text(size, '\0');
  const ssize_t count = os::pread_all(file.get(), std::as_writable_bytes(std::span(text)), 0);
  if (count < 0) return system_error("read", path, errno);
  text.resize(static_cast<std::size_t>(count));
  return text;
}

/// A pipe is not waited for.
os::Fd open_to_read(const std::string& path) {
  return os::Fd(os::openat(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

Result<void> add_file(AwsConfig& config, AwsFile kind, const Environment& environment) {
  const bool is_config = kind == AwsFile::config;
  const auto named = environment(is_config ? "AWS_CONFIG_FILE" : "AWS_SHARED_CREDENTIALS_FILE");
  const std::string path = expand_home(named.value_or(is_config ? "~/.aws/config" : "~/.aws/credentials"), environment);
  const os::Fd file = open_to_read(path);
  if (!file) {
    // In a container HOME is often that of another user.
    const bool is_absent = errno == ENOENT || errno == ENOTDIR || (errno == EACCES && !named);
    if (is_absent) return {};
    return system_error("open", path, errno);
  }
  SHERD_TRY(text, read_open(file, path, kFileBytes));
  return parse_aws_file(text, kind, config).in([&] { return path; });
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

std::string aws_variables() {
  std::string all;
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each)
    for (const std::string_view name : {"AWS_", "HOME=", "PATH="})
      if (std::string_view(*each).starts_with(name)) all.append(*each).append("\n");
  return all;
}

std::string expand_home(std::string path, const Environment& environment) {
  if (!path.starts_with("~/")) return path;
  const auto home = environment("HOME");
  return home ? *home + path.substr(1) : path;
}

const AwsSection* AwsConfig::profile(std::string_view name) const {
  const auto found = profiles.find(name);
  return found == profiles.end() ? nullptr : &found->second;
}

std::string AwsConfig::missing(const std::string& name) const {
  return "profile '" + name + "', which is not in the AWS configuration files" +
         (ignored.contains(name) ? "; the config file has [" + name + "], but there it must be [profile " + name + "]"
                                 : "");
}

const std::string* AwsConfig::find(std::string_view name, std::string_view setting) const {
  const AwsSection* const section = profile(name);
  if (section == nullptr) return nullptr;
  const auto found = section->find(setting);
  return found == section->end() || found->second.empty() ? nullptr : &found->second;
}

Result<void> parse_aws_file(std::string_view text, AwsFile kind, AwsConfig& into) {
  return AwsFileParser(kind, into).parse(text);
}

Result<std::string> read_small_file(const std::string& path, std::uint64_t limit) {
  const os::Fd file = open_to_read(path);
  if (!file) return system_error("open", path, errno);
  return read_open(file, path, limit);
}

Result<AwsConfig> read_aws_config(const Environment& environment) {
  AwsConfig config;
  SHERD_TRY(add_file(config, AwsFile::config, environment));
  SHERD_TRY(add_file(config, AwsFile::credentials, environment));
  return config;
}

std::string profile_in_use(std::string_view option, const Environment& environment) {
  if (!option.empty()) return std::string(option);
  for (const char* const name : {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"}) {
    if (auto profile = environment(name)) return *std::move(profile);
  }
  return "default";
}

}  // namespace sherd::remote
