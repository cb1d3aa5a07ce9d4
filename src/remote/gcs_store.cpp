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
  GcsBucket(std::string url, std::string name, std::string token, CredentialCache::Source credentials)
      : url_(std::move(url)),
        name_(std::move(name)),
        token_(std::move(token)),
        credentials_(credentials ? std::make_shared<CredentialCache>(std::move(credentials)) : nullptr) {}

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

/// The endpoint that the user names, that of an emulator, or Google's.
Result<std::string> endpoint_of(const Config& config) {
  constexpr const char* kVariable = "STORAGE_EMULATOR_HOST";
  std::string endpoint = option(config, "endpoint");
  const char* const emulator = endpoint.empty() ? std::getenv(kVariable) : nullptr;
  if (emulator != nullptr) endpoint = emulator;
  if (endpoint.empty()) return std::string("https://storage.googleapis.com");
  if (endpoint.find("://") == endpoint.npos) endpoint.insert(0, "http://");
  return normal_endpoint(endpoint, emulator != nullptr ? kVariable : "option endpoint");
}

}  // namespace

Result<std::shared_ptr<Store>> gcs_store(const StoreUrl& url, const Config& config) {
  SHERD_TRY(place, bucket_place(url));
  SHERD_TRY(connection, connection_of(config));
  SHERD_TRY(endpoint, endpoint_of(config));
  SHERD_TRY(token, header_option(config, option(config, "bearer_token").empty() ? "token" : "bearer_token"));
  if (token == "anon") token.clear();  // as in fsspec
  auto bucket =
      std::make_shared<GcsBucket>(endpoint + "/" + place.bucket, place.bucket, std::move(token), config.credentials);
  return remote_store(std::make_shared<BucketService>(std::move(bucket), place.shown, place.prefix), connection);
}

}  // namespace sherd::remote
