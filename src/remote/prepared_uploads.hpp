// Uploads that begin while it is still being read what they will change. An upload takes a request before its parts can
// be sent, and that request depends on nothing.
#pragma once

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "remote/multipart_upload.hpp"

namespace sherd::remote {

/// Thread-safe; one thread at a time uses a key.
class PreparedUploads {
 public:
  explicit PreparedUploads(std::shared_ptr<const BucketServer> server) : server_(std::move(server)) {}

  /// Begins an upload on another thread. Does nothing if the last one was not needed, and none has been since: the
  /// objects are too small. The call for which this thread works must last until take() or drop().
  void prepare(const std::string& key);
  /// An upload that has begun: the prepared one, or another.
  Result<std::unique_ptr<MultipartUpload>> take(const std::string& key);
  /// Gives up an upload that was prepared and not taken.
  void drop(const std::string& key);

 private:
  using Begun = Result<std::unique_ptr<MultipartUpload>>;
  [[nodiscard]] Begun begin(const std::string& key) const;
  [[nodiscard]] std::optional<Begun> remove(const std::string& key);

  const std::shared_ptr<const BucketServer> server_;
  std::atomic<bool> are_needed_{true};
  std::mutex mutex_;  // guards the map
  std::map<std::string, std::future<Begun>> by_key_;
};

}  // namespace sherd::remote
