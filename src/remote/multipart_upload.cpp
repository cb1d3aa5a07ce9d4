#include "remote/multipart_upload.hpp"

#include <utility>

#include "base/buffer.hpp"
#include "base/call.hpp"
#include "base/try.hpp"
#include "remote/aws_signature.hpp"
#include "remote/s3_documents.hpp"

namespace sherd::remote {

namespace {

Result<void> visit_uploads(const BucketServer& server, const std::string& prefix,
                           const std::function<Result<void>(const UploadPage::Upload& upload)>& visit) {
  const std::string& root = server.service->prefix();
  for (UploadPage page;;) {
    std::string query;
    if (!page.next_key.empty()) query += "key-marker=" + encode_query(page.next_key) + "&";
    query += "prefix=" + encode_query(root + prefix);
    if (!page.next_id.empty()) query += "&upload-id-marker=" + encode_query(page.next_id);
    Change change(*server.service, {.method = "GET", .key = {}, .query = query + "&uploads"});
    SHERD_TRY(reply, run_change(server.connection, change));
    if (!is_success(reply)) return refusal(reply).in_key(prefix);
    const std::string before = page.next_key + page.next_id;
    SHERD_TRY(next, parse_uploads(reply.body));
    page = std::move(next);
    for (UploadPage::Upload& each : page.uploads) {
      if (!each.key.starts_with(root + prefix)) continue;
      each.key.erase(0, root.size());
      SHERD_TRY(visit(each));
    }
    if (page.next_key.empty()) return {};
    if (page.next_key + page.next_id == before) return io_error("the server's list does not advance").in_key(prefix);
  }
}

}  // namespace

Result<void> abort_uploads(const BucketServer& server, const std::string& prefix,
                           const std::function<Result<bool>(const UploadPage::Upload& upload)>& visit) {
  std::vector<ObjectRequest> requests;
  SHERD_TRY(visit_uploads(server, prefix, [&](const UploadPage::Upload& each) -> Result<void> {
    SHERD_TRY(is_aborted, visit(each));
    if (!is_aborted) return {};
    requests.push_back({.method = "DELETE", .key = each.key, .query = "uploadId=" + encode_query(each.id)});
    return {};
  }));
  SHERD_TRY(replies, run_together(server, std::move(requests)));
  for (const HttpReply& reply : replies)  // one that has ended meanwhile is not found
    if (!is_success(reply) && reply.status != 404) return refusal(reply).in_key(prefix);
  return {};
}

MultipartUpload::~MultipartUpload() {
  if (!has_begun() || has_ended_) return;
  // Also if the call was interrupted. If this fails, the parts stay: readers do not see them, and `check` reports them.
  const Config config;
  Call call(config);
  const Call::Working working(call, true);
  static_cast<void>(
      run_together(server_, {{.method = "DELETE", .key = key_, .query = "uploadId=" + encode_query(id_)}}));
}

Result<void> MultipartUpload::begin() {
  mark_ = WriteMarks::of_upload();
  Change change(*server_.service, {.method = "POST", .key = key_, .query = "uploads", .headers = {mark_.header}});
  SHERD_TRY(reply, run_change(server_.connection, change));
  if (!is_success(reply)) return refusal(reply);
  mark_.begun = header_date(reply.headers, "Date");
  id_ = text_in_reply(reply.body, "UploadId");
  if (id_.empty()) return io_error("the server did not name the upload that it has begun");
  return {};
}

ObjectRequest MultipartUpload::part_request(const Part& part) const {
  ObjectRequest request{.method = "PUT",
                        .key = key_,
                        .query = "partNumber=" + std::to_string(part.number) + "&uploadId=" + encode_query(id_),
                        .payload = part.bytes};
  if (part.from == nullptr) return request;
  request.headers = copy_headers(*part.from);
  request.headers.push_back({"x-amz-copy-source-range", "bytes=" + std::to_string(part.range.offset) + "-" +
                                                            std::to_string(part.range.end() - 1)});
  return request;
}

Result<void> MultipartUpload::send(std::span<const Part> parts) {
  std::vector<ObjectRequest> requests;
  for (const Part& part : parts) requests.push_back(part_request(part));
  SHERD_TRY(replies, run_together(server_, std::move(requests)));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const HttpReply& reply = replies[i];
    if (!is_success(reply)) return refusal(reply);
    std::string etag =
        parts[i].from == nullptr ? header_value(reply.headers, "ETag") : text_in_reply(reply.body, "ETag");
    if (etag.empty()) return io_error("the server did not name the part that it has stored");
    const std::lock_guard guard(mutex_);
    etags_[parts[i].number] = quoted_etag(std::move(etag));
  }
  return {};
}

Result<Generation> MultipartUpload::end(const Condition& condition) {
  SHERD_TRY(headers, condition_headers(server_, key_, condition, Ending::complete));
  mark_.of = condition.generation;
  const std::string document = complete_document(etags_);
  auto stored = make_version(server_, mark_,
                             {.method = "POST",
                              .key = key_,
                              .query = "uploadId=" + encode_query(id_),
                              .headers = std::move(headers),
                              .payload = as_bytes(document)},
                             id_);
  has_ended_ = stored.has_value();
  return stored;
}

}  // namespace sherd::remote
