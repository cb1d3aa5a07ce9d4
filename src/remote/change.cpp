#include "remote/change.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "remote/list_objects.hpp"

namespace sherd::remote {
namespace {

constexpr std::size_t kMaxReplyBytes = std::size_t{16} << 20;  // a page of uploads
constexpr long kAnswers[] = {400, 404, 405, 409, 412, 501};

/// The status that an Error in the body of a reply with status 200 would have had.
long status_of(std::string_view code) {
  constexpr std::pair<std::string_view, long> kStatuses[] = {
      {"PreconditionFailed", 412}, {"NoSuchUpload", 404},       {"NoSuchKey", 404}, {"ConditionalRequestConflict", 409},
      {"InternalError", 500},      {"ServiceUnavailable", 503}, {"SlowDown", 503},  {"AccessDenied", 403}};
  const auto found = std::ranges::find(kStatuses, code, &std::pair<std::string_view, long>::first);
  return found != std::end(kStatuses) ? found->second : 400;
}

/// The permission that a request needs, by the name that policies use.
std::string_view permission(const ObjectRequest& request) {
  const bool is_upload = request.query.find("uploadId=") != std::string::npos;
  if (request.method == "GET" && is_upload) return "s3:ListMultipartUploadParts";
  if (request.method == "HEAD" || request.method == "GET")
    return request.key.empty() ? "s3:ListBucketMultipartUploads" : "s3:GetObject";
  if (request.method == "DELETE") return is_upload ? "s3:AbortMultipartUpload" : "s3:DeleteObject";
  return request.query == "delete" ? "s3:DeleteObject" : "s3:PutObject";
}

}  // namespace

Error refusal(const HttpReply& reply) {
  const S3Error error = parse_s3_error(reply.body);
  const std::string said = describe(error);
  const std::string detail = "(status " + std::to_string(reply.status) + (said.empty() ? "" : ", " + said) + ")";
  switch (reply.status) {
    case 404:
      return conflict("the object or its upload does not exist any more " + detail);
    case 409:
    case 412:
      return conflict("another writer has changed the object " + detail);
    case 405:
    case 501:
      return unsupported("the server cannot do this " + detail).in(reply.asked);
    default:
      return io_error("the server refused the request " + detail).in(reply.asked);
  }
}

Result<Transfer::Attempt> Change::attempt() {
  reply_ = {};
  ++lost_;  // until it is answered
  SHERD_TRY(request, service_.object_request(request_));
  return Attempt{.request = std::move(request)};
}

Result<Transfer::Wants> Change::accept(const HttpHead& head) {
  reply_ = {.status = head.status, .headers = head.headers};
  return Wants::body;
}

Result<bool> Change::receive(std::span<const std::byte> bytes) {
  if (reply_.body.size() + bytes.size() > kMaxReplyBytes) return io_error("the server's reply is too long");
  reply_.body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return true;
}

Verdict Change::complete() {
  const S3Error error = reply_.body.empty() ? S3Error() : parse_s3_error(reply_.body);
  if (is_success(reply_) && !error.code.empty()) reply_.status = status_of(error.code);
  const bool is_answer = std::ranges::find(kAnswers, reply_.status) != std::end(kAnswers);
  if (reply_.status < 500 || reply_.status == 501) --lost_;
  if (is_success(reply_)) return {.next = Verdict::Next::done};
  Verdict verdict = service_.judge(reply_, Access::change);
  using Next = Verdict::Next;
  if (verdict.next == Next::again || verdict.next == Next::later || error.code == "NoSuchBucket") return verdict;
  // Another request was under way, and may fail: only a repetition tells whether there is an object. A change of a
  // version that was read is planned again instead.
  const bool is_undecided = error.code == "ConditionalRequestConflict" && request_.method == "PUT" &&
                            find_header(request_.headers, "If-None-Match") != nullptr;
  if (is_undecided) return {.next = Next::later, .error = refusal(reply_)};
  if (is_answer) return {.next = Next::done};
  if (verdict.error && verdict.error->is_denied() && (error.code.empty() || error.code == "AccessDenied"))
    verdict.error =
        io_error(verdict.error->message() + "; it needs the permission " + std::string(permission(request_))).denied();
  return verdict;
}

void Change::finish(Result<bool> exists) {
  has_ended_ = true;
  if (!exists.has_value()) failure_ = std::move(exists).error();
}

Result<HttpReply> Change::take() {
  if (failure_) return *std::exchange(failure_, std::nullopt);
  reply_.asked = asked();
  return std::move(reply_);
}

Result<HttpReply> run_change(const Connection& connection, Change& change) {
  SHERD_TRY(run(connection, change));
  return change.take();
}

}  // namespace sherd::remote
