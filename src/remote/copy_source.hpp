// Versions of objects that a server copies itself.
#pragma once

#include <optional>
#include <string>

#include "remote/bucket_objects.hpp"
#include "remote/remote_source.hpp"

namespace sherd::remote {

/// A version of an object of the same server.
struct CopySource {
  std::string path;  ///< /BUCKET/KEY, encoded
  std::string etag;
};
/// The source of a server that wrappers pass reads on to; nullptr if there is none.
[[nodiscard]] const RemoteSource* remote_beneath(const ByteSource& from) noexcept;
[[nodiscard]] CopySource source_of(const BucketServer& server, const std::string& key, std::string etag);
/// The version that a source reads, if it is one of the server that has the bucket.
[[nodiscard]] std::optional<CopySource> copy_source(const ByteSource& from, const BucketServer& to);
/// After a source was copied by a server that may not have compared its version: `conflict` if it is another by now.
Result<void> check_copied(const RemoteSource& from, const BucketServer& to);
/// The headers of a request that copies it.
[[nodiscard]] Headers copy_headers(const CopySource& from);
/// Copies an object of the same server, of at most kMaxPart bytes, with one request, which has these headers, too.
/// `conflict` if it has changed, or if a condition does not hold.
Result<Generation> copy_object(const BucketServer& server, const std::string& key, const CopySource& from,
                               Headers headers);

}  // namespace sherd::remote
