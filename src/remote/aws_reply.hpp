// Credentials in the replies of AWS's services: JSON of instances, containers and credential_process, XML of STS.
// No text of a reply is in an error, as it may be a secret; only the code of an error of STS is.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

/// `2026-11-28T21:30:00Z`, with or without a fraction and a zone (`+01:00`); UTC if there is no zone. Years after 2200
/// are 2200. nullopt if it is not a time.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_timestamp(std::string_view text);

/// An object with AccessKeyId, SecretAccessKey, SessionToken or Token, and Expiration; `io` if it is not one.
[[nodiscard]] Result<Credentials> credentials_of_json(std::string_view text);
/// The reply to AssumeRole and AssumeRoleWithWebIdentity; `io` if it is not one.
[[nodiscard]] Result<Credentials> credentials_of_sts(std::string_view xml);
/// The code in an error's XML, such as AccessDenied; empty if there is none.
[[nodiscard]] std::string error_code_of_sts(std::string_view xml);

/// `io` if a key id or a token has a character that would not be part of a header's value.
[[nodiscard]] Result<void> check_credentials(const Credentials& credentials);

}  // namespace sherd::remote
