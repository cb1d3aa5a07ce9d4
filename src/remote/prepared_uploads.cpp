#include "remote/prepared_uploads.hpp"

#include <utility>

#include "base/call.hpp"
#include "base/try.hpp"
#include "store/request_count.hpp"

namespace sherd::remote {

PreparedUploads::Begun PreparedUploads::begin(const std::string& key) const {
  auto upload = std::make_unique<MultipartUpload>(*server_, key);
  SHERD_TRY(upload->begin());
  return upload;
}

void PreparedUploads::prepare(const std::string& key) {
  if (!are_needed_) return;
  const std::lock_guard guard(mutex_);
  if (!by_key_.contains(key)) by_key_.emplace(key, begin_beside([this, key] { return begin(key); }));
}

std::optional<PreparedUploads::Begun> PreparedUploads::remove(const std::string& key) {
  std::future<Begun> begun;
  {
    const std::lock_guard guard(mutex_);
    if (auto node = by_key_.extract(key)) begun = std::move(node.mapped());
  }
  if (!begun.valid()) return std::nullopt;
  ++requests_of_thread().requests;  // of another thread
  return begun.get();
}

PreparedUploads::Begun PreparedUploads::take(const std::string& key) {
  are_needed_ = true;
  auto prepared = remove(key);
  return prepared ? *std::move(prepared) : begin(key);
}

void PreparedUploads::drop(const std::string& key) {
  if (remove(key)) are_needed_ = false;
}

}  // namespace sherd::remote
