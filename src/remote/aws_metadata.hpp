// Credentials from the endpoints of containers (ECS, EKS) and of instances (EC2).
//
// Containers: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, a path at 169.254.170.2, or AWS_CONTAINER_CREDENTIALS_FULL_URI.
// An `http:` URL may name a loopback address, 169.254.170.2, 169.254.170.23 or [fd00:ec2::23]; any other is refused.
// The request has the token of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, which is read each time, or
// AWS_CONTAINER_AUTHORIZATION_TOKEN. Instances: version 2 of the metadata service only, so a token comes first.
// AWS_EC2_METADATA_DISABLED turns it off; AWS_EC2_METADATA_SERVICE_ENDPOINT and AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE
// (IPv4, IPv6) name another address.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "remote/aws_config.hpp"
#include "remote/http.hpp"
#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

/// Those of the container; nullopt if the environment names no endpoint.
[[nodiscard]] Result<std::optional<Credentials>> container_credentials(const Environment& environment,
                                                                       const Fetch& metadata);
/// Whether a URL may be asked for credentials.
[[nodiscard]] bool is_container_endpoint(std::string_view url);

/// Those of the instance's role. An error if the service is turned off, does not answer, or has no role.
[[nodiscard]] Result<Credentials> instance_credentials(const Environment& environment, const Fetch& metadata);

}  // namespace sherd::remote
