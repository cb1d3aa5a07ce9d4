#include "remote/http_service.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "remote/address.hpp"
#include "remote/aws_reply.hpp"
#include "remote/aws_signature.hpp"
#include "remote/credential_cache.hpp"
#include "remote/remote_store.hpp"

namespace sherd::remote {
namespace {

/// A token of RFC 9110.
bool is_header_name(std::string_view name) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != kOthers.npos;
  });
}

/// Lines such as `X-Api-Key: 123`.
Result<Headers> parse_headers(const std::string& text) {
  Headers headers;
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::size_t colon = line.find(':');
    if (colon == line.npos || !is_header_name(line.substr(0, colon)) || !is_header_text(line))
      return wrong_option("headers", "must be lines such as 'X-Name: value'");
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  }
  return headers;
}

Result<Headers> user_headers(const StoreUrl& url, const Config& config) {
  SHERD_TRY(headers, parse_headers(option(config, "headers")));
  SHERD_TRY(token, header_option(config, "bearer_token"));
  std::string user = option(config, "username"), password = option(config, "password");
  if (!url.userinfo.empty() && user.empty()) {
    SHERD_TRY(decoded, percent_decode(url.userinfo));
    const std::size_t colon = decoded.find(':');
    user = decoded.substr(0, colon);
    if (colon != decoded.npos) password = decoded.substr(colon + 1);
  }
  if (!token.empty() && !user.empty()) return wrong_option("bearer_token", "cannot be used together with a user name");
  if (!token.empty()) headers.push_back({"Authorization", "Bearer " + token});
  if (!user.empty()) headers.push_back({"Authorization", "Basic " + encode_base64(user + ":" + password)});
  return headers;
}

/// The query of all requests, with its `?`, or empty.
Result<std::string> user_query(const StoreUrl& url, const Config& config) {
  const bool is_hidden = url.query == kHiddenQuery;
  std::string_view query = url.query;
  const std::string given = option(config, "query");
  if (query.empty() || is_hidden) query = given;
  if (query.starts_with('?')) query.remove_prefix(1);
  if (query.empty() && is_hidden)
    return std::move(invalid_argument("the query of '" + url.shown +
                                      "' is missing: URLs that are shown or pickled do not have it, as it may be a "
                                      "signature; set the storage option query in sherd.config.storage_options, or "
                                      "SHERD_STORE_QUERY"))
        .in_member("storage_options.query");
  return query.empty() ? std::string() : "?" + escape_invalid(query);
}

class HttpService final : public Service {
 public:
  HttpService(std::string url, std::string base, std::string query, Headers headers, std::string netrc,
              const Config& config)
      : url_(std::move(url)),
        base_(std::move(base)),
        origin_(origin_of(base_)),
        query_(std::move(query)),
        headers_(std::move(headers)),
        netrc_(std::move(netrc)),
        credentials_(config.credentials ? std::make_shared<CredentialCache>(config.credentials) : nullptr) {}

  [[nodiscard]] const std::string& url() const noexcept override { return url_; }
  [[nodiscard]] bool has_query() const noexcept override { return !query_.empty(); }

  Result<Addressed> request(const std::string& key, Headers headers, const std::string& location) override {
    Addressed addressed{.request = {.headers = std::move(headers)}};
    HttpRequest& request = addressed.request;
    request.url = location.empty() ? base_ + "/" + encode_key(key) + query_ : location;
    const Origin origin = origin_of(request.url);
    addressed.is_trusted = origin.host == origin_.host;
    if (origin != origin_) return addressed;
    request.netrc = netrc_;
    request.headers.insert(request.headers.end(), headers_.begin(), headers_.end());
    if (credentials_) {
      SHERD_TRY(given, credentials_->get());
      SHERD_TRY(check_credentials(given));
      if (!given.bearer_token.empty()) request.headers.push_back({"Authorization", "Bearer " + given.bearer_token});
    }
    return addressed;
  }

  Verdict judge(const HttpReply& reply, Access /*access*/) override {
    const std::string* const location = find_header(reply.headers, "Location");
    const bool redirects =
        reply.status == 301 || reply.status == 302 || reply.status == 303 || reply.status == 307 || reply.status == 308;
    if (redirects && location != nullptr) return {.next = Verdict::Next::elsewhere, .location = *location};
    Verdict verdict = judge_status(reply, {});
    if (verdict.error && verdict.error->is_denied() && !is_authorized())
      verdict.error = io_error(verdict.error->message() +
                               "; the storage options bearer_token, username and password, headers, and query "
                               "authorize requests" +
                               (query_.empty() ? "" : "; a signature in the query of the URL may have expired"))
                          .denied();
    return verdict;
  }

  [[nodiscard]] std::optional<Parent> parent() const override {
    const std::size_t host = base_.find("://") + 3, slash = base_.rfind('/');
    auto name =
        slash > host ? percent_decode(std::string_view(base_).substr(slash + 1)) : Result<std::string>(std::string());
    if (!name || name->empty() || !query_.empty()) return std::nullopt;
    auto above = std::make_shared<HttpService>(*this);
    above->base_.resize(slash);
    above->url_.resize(above->url_.rfind('/'));
    return Parent{std::move(above), *std::move(name)};
  }

 private:
  [[nodiscard]] bool is_authorized() const {
    return credentials_ != nullptr || find_header(headers_, "Authorization") != nullptr;
  }

  std::string url_, base_;
  Origin origin_;
  std::string query_;
  Headers headers_;
  std::string netrc_;
  std::shared_ptr<CredentialCache> credentials_;  ///< nullptr: none
};

}  // namespace

Result<std::shared_ptr<Store>> http_store(const StoreUrl& url, const Config& config) {
  if (url.host.empty()) return invalid_argument("the URL has no host; write it as " + url.scheme + "://HOST/PATH");
  SHERD_TRY(connection, connection_of(config));
  SHERD_TRY(headers, user_headers(url, config));
  const bool is_authorized = find_header(headers, "Authorization") != nullptr || config.credentials;
  SHERD_TRY(uses_netrc, switch_option(config, "netrc", !is_authorized));
  const char* const home = std::getenv("HOME");
  std::string netrc = uses_netrc && home != nullptr ? std::string(home) + "/.netrc" : std::string();
  std::string path = url.path;
  while (path.ends_with('/')) path.pop_back();
  std::string base = url.scheme + "://" + url.host + (url.port.empty() ? "" : ":" + url.port) + escape_invalid(path);
  SHERD_TRY(query, user_query(url, config));
  return remote_store(std::make_shared<HttpService>(base, base, query, std::move(headers), std::move(netrc), config),
                      connection);
}

}  // namespace sherd::remote
