// The credentials of S3, found as AWS's SDKs find them.
//
// In this order: options key, secret and token; the callback; the environment (AWS_ACCESS_KEY_ID); web identity
// (AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN); the profile (aws_profile.hpp); the container's and the instance's
// endpoints (aws_metadata.hpp). With option `profile`, it is the profile alone. The first one that is configured is
// used: if it does not work, that is the error, because another identity may have other rights.
// Requests are anonymous only if that was asked for: by option `anonymous` or AWS_NO_SIGN_REQUEST. Without credentials
// there is an error that lists what was tried. No error contains a secret.
#pragma once

#include <string>

#include "remote/aws_settings.hpp"
#include "remote/aws_sts.hpp"
#include "remote/credential_cache.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

struct AwsAccess {
  AwsOptions options = {};
  std::string region = {};                ///< of STS; empty: its global endpoint
  CredentialCache::Source callback = {};  ///< Config::credentials; may be empty
  AwsFetch fetch = {};
  Environment environment = process_environment();
};
/// Whether requests are not signed: option `anonymous`, or AWS_NO_SIGN_REQUEST if no option and no callback says whose
/// credentials to use.
[[nodiscard]] bool is_anonymous_access(const AwsAccess& access);
/// Goes through the chain and reads files each time: it is the source of a CredentialCache. invalid_argument if there
/// are no credentials.
[[nodiscard]] Result<Credentials> find_aws_credentials(const AwsAccess& access);

/// Whose credentials these are: a key for shared_credentials(), which contains secrets. Empty if they are options, or a
/// function's that has no key.
[[nodiscard]] std::string key_of(const AwsAccess& access, const AwsSources& sources);

}  // namespace sherd::remote
