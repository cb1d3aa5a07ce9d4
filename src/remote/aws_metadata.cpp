#include "remote/aws_metadata.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/aws_reply.hpp"
#include "remote/aws_settings.hpp"
#include "remote/aws_signature.hpp"
#include "remote/text.hpp"

namespace sherd::remote {
namespace {

constexpr std::uint64_t kContainerTokenBytes = std::uint64_t{64} << 10;
constexpr std::string_view kRolePath = "/latest/meta-data/iam/security-credentials/";
constexpr std::array<std::string_view, 5> kContainerHosts = {"localhost", "[::1]", "169.254.170.2", "169.254.170.23",
                                                             "[fd00:ec2::23]"};

bool is_loopback(std::string_view host) {
  const auto parts = split(host, '.');
  return parts.size() == 4 && parts[0] == "127" && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.size() <= 3 && std::ranges::all_of(part, is_digit);
         });
}

/// A reply with status 200; other replies are `io`.
Result<std::string> document(const HttpRequest& request, const Fetch& fetch, std::string_view what) {
  SHERD_TRY(reply, fetch(request));
  if (reply.status == 200) return std::move(reply.body);
  return io_error(std::string(what) + " answered with status " + std::to_string(reply.status));
}

/// The token that a container's endpoint wants; empty if none is named.
Result<std::string> container_token(const Environment& environment) {
  std::string token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
  if (const auto file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    SHERD_TRY(text, read_small_file(*file, kContainerTokenBytes));
    token = trimmed(text);
  }
  // Unlike a token of S3, this one may have a word before it.
  if (std::ranges::any_of(token, [](char c) { return c < ' ' || c == 0x7f; }))
    return io_error("the container's authorization token contains a character that headers do not allow");
  return token;
}

Result<std::string> instance_endpoint(const Environment& environment) {
  if (const auto url = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT"))
    return normal_endpoint(*url, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
  const bool is_ipv6 = lowered(environment("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE").value_or("")) == "ipv6";
  return std::string(is_ipv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254");
}

}  // namespace

bool is_container_endpoint(std::string_view url) {
  constexpr std::string_view kTls = "https://", kPlain = "http://";
  const std::string scheme = lowered(url.substr(0, std::min(url.find("://"), url.size())));
  if (scheme != "http" && scheme != "https") return false;
  const std::string_view rest = url.substr(scheme == "https" ? kTls.size() : kPlain.size());
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const bool is_plain = std::ranges::all_of(url, [](char c) { return c > ' ' && c < 0x7f; }) &&
                        url.find_first_of("@\\") == std::string_view::npos && !authority.empty();
  if (!is_plain || scheme == "https") return is_plain;
  const std::string host = lowered(without_port(authority));
  return is_loopback(host) || std::ranges::find(kContainerHosts, host) != kContainerHosts.end();
}

Result<std::optional<Credentials>> container_credentials(const Environment& environment, const Fetch& metadata) {
  const auto path = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto full = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!path && !full) return std::optional<Credentials>();
  HttpRequest request;
  if (path) {
    request.url = "http://169.254.170.2" + std::string(path->starts_with('/') ? "" : "/") + *path;
  } else {
    request.url = *full;
  }
  if (!is_container_endpoint(request.url)) {
    return invalid_argument(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI may be an https URL, or an http URL of a loopback address, 169.254.170.2, "
        "169.254.170.23 or [fd00:ec2::23]");
  }
  SHERD_TRY(token, container_token(environment));
  if (!token.empty()) request.headers.push_back({"Authorization", std::move(token)});
  SHERD_TRY(text, document(request, metadata, "the container's endpoint"));
  SHERD_TRY(credentials, credentials_of_json(text));
  return std::optional(std::move(credentials));
}

Result<Credentials> instance_credentials(const Environment& environment, const Fetch& metadata) {
  if (parse_flag(environment("AWS_EC2_METADATA_DISABLED").value_or("")).value_or(false))
    return io_error("AWS_EC2_METADATA_DISABLED is true");
  SHERD_TRY(endpoint, instance_endpoint(environment));
  SHERD_TRY(token, document({.method = "PUT",
                             .url = endpoint + "/latest/api/token",
                             .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}}},
                            metadata, "the token service"));
  // A wrong service may answer with anything.
  SHERD_TRY(check_credentials({.session_token = std::string(trimmed(token))}));
  const Headers headers = {{"X-aws-ec2-metadata-token", std::string(trimmed(token))}};
  SHERD_TRY(roles,
            document({.url = endpoint + std::string(kRolePath), .headers = headers}, metadata, "the list of roles"));
  const std::string_view role = trimmed(split(roles, '\n').front());
  if (role.empty()) return io_error("the instance has no role");
  SHERD_TRY(text, document({.url = endpoint + std::string(kRolePath) + encode_query(role), .headers = headers},
                           metadata, "the role"));
  return credentials_of_json(text);
}

}  // namespace sherd::remote
