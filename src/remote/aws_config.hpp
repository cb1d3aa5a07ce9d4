// The environment and the two files in which people already have their settings for AWS: ~/.aws/config and
// ~/.aws/credentials.
//
// Files: AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name other ones; a leading `~/` is HOME. They come from the
// environment and from HOME alone, never from the current directory, a URL or a dataset. A file that does not exist has
// no settings, nor has a default one that may not be read.
// Sections: [default] and [profile NAME] (config) or [NAME] (credentials), whose settings win; [services NAME]. Others,
// such as [sso-session NAME], are ignored. Sections of the same name are joined, and the later setting wins.
// Lines, as the AWS command reads them: `name = value` or `name: value`; names in any case; indented lines below a name
// without a value are nested settings (`s3 =`), below others they continue the value; a comment is a line that begins
// with `#` or `;`. A line that is nothing of this is `corrupt`. No text of a file is in an error, as it may be a
// secret. Limits: 4 MiB and 100,000 lines per file; beyond them it is `unsupported`.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sherd/result.hpp"

namespace sherd::remote {

/// The value of an environment variable; nullopt if it is not set or is empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;
/// That of the process.
[[nodiscard]] Environment process_environment();
/// All variables of the process on which settings and credentials may depend, with their values.
[[nodiscard]] std::string aws_variables();
/// Replaces a leading `~/` by HOME.
[[nodiscard]] std::string expand_home(std::string path, const Environment& environment);

/// Settings by their names in lower case; nested ones are `s3.addressing_style`.
using AwsSection = std::map<std::string, std::string, std::less<>>;

struct AwsConfig {
  std::map<std::string, AwsSection, std::less<>> profiles = {}, services = {};
  std::set<std::string, std::less<>> ignored = {};  ///< sections of ~/.aws/config of one word

  /// nullptr if the profile does not exist.
  [[nodiscard]] const AwsSection* profile(std::string_view name) const;
  /// Of a profile that does not exist: "profile 'NAME', which is not in the AWS configuration files", and why.
  [[nodiscard]] std::string missing(const std::string& name) const;
  /// nullptr if the profile does not exist or does not have the setting, or if it is empty.
  [[nodiscard]] const std::string* find(std::string_view profile, std::string_view setting) const;
};

enum class AwsFile : std::uint8_t { config, credentials };

/// Adds the settings of a file's text; they win over those that are there.
[[nodiscard]] Result<void> parse_aws_file(std::string_view text, AwsFile kind, AwsConfig& into);
/// Reads a file that a setting of AWS names, such as a token. `unsupported` if it has more than `limit` bytes.
[[nodiscard]] Result<std::string> read_small_file(const std::string& path, std::uint64_t limit);
/// Reads both files.
[[nodiscard]] Result<AwsConfig> read_aws_config(const Environment& environment);

/// The profile in use: `option`, or AWS_PROFILE, AWS_DEFAULT_PROFILE, `default`.
[[nodiscard]] std::string profile_in_use(std::string_view option, const Environment& environment);

}  // namespace sherd::remote
