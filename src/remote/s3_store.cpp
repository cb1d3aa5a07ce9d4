#include "remote/s3_store.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/text.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "remote/aws_credentials.hpp"
#include "remote/aws_settings.hpp"
#include "remote/aws_signature.hpp"
#include "remote/bucket_service.hpp"
#include "remote/bucket_store.hpp"
#include "remote/bucket_url.hpp"
#include "remote/credential_cache.hpp"
#include "remote/multipart_upload.hpp"

namespace sherd::remote {
namespace {

constexpr std::uint64_t kMaxDocument = std::uint64_t{1} << 20;

/// Without s3:ListBucket, what does not exist is denied.
constexpr const char* kMissing =
    "; the storage option missing_status=403 is for buckets that do not allow their objects to be listed";

using Clock = std::chrono::system_clock;

/// Of the bytes that are sent, which TLS protects without it.
Result<std::string> hash_of(const HttpRequest& request) {
  if (request.payload.empty()) return std::string(kEmptyPayload);
  if (request.url.starts_with("https:")) return std::string(kUnsignedPayload);
  return sha256_hex({reinterpret_cast<const char*>(request.payload.data()), request.payload.size()});
}

class S3Bucket final : public Bucket {
 public:
  S3Bucket(std::string bucket, S3Settings settings, std::shared_ptr<CredentialCache> credentials)
      : bucket_(std::move(bucket)), credentials_(std::move(credentials)), settings_(std::move(settings)) {}

  [[nodiscard]] std::string url() const override {
    const std::lock_guard guard(mutex_);
    return bucket_url(settings_, bucket_);
  }
  [[nodiscard]] const std::string& name() const noexcept override { return bucket_; }
  [[nodiscard]] std::string endpoint() const override { return settings_.endpoint; }  // never changes

  Result<void> authorize(HttpRequest& request) override {
    std::string region;
    Clock::duration skew{};
    {
      const std::lock_guard guard(mutex_);
      region = settings_.region;
      skew = skew_;
      if (settings_.requester_pays) request.headers.push_back({"x-amz-request-payer", "requester"});
    }
    if (!credentials_) return {};
    SHERD_TRY(credentials, credentials_->get());
    SHERD_TRY(hash, hash_of(request));
    SHERD_TRY(sign(request, credentials, {region, "s3", Clock::now() + skew}, hash));
    const std::lock_guard guard(mutex_);
    used_ = std::move(credentials);
    return {};
  }

  bool learn(const HttpReply& reply, const std::string& code, const std::string& error_region) override {
    const std::lock_guard guard(mutex_);
    const std::string* const header = find_header(reply.headers, "x-amz-bucket-region");
    const std::string region = header != nullptr ? *header : error_region;
    // Of requests that were under way together, the first reply tells the region, and the others are made again too.
    const bool is_elsewhere = reply.status == 301 || reply.status == 307 || code == "AuthorizationHeaderMalformed";
    if (!region.empty() && (is_elsewhere || region != settings_.region)) {
      settings_.region = region;
      return true;
    }
    if (const auto date = header_date(reply.headers, "Date"); date && code == "RequestTimeTooSkewed") {
      skew_ = *date - Clock::now();
      return true;
    }
    if (credentials_ && (code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "InvalidAccessKeyId")) {
      // Of requests that were under way together, only the first reply refuses the credentials that are used now.
      return reply.token != used_.session_token || credentials_->refused(used_);
    }
    return false;
  }

  [[nodiscard]] std::string hint(Access access) const override {
    if (!credentials_) return std::string("the request was anonymous") + (access == Access::read ? kMissing : "");
    if (access == Access::change) return "the request was signed";
    if (access == Access::list) return "it needs the permission s3:ListBucket";
    return std::string("it needs the permission s3:GetObject, and s3:ListBucket for objects that do not exist") +
           kMissing;
  }

 private:
  const std::string bucket_;
  const std::shared_ptr<CredentialCache> credentials_;  ///< nullptr: anonymous
  mutable std::mutex mutex_;                            // guards what follows
  S3Settings settings_;
  Clock::duration skew_{};
  Credentials used_;
};

/// The bucket of `s3+https://HOST/BUCKET/PATH`, whose endpoint becomes an option.
Result<BucketPlace> place_at_endpoint(const StoreUrl& url, Config& config) {
  if (url.host.empty() || !url.query.empty() || !url.userinfo.empty())
    return invalid_argument("'" + url.shown + "': write " + url.scheme + "://HOST/BUCKET/PATH");
  const std::string scheme = url.scheme.substr(url.scheme.find('+') + 1);
  const std::string authority = url.host + (url.port.empty() ? "" : ":" + url.port);
  StoreUrl inner{.scheme = "s3", .shown = url.shown};
  std::string path = url.path;
  while (path.starts_with('/')) path.erase(0, 1);
  const std::size_t slash = std::min(path.find('/'), path.size());
  inner.host = path.substr(0, slash);
  inner.path = path.substr(slash);
  SHERD_TRY(place, bucket_place(inner));
  config.storage_options.insert_or_assign("endpoint", scheme + "://" + authority);
  place.shown = url.scheme + "://" + authority + place.shown.substr(std::string_view("s3:/").size());
  return place;
}

AwsFetch fetch_of(const Connection& connection) {
  Connection near = connection;
  near.attempts = 1;
  near.connect_timeout = std::chrono::seconds(1);
  near.idle_timeout = std::chrono::seconds(1);
  near.uses_proxy = false;
  // With one attempt, a reply that says "later" is an answer like others.
  const auto over = [](const Connection& how) -> Fetch {
    return [how](const HttpRequest& request) {
      const auto make = [&]() -> Result<HttpRequest> { return request; };
      const auto judge = [&](const HttpReply& reply) -> Verdict {
        if (how.attempts > 1 && (reply.status == 429 || reply.status >= 500)) return judge_status(reply, {});
        return {.next = Verdict::Next::done};
      };
      return fetch(how, make, judge, kMaxDocument);
    };
  };
  return {.service = over(connection), .metadata = over(near)};
}

/// How objects are written.
Result<BucketServer> bucket_server(const Config& config) {
  BucketServer server;
  if (const std::string text = option(config, "part_bytes"); !text.empty()) {
    const auto bytes = parse_number<std::uint64_t>(text);
    if (!bytes || *bytes < kMinPart || *bytes > kMaxPart)
      return wrong_option("part_bytes", "must be a number of bytes from 5242880 (5 MiB) to 5368709120 (5 GiB)");
    server.part_bytes = *bytes;
  }
  const std::string conditional = option(config, "conditional");
  if (conditional == "yes") server.conditional = Conditional::yes;
  if (conditional == "no") server.conditional = Conditional::no;
  if (!conditional.empty() && conditional != "probe" && server.conditional == Conditional::probe)
    return wrong_option("conditional", "must be probe, yes or no");
  return server;
}

}  // namespace

Result<std::shared_ptr<Store>> s3_store(const StoreUrl& url, const Config& given) {
  Config config = given;
  SHERD_TRY(place, url.scheme == "s3" ? bucket_place(url) : place_at_endpoint(url, config));
  SHERD_TRY(options, take_aws_options(config.storage_options));
  SHERD_TRY(connection, connection_of(config));
  const Environment environment = process_environment();
  SHERD_TRY(sources, aws_sources(options, environment));
  SHERD_TRY(settings, s3_settings(options, {}, sources));
  connection.ca_bundle = settings.ca_bundle;
  AwsAccess access{.options = options,
                   .region = settings.is_region_known ? settings.region : std::string(),
                   .callback = given.credentials,
                   .fetch = fetch_of(connection),
                   .environment = environment};
  std::shared_ptr<CredentialCache> credentials;
  if (!is_anonymous_access(access)) {
    std::string key = key_of(access, sources);
    if (!key.empty()) key += "proxy " + connection.proxy + "\nca_bundle " + connection.ca_bundle;
    const bool is_function = access.callback != nullptr;
    const auto find = [access = std::move(access)] { return find_aws_credentials(access); };
    credentials = shared_credentials(key, find, is_function);
  }
  auto bucket = std::make_shared<S3Bucket>(place.bucket, std::move(settings), std::move(credentials));
  SHERD_TRY(server, bucket_server(config));
  server.service = std::make_shared<BucketService>(std::move(bucket), place.shown, place.prefix);
  server.connection = std::move(connection);
  return bucket_store(server, given);
}

}  // namespace sherd::remote
