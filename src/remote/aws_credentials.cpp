#include "remote/aws_credentials.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "remote/aws_metadata.hpp"
#include "remote/aws_profile.hpp"
#include "remote/aws_reply.hpp"

namespace sherd::remote {
namespace {

using FoundCredentials = Result<std::optional<Credentials>>;

class AwsChain {
 public:
  AwsChain(const AwsAccess& access, const AwsSources& sources) : access_(access), sources_(sources) {}

  Result<Credentials> find() {
    using Step = FoundCredentials (AwsChain::*)();
    const bool has_profile = !access_.options.profile.empty();
    const std::vector<Step> steps =
        has_profile ? std::vector<Step>{&AwsChain::profile}
                    : std::vector<Step>{&AwsChain::environment, &AwsChain::web_identity, &AwsChain::profile,
                                        &AwsChain::container, &AwsChain::instance};
    for (const Step step : steps) {
      SHERD_TRY(found, (this->*step)());
      if (found) return *std::move(found);
    }
    std::string message = "no credentials for S3; set option anonymous=true if the data is public. These were tried:";
    for (const std::string& line : tried_) message.append("\n  ").append(line);
    return invalid_argument(std::move(message));
  }

 private:
  std::optional<Credentials> tried(std::string line) {
    tried_.push_back(std::move(line));
    return std::nullopt;
  }

  FoundCredentials environment() {
    tried_.emplace_back("options: no key and secret");
    SHERD_TRY(found, environment_credentials(access_.environment));
    return found ? std::move(found) : tried("environment: AWS_ACCESS_KEY_ID is not set");
  }

  FoundCredentials web_identity() {
    const auto token_file = access_.environment("AWS_WEB_IDENTITY_TOKEN_FILE");
    const auto arn = access_.environment("AWS_ROLE_ARN");
    if (!token_file) return tried("web identity: AWS_WEB_IDENTITY_TOKEN_FILE is not set");
    if (!arn) return invalid_argument("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
    const AwsRole role{.arn = *arn, .session_name = access_.environment("AWS_ROLE_SESSION_NAME").value_or("")};
    SHERD_TRY(endpoint, sts_endpoint(access_.region, sources_));
    SHERD_TRY(credentials,
              assume_role_with_token(role, *token_file, endpoint, access_.fetch).in([] { return "web identity"; }));
    return std::optional(std::move(credentials));
  }

  FoundCredentials profile() {
    const std::string name = "profile '" + sources_.profile + "'";
    const bool exists = sources_.config.profile(sources_.profile) != nullptr;
    if (!exists && sources_.profile != "default")
      return invalid_argument("AWS_PROFILE names " + sources_.config.missing(sources_.profile));
    SHERD_TRY(found, profile_credentials({.sources = sources_, .region = access_.region, .fetch = access_.fetch}));
    if (found) return found;
    return tried(name + (exists ? ": has no credentials" : ": is not in the AWS configuration files"));
  }

  FoundCredentials container() {
    SHERD_TRY(found, container_credentials(access_.environment, access_.fetch.metadata).in([] { return "container"; }));
    if (found) return found;
    return tried("container: neither AWS_CONTAINER_CREDENTIALS_RELATIVE_URI nor ..._FULL_URI is set");
  }

  FoundCredentials instance() {
    auto found = instance_credentials(access_.environment, access_.fetch.metadata);
    if (found) return std::optional(*std::move(found));
    if (found.error().code() != ErrorCode::io) return std::move(found).in([] { return "instance"; }).error();
    return tried("instance: " + found.error().text());
  }

  const AwsAccess& access_;
  const AwsSources& sources_;
  std::vector<std::string> tried_;
};

/// A server that does not know something must not look like an object that does not exist.
Error never_absent(Error error) { return error.code() == ErrorCode::not_found ? io_error(error.text()) : error; }

Result<Credentials> found_credentials(const AwsAccess& access) {
  if (!access.options.credentials.key_id.empty()) return access.options.credentials;
  if (access.callback) {
    auto credentials = access.callback();
    if (credentials && (credentials->key_id.empty() || credentials->secret_key.empty()))
      return invalid_argument("the credentials callback returned no key id and secret key");
    return credentials;
  }
  SHERD_TRY(sources, aws_sources(access.options, access.environment));
  return AwsChain(access, sources).find();
}

}  // namespace

std::string key_of(const AwsAccess& access, const AwsSources& sources) {
  if (!access.options.credentials.key_id.empty()) return {};
  if (access.callback) {
    const std::string key = key_of(access.callback);
    return key.empty() ? key : "s3 function " + key;
  }
  std::string key = "s3 profile " + access.options.profile + "\n" + sources.profile + "\n" + access.region + "\n";
  for (const auto* const sections : {&sources.config.profiles, &sources.config.services})
    for (const auto& [name, section] : *sections) {
      key.append("[").append(name).append("]\n");
      for (const auto& [setting, value] : section) key.append(setting).append("=").append(value).append("\n");
    }
  return key + aws_variables();
}

bool is_anonymous_access(const AwsAccess& access) {
  const AwsOptions& options = access.options;
  if (options.anonymous) return *options.anonymous;
  if (!options.credentials.key_id.empty() || !options.profile.empty() || access.callback) return false;
  return parse_flag(access.environment("AWS_NO_SIGN_REQUEST").value_or("")).value_or(false);
}

Result<Credentials> find_aws_credentials(const AwsAccess& access) {
  auto credentials = found_credentials(access);
  if (!credentials) return never_absent(std::move(credentials).error());
  SHERD_TRY(check_credentials(*credentials));
  return credentials;
}

}  // namespace sherd::remote
