#include "remote/aws_profile.hpp"

#include <set>
#include <utility>

#include "base/try.hpp"
#include "remote/aws_metadata.hpp"
#include "remote/aws_process.hpp"
#include "remote/aws_reply.hpp"

namespace sherd::remote {
namespace {

using MaybeCredentials = Result<std::optional<Credentials>>;

/// Follows a profile to its sources.
class ProfileReader {
 public:
  explicit ProfileReader(const ProfileRequest& request) : request_(request) {}

  MaybeCredentials read(const std::string& profile) {
    return credentials_of(profile).in([&] { return "profile '" + profile + "'"; });
  }

 private:
  [[nodiscard]] std::string setting(const std::string& profile, std::string_view name) const {
    const std::string* const value = request_.sources.config.find(profile, name);
    return value != nullptr ? *value : std::string();
  }

  MaybeCredentials credentials_of(const std::string& profile) {
    if (!setting(profile, "role_arn").empty()) return role_of(profile);
    SHERD_TRY(keys, keys_of(profile));
    if (keys) return keys;
    const std::string command = setting(profile, "credential_process");
    if (!command.empty()) return printed_by(command).in([] { return "credential_process"; });
    if (!setting(profile, "sso_session").empty() || !setting(profile, "sso_start_url").empty()) {
      return unsupported(
          "IAM Identity Center is not supported; set credential_process = aws configure export-credentials "
          "--profile " +
          profile + " in another profile, and use that");
    }
    return std::optional<Credentials>();
  }

  [[nodiscard]] MaybeCredentials keys_of(const std::string& profile) const {
    Credentials keys{.key_id = setting(profile, "aws_access_key_id"),
                     .secret_key = setting(profile, "aws_secret_access_key"),
                     .session_token = setting(profile, "aws_session_token")};
    if (keys.key_id.empty() && keys.secret_key.empty()) return std::optional<Credentials>();
    if (keys.key_id.empty() || keys.secret_key.empty())
      return invalid_argument("it has only one of aws_access_key_id and aws_secret_access_key");
    return std::optional(std::move(keys));
  }

  static MaybeCredentials printed_by(const std::string& command) {
    SHERD_TRY(words, command_words(command));
    SHERD_TRY(output, run_process(words));
    SHERD_TRY(credentials, credentials_of_json(output));
    return std::optional(std::move(credentials));
  }

  MaybeCredentials role_of(const std::string& profile) {
    if (!seen_.insert(profile).second) return invalid_argument("its source_profile leads back to it");
    if (!setting(profile, "mfa_serial").empty()) {
      return unsupported(
          "roles that need a code (mfa_serial) are not supported; AWS's command asks for it: eval \"$(aws configure "
          "export-credentials --format env --profile " +
          profile + ")\"");
    }
    const AwsRole role{.arn = setting(profile, "role_arn"),
                       .session_name = setting(profile, "role_session_name"),
                       .external_id = setting(profile, "external_id"),
                       .duration_seconds = setting(profile, "duration_seconds")};
    SHERD_TRY(endpoint, sts_endpoint(request_.region, request_.sources));
    const std::string token_file = setting(profile, "web_identity_token_file");
    if (!token_file.empty()) {
      SHERD_TRY(credentials, assume_role_with_token(role, expand_home(token_file, request_.sources.environment),
                                                    endpoint, request_.fetch));
      return std::optional(std::move(credentials));
    }
    SHERD_TRY(base, base_of(profile));
    SHERD_TRY(check_credentials(base));
    SHERD_TRY(credentials, assume_role(role, base, endpoint, request_.fetch));
    return std::optional(std::move(credentials));
  }

  /// The credentials that assume the role of a profile.
  Result<Credentials> base_of(const std::string& profile) {
    const std::string source = setting(profile, "source_profile"), place = setting(profile, "credential_source");
    if (source.empty() == place.empty())
      return invalid_argument("a role needs either source_profile or credential_source");
    const std::string name = source.empty() ? "credential_source " + place : "source_profile '" + source + "'";
    SHERD_TRY(base, source.empty() ? credentials_at(place) : source == profile ? keys_of(profile) : read(source));
    if (!base) return invalid_argument("its " + name + " has no credentials");
    return *std::move(base);
  }

  [[nodiscard]] MaybeCredentials credentials_at(const std::string& place) const {
    const Environment& environment = request_.sources.environment;
    if (place == "Environment") return environment_credentials(environment);
    if (place == "EcsContainer") return container_credentials(environment, request_.fetch.metadata);
    if (place == "Ec2InstanceMetadata") {
      SHERD_TRY(credentials, instance_credentials(environment, request_.fetch.metadata));
      return std::optional(std::move(credentials));
    }
    return invalid_argument("credential_source must be Environment, EcsContainer or Ec2InstanceMetadata");
  }

  const ProfileRequest& request_;
  std::set<std::string> seen_;  ///< profiles whose roles are being assumed
};

}  // namespace

MaybeCredentials environment_credentials(const Environment& environment) {
  const auto key_id = environment("AWS_ACCESS_KEY_ID"), secret_key = environment("AWS_SECRET_ACCESS_KEY");
  if (!key_id) return std::optional<Credentials>();
  if (!secret_key) return invalid_argument("AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not");
  return std::optional<Credentials>(
      {.key_id = *key_id, .secret_key = *secret_key, .session_token = environment("AWS_SESSION_TOKEN").value_or("")});
}

MaybeCredentials profile_credentials(const ProfileRequest& request) {
  return ProfileReader(request).read(request.sources.profile);
}

}  // namespace sherd::remote
