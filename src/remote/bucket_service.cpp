#include "remote/bucket_service.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "remote/address.hpp"
#include "remote/aws_settings.hpp"
#include "remote/aws_signature.hpp"
#include "remote/list_objects.hpp"
#include "store/listing.hpp"

namespace sherd::remote {
namespace {

/// Codes of S3 that mean "later" although the status does not.
bool is_transient(std::string_view code) {
  return code == "SlowDown" || code == "RequestTimeout" || code == "InternalError" || code == "ServiceUnavailable" ||
         code == "Throttling" || code == "OperationAborted";
}

}  // namespace

Result<Service::Addressed> BucketService::request(const std::string& key, Headers headers,
                                                  const std::string& /*location*/) {
  SHERD_TRY(request, object_request({.method = "GET", .key = key, .headers = std::move(headers)}));
  return Addressed{.request = std::move(request)};
}

Result<HttpRequest> BucketService::object_request(const ObjectRequest& request) {
  HttpRequest sent{.method = request.method,
                   .url = bucket_->url() + "/" + (request.key.empty() ? "" : encode_key(prefix_ + request.key)) +
                          (request.query.empty() ? "" : "?" + request.query),
                   .headers = request.headers,
                   .payload = request.payload};
  if (!request.payload.empty()) sent.headers.push_back({"Content-Type", "application/octet-stream"});
  SHERD_TRY(bucket_->authorize(sent));
  return sent;
}

Verdict BucketService::judge(const HttpReply& reply, Access access) {
  const S3Error error = parse_s3_error(reply.body);
  const std::string detail = describe(error);
  if (reply.status != 404 && bucket_->learn(reply, error.code, error.region))
    return {.next = Verdict::Next::again, .error = io_error("the server refused the request (" + detail + ")")};
  Verdict verdict = judge_status(reply, detail);
  if (error.code == "NoSuchBucket") return {.error = not_found("the bucket of " + url_ + " does not exist")};
  if (is_transient(error.code) && verdict.next == Verdict::Next::fails) verdict.next = Verdict::Next::later;
  if (verdict.error && verdict.error->is_denied() && (error.code.empty() || error.code == "AccessDenied"))
    verdict.error = io_error(verdict.error->message() + "; " + bucket_->hint(access)).denied();
  return verdict;
}

/// Some compatible servers sort by directories: a/b before a-b.
bool BucketService::sorts_lists() const {
  const std::string host = host_of(bucket_->url());
  return is_aws_host(host) || host == "storage.googleapis.com";
}

Result<HttpRequest> BucketService::list_request(const std::string& prefix, ListDepth depth, const std::string& from) {
  std::string query;
  if (!from.empty()) query += "continuation-token=" + encode_query(from) + "&";
  if (depth == ListDepth::children) query += "delimiter=%2F&";
  query += "list-type=2&max-keys=" + std::to_string(kListPage) + "&prefix=" + encode_query(prefix_ + prefix);
  return object_request({.method = "GET", .key = {}, .query = std::move(query)});
}

Result<ListPage> BucketService::parse_list(const std::string& body, const std::string& prefix) {
  SHERD_TRY(page, parse_list_objects(body));
  const auto cut = [&](std::string& key) {
    if (!key.starts_with(prefix_ + prefix)) return false;
    key.erase(0, prefix_.size());
    return true;
  };
  const bool is_below =
      std::ranges::all_of(page.objects, cut, &ListPage::Object::key) && std::ranges::all_of(page.prefixes, cut);
  if (!is_below) return corrupt("the server's list has keys that are not below the prefix");
  return page;
}

std::optional<Service::Parent> BucketService::parent() const {
  if (prefix_.empty()) return std::nullopt;
  const std::string_view path = std::string_view(prefix_).substr(0, prefix_.size() - 1);
  const std::size_t slash = path.rfind('/');
  std::string name(path.substr(slash == path.npos ? 0 : slash + 1));
  std::string above(path.substr(0, slash == path.npos ? 0 : slash + 1));
  return Parent{std::make_shared<BucketService>(bucket_, url_.substr(0, url_.rfind('/')), std::move(above)),
                std::move(name)};
}

}  // namespace sherd::remote
