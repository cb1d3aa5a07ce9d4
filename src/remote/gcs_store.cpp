#include "remote/gcs_store.hpp"

#include <cstdlib>
#include <utility>

#include "base/try.hpp"
#include "remote/aws_reply.hpp"
#include "remote/aws_settings.hpp"
#include "remote/bucket_service.hpp"
#include "remote/bucket_url.hpp"
#include "remote/credential_cache.hpp"
#include "remote/remote_store.hpp"

namespace sherd::remote {
namespace {

class GcsBucket final : public Bucket {
 public:
  GcsBucket(std::string url, std::string name, std::string token, const CredentialCache::Source& credentials)
      : url_(std::move(url)),
        name_(std::move(name)),
        token_(std::move(token)),
        credentials_(credentials ? shared_credentials(key_of(credentials), credentials, true) : nullptr) {}

  [[nodiscard]] std::string url() const override { return url_; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] std::string endpoint() const override { return url_.substr(0, url_.size() - name_.size()); }
  Result<void> authorize(HttpRequest& request) override {
    std::string token = token_;
    if (credentials_) {
      SHERD_TRY(given, credentials_->get());
      SHERD_TRY(check_credentials(given));
      token = given.bearer_token;
    }
    if (!token.empty()) request.headers.push_back({"Authorization", "Bearer " + token});
    return {};
  }
  bool learn(const HttpReply&, const std::string&, const std::string&) override { return false; }
  [[nodiscard]] std::string hint(Access /*access*/) const override {
    if (!token_.empty() || credentials_) return "the request had a bearer token";
    return "the request was anonymous; the storage option bearer_token is for private buckets";
  }

 private:
  const std::string url_, name_, token_;
  const std::shared_ptr<CredentialCache> credentials_;  ///< nullptr: none
};

/// Of two names of an option, the one that the user has written.
Result<std::string> name_in_use(const Config& config, const std::string& name, const std::string& other) {
  if (option(config, other).empty()) return name;
  if (option(config, name).empty()) return other;
  return invalid_argument("options " + name + " and " + other + " mean the same; leave one of them out");
}

/// The endpoint that the user names, that of an emulator, or Google's.
Result<std::string> endpoint_of(const Config& config) {
  constexpr const char* kVariable = "STORAGE_EMULATOR_HOST";
  SHERD_TRY(name, name_in_use(config, "endpoint", "endpoint_url"));
  std::string endpoint = option(config, name);
  const char* const emulator = endpoint.empty() ? std::getenv(kVariable) : nullptr;
  if (emulator != nullptr) endpoint = emulator;
  if (endpoint.empty()) return std::string("https://storage.googleapis.com");
  if (endpoint.find("://") == endpoint.npos) endpoint.insert(0, "http://");
  return normal_endpoint(endpoint, emulator != nullptr ? kVariable : "option " + name);
}

/// A token that is sent; empty: requests are anonymous.
Result<std::string> token_of(const Config& config) {
  SHERD_TRY(anonymous, name_in_use(config, "anonymous", "anon"));
  SHERD_TRY(is_anonymous, switch_option(config, anonymous, false));
  SHERD_TRY(name, name_in_use(config, "bearer_token", "token"));
  SHERD_TRY(token, header_option(config, name));
  if (token == "anon") token.clear();  // as in fsspec
  if (is_anonymous && (!token.empty() || config.credentials))
    return invalid_argument("option " + anonymous + " cannot be combined with a token or credentials");
  const bool is_method = token == "google_default" || token == "cache" || token == "cloud" || token == "browser";
  const bool is_key =
      token.find('{') != token.npos || token.ends_with(".json") || token.starts_with('/') || token.starts_with('~');
  if (is_method || is_key)
    return wrong_option(
        name,
        "must be an OAuth access token, such as that of 'gcloud auth print-access-token', or 'anon'; key "
        "files and other ways to log in are not supported");
  return token;
}

}  // namespace

Result<std::shared_ptr<Store>> gcs_store(const StoreUrl& url, const Config& config) {
  SHERD_TRY(place, bucket_place(url));
  SHERD_TRY(connection, connection_of(config));
  SHERD_TRY(endpoint, endpoint_of(config));
  SHERD_TRY(token, token_of(config));
  auto bucket =
      std::make_shared<GcsBucket>(endpoint + "/" + place.bucket, place.bucket, std::move(token), config.credentials);
  return remote_store(std::make_shared<BucketService>(std::move(bucket), place.shown, place.prefix), connection);
}

}  // namespace sherd::remote
