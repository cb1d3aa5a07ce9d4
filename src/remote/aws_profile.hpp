// Credentials of the environment and of a profile.
//
// A profile has, in this order: a role (role_arn) that is assumed with the token in web_identity_token_file, or by the
// credentials of source_profile or credential_source (Environment, Ec2InstanceMetadata, EcsContainer); keys
// (aws_access_key_id, aws_secret_access_key, aws_session_token); a command (credential_process). A profile of IAM
// Identity Center (sso_session, sso_start_url) and a role that needs a code (mfa_serial) are `unsupported`; the error
// says how credential_process replaces them.
#pragma once

#include <optional>
#include <string>

#include "remote/aws_settings.hpp"
#include "remote/aws_sts.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

/// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; nullopt if there is no key id, invalid_argument if
/// there is no secret key.
[[nodiscard]] Result<std::optional<Credentials>> environment_credentials(const Environment& environment);

struct ProfileRequest {
  const AwsSources& sources;
  std::string region;  ///< of STS; may be empty
  const AwsFetch& fetch;
};
/// nullopt if sources.profile does not exist or has no credentials. What it has but does not work is an error.
[[nodiscard]] Result<std::optional<Credentials>> profile_credentials(const ProfileRequest& request);

}  // namespace sherd::remote
