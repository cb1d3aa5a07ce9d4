// An object that is stored in several parts: sent at the same time, in any order, or copied on the server. Nothing is
// visible before the end.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "remote/bucket_objects.hpp"
#include "remote/copy_source.hpp"
#include "store/extent.hpp"

namespace sherd::remote {

/// Every part but the last has at least as many bytes.
inline constexpr std::uint64_t kMinPart = std::uint64_t{5} << 20;
/// A part, or an object stored by one request, has at most as many.
inline constexpr std::uint64_t kMaxPart = std::uint64_t{5} << 30;
inline constexpr unsigned kMaxParts = 10'000;

class MultipartUpload {
 public:
  /// `server` must outlive this.
  MultipartUpload(const BucketServer& server, std::string key) : server_(server), key_(std::move(key)) {}
  MultipartUpload(const MultipartUpload&) = delete;
  MultipartUpload& operator=(const MultipartUpload&) = delete;
  /// Aborts an upload that has not ended.
  ~MultipartUpload();

  [[nodiscard]] bool has_begun() const noexcept { return !id_.empty(); }
  Result<void> begin();
  struct Part {
    unsigned number = 0;                    ///< from 1
    std::span<const std::byte> bytes = {};  ///< unless it is copied
    const CopySource* from = nullptr;
    Extent range = {};
  };
  /// Sends parts at the same time. Thread-safe.
  Result<void> send(std::span<const Part> parts);
  /// Makes the object visible.
  Result<Generation> end(const Condition& condition);

 private:
  [[nodiscard]] ObjectRequest part_request(const Part& part) const;

  const BucketServer& server_;
  const std::string key_;
  std::string id_;
  WriteMarks::Mark mark_;
  bool has_ended_ = false;
  std::mutex mutex_;  // guards what follows
  std::map<unsigned, std::string> etags_;
};

}  // namespace sherd::remote
