#include "remote/bucket_objects.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/base64.hpp"
#include "base/buffer.hpp"
#include "base/try.hpp"
#include "remote/aws_signature.hpp"
#include "remote/libraries.hpp"
#include "remote/s3_documents.hpp"
#include "store/listing.hpp"

namespace sherd::remote {
namespace {

/// As in the header Content-MD5.
Result<std::string> md5_of(std::string_view text) {
  SHERD_TRY(crypto, load_crypto());
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (crypto->EVP_Digest(text.data(), text.size(), digest.data(), &size, crypto->EVP_md5(), nullptr) != 1)
    return unsupported("libcrypto has no MD5, without which objects are not erased together");
  return encode_base64({reinterpret_cast<const char*>(digest.data()), size});
}

/// XML has no other control characters.
bool fits_into_xml(std::string_view key) {
  return std::ranges::none_of(key, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

Result<void> erase_one_by_one(const BucketServer& server, std::span<const std::string> keys) {
  std::vector<ObjectRequest> requests;
  for (const std::string& key : keys) requests.push_back({.method = "DELETE", .key = key});
  SHERD_TRY(replies, run_together(server, std::move(requests)));
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!is_success(replies[i]) && replies[i].status != 404) return refusal(replies[i]).in_key(keys[i]);
  return {};
}

Result<void> erase_together(const BucketServer& server, std::span<const std::string> keys) {
  const std::string& prefix = server.service->prefix();
  std::vector<std::string> names;
  for (const std::string& key : keys) names.push_back(prefix + key);
  const std::string document = delete_document(names);
  SHERD_TRY(md5, md5_of(document));
  Change change(*server.service, {"POST", {}, "delete", {{"Content-MD5", md5}}, as_bytes(document)});
  SHERD_TRY(reply, run_change(server.connection, change));
  if (!is_success(reply)) return erase_one_by_one(server, keys);
  const auto failure = erase_failure(reply.body);
  if (!failure) return {};
  const std::string key = failure->key.starts_with(prefix) ? failure->key.substr(prefix.size()) : failure->key;
  return io_error("the server did not erase it (" + failure->code + ": " + failure->message + ")").in_key(key);
}

/// Whether an upload has neither ended nor been given up.
Result<bool> has_upload(const BucketServer& server, const std::string& key, const std::string& id) {
  Change change(*server.service, {.method = "GET", .key = key, .query = "max-parts=1&uploadId=" + encode_query(id)});
  SHERD_TRY(reply, run_change(server.connection, change));
  if (reply.status == 404) return false;
  return is_success(reply) ? Result<bool>(true) : refusal(reply);
}

/// What a write has become whose replies were lost: nullopt if it was not carried out.
Result<std::optional<Generation>> find_version(const BucketServer& server, const std::string& key,
                                               const WriteMarks::Mark& mark, const std::string& upload) {
  using Found = WriteMarks::Found;
  SHERD_TRY(present, head_object(server, key));
  const Found found = present ? WriteMarks::find(*present, mark) : Found::nothing;
  if (found == Found::version) {
    server.service->marks().saw(key, *present);
    return std::optional(Generation{header_value(*present, "ETag")});
  }
  if (!upload.empty()) {
    SHERD_TRY(is_left, has_upload(server, key, upload));
    // It has ended, or another program has aborted it. Versions that follow it have its id, or that of an upload, and
    // are not older.
    return is_left || found == Found::nothing ? std::optional<Generation>() : std::optional(Generation());
  }
  if (found == Found::unknown) return io_error("an upload of another writer has followed");
  return found == Found::later_version ? std::optional(Generation()) : std::nullopt;
}

}  // namespace

std::string quoted_etag(std::string etag) {
  return etag.empty() || etag.starts_with('"') || etag.starts_with("W/") ? etag : "\"" + etag + "\"";
}

Result<std::vector<HttpReply>> run_together(const BucketServer& server, std::vector<ObjectRequest> requests) {
  std::vector<std::unique_ptr<Change>> changes;
  std::vector<Transfer*> transfers;
  for (ObjectRequest& request : requests) {
    changes.push_back(std::make_unique<Change>(*server.service, std::move(request)));
    transfers.push_back(changes.back().get());
  }
  SHERD_TRY(run(server.connection, transfers));
  std::vector<HttpReply> replies;
  for (const auto& change : changes) {
    SHERD_TRY(reply, change->take());
    replies.push_back(std::move(reply));
  }
  return replies;
}

Result<std::optional<Headers>> head_object(const BucketServer& server, const std::string& key) {
  Change change(*server.service, {.method = "HEAD", .key = key});
  SHERD_TRY(reply, run_change(server.connection, change));
  if (reply.status == 404) return std::optional<Headers>();
  if (!is_success(reply)) return refusal(reply);
  return std::optional(std::move(reply.headers));
}

Result<Generation> make_version(const BucketServer& server, const WriteMarks::Mark& mark, ObjectRequest request,
                                const std::string& upload) {
  const std::string key = request.key;
  Change change(*server.service, std::move(request));
  SHERD_TRY(run(server.connection, change));
  auto reply = change.take();
  bool is_unclear = change.may_have_landed();
  if (reply && is_success(*reply)) {
    std::string etag = header_value(reply->headers, "ETag");
    etag = quoted_etag(etag.empty() ? text_in_reply(reply->body, "ETag") : etag);
    server.service->marks().saw(key, {{"ETag", etag}, mark.header});
    if (upload.empty() || !etag.empty()) return Generation{etag};
    is_unclear = true;
    reply = io_error("the server's reply to the end of an upload in parts does not name the object");
  }
  if (is_unclear) {
    auto stored = find_version(server, key, mark, upload);
    if (!stored)
      return (reply ? std::move(stored).error() : std::move(reply).error())
          .in("it is not known whether the object was stored, since its reply was lost");
    if (*stored) return **std::move(stored);
  }
  if (!reply) return std::move(reply).error();
  return refusal(*reply);
}

Result<Generation> put_object(const BucketServer& server, const std::string& key, std::span<const std::byte> bytes,
                              const Condition& condition) {
  SHERD_TRY(headers, condition_headers(server, key, condition, Ending::put));
  const WriteMarks::Mark mark = server.service->marks().next(key, condition.generation);
  headers.push_back(mark.header);
  return make_version(server, mark, {"PUT", key, {}, std::move(headers), bytes});
}

Result<Erased> erase_object(const BucketServer& server, const std::string& key) {
  Change change(*server.service, {.method = "DELETE", .key = key});
  SHERD_TRY(reply, run_change(server.connection, change));
  if (reply.status == 404) return Erased::nothing;
  if (!is_success(reply)) return refusal(reply);
  return Erased::unknown;
}

Result<void> erase_objects(const BucketServer& server, std::span<const std::string> keys) {
  while (!keys.empty()) {
    const auto page = keys.first(std::min(keys.size(), kListPage));
    const bool together = page.size() > 1 && std::ranges::all_of(page, fits_into_xml);
    SHERD_TRY(together ? erase_together(server, page) : erase_one_by_one(server, page));
    keys = keys.subspan(page.size());
  }
  return {};
}

}  // namespace sherd::remote
