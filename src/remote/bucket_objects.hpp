// Changes of whole objects of a bucket by single requests, and on which conditions the server makes them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "remote/change.hpp"
#include "remote/s3_documents.hpp"
#include "remote/write_marks.hpp"
#include "sherd/store.hpp"

namespace sherd::remote {

/// What the user says of conditional requests (storage option `conditional`): each endpoint is tried once, or they are
/// known to work, or there is one writer at a time, which needs none.
enum class Conditional : std::uint8_t { probe, yes, no };

/// A bucket that is written to.
struct BucketServer {
  std::shared_ptr<BucketService> service = {};
  Connection connection = {};
  std::uint64_t part_bytes = std::uint64_t{8} << 20;  ///< larger objects are uploaded in parts of this size
  Conditional conditional = Conditional::probe;
};

/// Which conditions a server compares before it changes an object.
struct Conditions {
  bool on_put = false;       ///< If-None-Match and If-Match of a PUT
  bool on_complete = false;  ///< If-None-Match and If-Match at the end of an upload in parts
  bool on_copy = false;      ///< of a copied object or part: that its source is a certain version
  bool on_new_copy = false;  ///< If-None-Match of a copied object
  bool is_quoted = true;     ///< If-Match has the ETag as it is, in quotes
};
/// Tries it out with an object of its own, unless it is known; once per bucket and process.
Result<Conditions> conditions_of(const BucketServer& server);
/// What conditions_of() has found or knows without a request; nullopt: not yet.
[[nodiscard]] std::optional<Conditions> known_conditions(const BucketServer& server);

/// The error of a change of a part of an object in a bucket without conditional requests.
[[nodiscard]] Error no_conditions(const BucketServer& server);

/// The request that a condition is for: a PUT, the end of an upload in parts, the copy of a whole object.
enum class Ending : std::uint8_t { put, complete, copy };
/// The headers of a condition. If the server does not compare, `absent` is looked up here, and so is `matches` if the
/// user has promised a single writer; otherwise `matches` is `unsupported`. `conflict` if what is looked up does not
/// hold.
Result<Headers> condition_headers(const BucketServer& server, const std::string& key, const Condition& condition,
                                  Ending ending);

/// Stores an object with one request. Returns its generation; empty if others have replaced it already.
Result<Generation> put_object(const BucketServer& server, const std::string& key, std::span<const std::byte> bytes,
                              const Condition& condition);

/// Sends a request that makes a new version with this mark, perhaps of an upload. Returns its generation, from the
/// reply or, if replies were lost, from the object; empty if others have replaced it already.
Result<Generation> make_version(const BucketServer& server, const WriteMarks::Mark& mark, ObjectRequest request,
                                const std::string& upload = {});

/// The headers of an object; nullopt if it does not exist.
Result<std::optional<Headers>> head_object(const BucketServer& server, const std::string& key);

Result<Erased> erase_object(const BucketServer& server, const std::string& key);
/// A thousand per request.
Result<void> erase_objects(const BucketServer& server, std::span<const std::string> keys);

/// Visits the uploads below a prefix that have begun and not ended, with keys as in other functions, and gives up those
/// for which `visit` returns true.
Result<void> abort_uploads(const BucketServer& server, const std::string& prefix,
                           const std::function<Result<bool>(const UploadPage::Upload& upload)>& visit);

/// Runs requests at the same time. The first failure, in their order, is returned after all have ended.
Result<std::vector<HttpReply>> run_together(const BucketServer& server, std::vector<ObjectRequest> requests);

/// With quotes, as servers send them in headers.
[[nodiscard]] std::string quoted_etag(std::string etag);

}  // namespace sherd::remote
