#include "remote/copy_source.hpp"

#include <utility>

#include "base/try.hpp"
#include "remote/aws_signature.hpp"
#include "store/forwarding.hpp"

namespace sherd::remote {

const RemoteSource* remote_beneath(const ByteSource& from) noexcept {
  const auto* const wrapper = dynamic_cast<const ForwardingSource*>(&from);
  return wrapper != nullptr ? remote_beneath(*wrapper->beneath()) : dynamic_cast<const RemoteSource*>(&from);
}

CopySource source_of(const BucketServer& server, const std::string& key, std::string etag) {
  const BucketService& service = *server.service;
  return {"/" + service.bucket().name() + "/" + encode_key(service.prefix() + key), std::move(etag)};
}

std::optional<CopySource> copy_source(const ByteSource& from, const BucketServer& to) {
  const RemoteSource* const source = remote_beneath(from);
  if (source == nullptr) return std::nullopt;
  const BucketServer server{.service = std::dynamic_pointer_cast<BucketService>(source->server().service)};
  if (!server.service || server.service->bucket().endpoint() != to.service->bucket().endpoint()) return std::nullopt;
  return source_of(server, source->name(), source->version().etag);
}

Result<void> check_copied(const RemoteSource& from, const BucketServer& to) {
  SHERD_TRY(conditions, conditions_of(to));
  if (conditions.on_copy) return {};
  const BucketServer server{.service = std::dynamic_pointer_cast<BucketService>(from.server().service),
                            .connection = to.connection};
  SHERD_TRY(present, head_object(server, from.name()).in_key(from.name()));
  if (!present || header_value(*present, "ETag") != from.version().etag)
    return conflict("another writer has changed the object while it was copied").in_key(from.name());
  return {};
}

Headers copy_headers(const CopySource& from) {
  return {{"x-amz-copy-source", from.path}, {"x-amz-copy-source-if-match", from.etag}};
}

Result<Generation> copy_object(const BucketServer& server, const std::string& key, const CopySource& from,
                               Headers headers) {
  const WriteMarks::Mark mark = server.service->marks().next(key, {});
  for (Header& each : copy_headers(from)) headers.push_back(std::move(each));
  headers.push_back({"x-amz-metadata-directive", "REPLACE"});
  headers.push_back(mark.header);
  return make_version(server, mark, {.method = "PUT", .key = key, .headers = std::move(headers)});
}

}  // namespace sherd::remote
