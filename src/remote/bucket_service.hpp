// A bucket of an object store that speaks S3's protocol: S3 itself, and what is compatible with it, and Google Cloud
// Storage. They differ in where a bucket is and how a request is authorized.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "remote/service.hpp"
#include "remote/write_marks.hpp"

namespace sherd::remote {

/// Where a bucket is, and who asks. Thread-safe.
class Bucket {
 public:
  virtual ~Bucket() = default;
  /// The URL of the bucket, without `/` at the end. The user or the settings have named its host.
  [[nodiscard]] virtual std::string url() const = 0;
  /// Its name, and the server: objects are copied between buckets of one.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  [[nodiscard]] virtual std::string endpoint() const = 0;
  /// Signs a request, or adds a token.
  virtual Result<void> authorize(HttpRequest& request) = 0;
  /// What a refusal says about where and how to ask. True if the next request will be made otherwise.
  virtual bool learn(const HttpReply& reply, const std::string& code, const std::string& region) = 0;
  /// What a user can do if access is denied: how the request was authorized, and which permission it needs.
  [[nodiscard]] virtual std::string hint(Access access) const = 0;
};

/// A request that changes an object, or something of it.
struct ObjectRequest {
  std::string method;
  std::string key;         ///< without the prefix of the service; empty: the bucket
  std::string query = {};  ///< encoded, without `?`
  Headers headers = {};
  std::span<const std::byte> payload = {};
};

/// The objects of a bucket whose keys begin with a prefix. Thread-safe.
class BucketService final : public Service {
 public:
  /// `prefix` is empty or ends in `/`. `url` is the one that users see: s3://BUCKET/PATH.
  BucketService(std::shared_ptr<Bucket> bucket, std::string url, std::string prefix)
      : bucket_(std::move(bucket)), url_(std::move(url)), prefix_(std::move(prefix)) {}

  [[nodiscard]] const std::string& url() const noexcept override { return url_; }
  [[nodiscard]] bool can_list() const noexcept override { return true; }
  [[nodiscard]] bool sorts_lists() const override;
  [[nodiscard]] bool compares_versions() const noexcept override { return true; }
  Result<Addressed> request(const std::string& key, Headers headers, const std::string& location) override;
  Verdict judge(const HttpReply& reply, Access access) override;
  void saw(const std::string& key, const Headers& headers) override { marks_.saw(key, headers); }
  [[nodiscard]] std::optional<Parent> parent() const override;
  Result<HttpRequest> list_request(const std::string& prefix, ListDepth depth, const std::string& from) override;
  Result<ListPage> parse_list(const std::string& body, const std::string& prefix) override;

  /// Signed.
  Result<HttpRequest> object_request(const ObjectRequest& request);
  [[nodiscard]] const Bucket& bucket() const noexcept { return *bucket_; }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  [[nodiscard]] WriteMarks& marks() noexcept { return marks_; }

 private:
  const std::shared_ptr<Bucket> bucket_;
  const std::string url_, prefix_;
  WriteMarks marks_;
};

}  // namespace sherd::remote
