// Objects in memory and the answers of a simple object server about them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "src/remote/http.hpp"

namespace sherd::remote {

/// A request as a server receives it. The URL is the target: an encoded path with an optional query.
using ServedRequest = HttpRequest;

/// A reply whose body may be a part of an object. Content-Length is not among the headers.
struct ServedReply {
  int status = 200;
  Headers headers = {};
  std::shared_ptr<const std::string> bytes = std::make_shared<const std::string>();
  std::uint64_t first = 0, length = 0;  ///< which of the bytes
  bool has_body = true;                 ///< false: `length` is stated, but no body follows
};

/// A reply with a body of its own.
ServedReply reply_of(int status, std::string body, Headers headers = {});

class MemoryObjects {
 public:
  /// Stores an object under a key, which is the decoded path of its URL without the first slash. Returns its ETag,
  /// which differs from that of any other object and version.
  std::string put(const std::string& key, std::string bytes);
  void erase(const std::string& key);
  /// GET, HEAD, PUT and DELETE of one object, with Range, If-Match and If-None-Match; ListObjectsV2 of the bucket that
  /// is the path's first part.
  [[nodiscard]] ServedReply answer(const ServedRequest& request);

 private:
  struct Object {
    std::shared_ptr<const std::string> bytes;
    std::string etag, modified;
  };
  [[nodiscard]] ServedReply read(const ServedRequest& request, const Object& object) const;
  [[nodiscard]] ServedReply list(std::string_view bucket, std::string_view query);

  std::mutex mutex_;
  std::map<std::string, Object> objects_;
  std::uint64_t versions_ = 0;
};

}  // namespace sherd::remote
