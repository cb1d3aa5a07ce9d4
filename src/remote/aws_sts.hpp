// Roles by AWS's Security Token Service (STS), API version 2011-06-15.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "remote/aws_settings.hpp"
#include "remote/http.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

/// How requests for credentials are sent.
struct AwsFetch {
  Fetch service;  ///< to STS
  /// To the endpoints of instances and containers, which have link-local addresses: without proxy, redirect and
  /// retries, and giving up after a second, which is `io`.
  Fetch metadata;
  std::function<std::chrono::system_clock::time_point()> now = std::chrono::system_clock::now;
};

/// The role to assume.
struct AwsRole {
  std::string arn;
  std::string session_name = {};  ///< empty: one that names Sherd and the time
  std::string external_id = {}, duration_seconds = {};
};

/// The service in a region: the configured endpoint, that of the region, or the global one if there is no region.
struct StsEndpoint {
  std::string url;
  std::string region;
};
[[nodiscard]] Result<StsEndpoint> sts_endpoint(const std::string& region, const AwsSources& sources);

/// AssumeRole, signed by `base`. `io` if the service refuses; the error has its code.
[[nodiscard]] Result<Credentials> assume_role(const AwsRole& role, const Credentials& base, const StsEndpoint& endpoint,
                                              const AwsFetch& fetch);
/// AssumeRoleWithWebIdentity with the token in a file, which is read each time.
[[nodiscard]] Result<Credentials> assume_role_with_token(const AwsRole& role, const std::string& token_file,
                                                         const StsEndpoint& endpoint, const AwsFetch& fetch);

}  // namespace sherd::remote
