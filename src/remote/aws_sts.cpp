#include "remote/aws_sts.hpp"

#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "base/try.hpp"
#include "remote/aws_reply.hpp"
#include "remote/aws_signature.hpp"

namespace sherd::remote {
namespace {

constexpr std::uint64_t kTokenBytes = std::uint64_t{64} << 10;
constexpr long kOk = 200;

using Form = std::vector<std::pair<std::string_view, std::string>>;

std::string session_name(const AwsRole& role, const AwsFetch& fetch) {
  if (!role.session_name.empty()) return role.session_name;
  const auto time = fetch.now().time_since_epoch();
  return "sherd-" + std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

HttpRequest sts_request(std::string_view action, const AwsRole& role, const StsEndpoint& endpoint,
                        const AwsFetch& fetch) {
  HttpRequest request{.method = "POST", .url = endpoint.url + "/"};
  request.headers.push_back({"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"});
  const Form form = {{"Action", std::string(action)},
                     {"Version", "2011-06-15"},
                     {"RoleArn", role.arn},
                     {"RoleSessionName", session_name(role, fetch)},
                     {"ExternalId", role.external_id},
                     {"DurationSeconds", role.duration_seconds}};
  for (const auto& [name, value] : form) {
    if (value.empty()) continue;
    if (!request.body.empty()) request.body += '&';
    request.body.append(name).append("=").append(encode_query(value));
  }
  return request;
}

Result<Credentials> send_to_sts(const HttpRequest& request, const AwsFetch& fetch) {
  SHERD_TRY(reply, fetch.service(request).in([] { return "STS"; }));
  if (reply.status == kOk) return credentials_of_sts(reply.body).in([] { return "STS"; });
  return io_error("STS refused with status " + std::to_string(reply.status) + ' ' + error_code_of_sts(reply.body));
}

}  // namespace

Result<StsEndpoint> sts_endpoint(const std::string& region, const AwsSources& sources) {
  SHERD_TRY(configured, configured_endpoint("sts", sources));
  StsEndpoint endpoint{.url = configured, .region = region.empty() ? "us-east-1" : region};
  if (!endpoint.url.empty()) return endpoint;
  endpoint.url = region.empty() ? "https://sts.amazonaws.com" : "https://sts." + region + ".amazonaws.com";
  if (region.starts_with("cn-")) endpoint.url += ".cn";
  return endpoint;
}

Result<Credentials> assume_role(const AwsRole& role, const Credentials& base, const StsEndpoint& endpoint,
                                const AwsFetch& fetch) {
  HttpRequest request = sts_request("AssumeRole", role, endpoint, fetch);
  SHERD_TRY(hash, sha256_hex(request.body));
  SHERD_TRY(sign(request, base, {.region = endpoint.region, .service = "sts", .time = fetch.now()}, hash));
  return send_to_sts(request, fetch);
}

Result<Credentials> assume_role_with_token(const AwsRole& role, const std::string& token_file,
                                           const StsEndpoint& endpoint, const AwsFetch& fetch) {
  SHERD_TRY(token, read_small_file(token_file, kTokenBytes));
  HttpRequest request = sts_request("AssumeRoleWithWebIdentity", role, endpoint, fetch);
  request.body += "&WebIdentityToken=" + encode_query(trimmed(token));
  return send_to_sts(request, fetch);
}

}  // namespace sherd::remote
