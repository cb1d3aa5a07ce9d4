#include "remote/write_marks.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace sherd::remote {
namespace {

constexpr std::string_view kHeader = "x-amz-meta-sherd-writes";
/// As many writes of others may follow before a lost reply is noticed.
constexpr std::size_t kKeptIds = 16;
constexpr std::size_t kIdLength = 16;
constexpr std::size_t kMaxSeen = 4096;
/// After the id of an upload: earlier ids are unknown.
constexpr std::string_view kUnknown = ",?";

std::string new_id() {
  constexpr char kDigits[] = "0123456789abcdef";
  thread_local std::random_device random;
  std::string id;
  while (id.size() < kIdLength) id += kDigits[random() % 16];
  return id;
}

}  // namespace

void WriteMarks::saw(const std::string& key, const Headers& headers) {
  const std::string* const ids = find_header(headers, kHeader);
  const std::string* const etag = find_header(headers, "ETag");
  if (ids == nullptr || etag == nullptr) return;
  const std::lock_guard guard(mutex_);
  if (const auto old = by_key_.find(key); old != by_key_.end()) seen_.erase(old->second);
  seen_.push_front({key, *etag, *ids});
  by_key_[key] = seen_.begin();
  if (seen_.size() <= kMaxSeen) return;
  by_key_.erase(seen_.back().key);
  seen_.pop_back();
}

WriteMarks::Mark WriteMarks::next(const std::string& key, const Generation& of) {
  Mark mark{new_id(), {std::string(kHeader), {}}};
  std::string& ids = mark.header.value = mark.id;
  const std::lock_guard guard(mutex_);
  const auto old = by_key_.find(key);
  if (old == by_key_.end() || old->second->etag != of.token) return mark;
  ids += "," + old->second->ids;
  ids.resize(std::min(ids.size(), kKeptIds * (kIdLength + 1) - 1));
  return mark;
}

WriteMarks::Mark WriteMarks::of_upload() {
  const std::string id = new_id();
  return {id, {std::string(kHeader), id + std::string(kUnknown)}};
}

WriteMarks::Found WriteMarks::find(const Headers& headers, const std::string& id) {
  const std::string* const ids = find_header(headers, kHeader);
  const std::size_t at = ids != nullptr ? ids->find(id) : std::string::npos;
  if (at == std::string::npos) return ids != nullptr && ids->ends_with(kUnknown) ? Found::unknown : Found::nothing;
  return at == 0 ? Found::version : Found::later_version;
}

}  // namespace sherd::remote
