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
/// Times of headers are in whole seconds, and the machines of a server may differ by some.
constexpr std::chrono::seconds kClockMargin{2};

std::string new_id() {
  constexpr char kDigits[] = "0123456789abcdef";
  thread_local std::random_device random;
  std::string id;
  while (id.size() < kIdLength) id += kDigits[random() % 16];
  return id;
}

/// Whether an object is older than a write. AWS states for an object of an upload when the upload began, which may be
/// before another one that it follows; so the time counts only if the write may replace any version.
bool is_older(const Headers& object, const WriteMarks::Mark& mark) {
  if (!mark.of.token.empty()) return header_value(object, "ETag") == mark.of.token;
  const auto modified = header_date(object, "Last-Modified");
  return modified && mark.begun && *modified + kClockMargin < *mark.begun;
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
  Mark mark{.id = new_id(), .header = {std::string(kHeader), {}}, .of = of};
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
  return {.id = id, .header = {std::string(kHeader), id + std::string(kUnknown)}};
}

WriteMarks::Found WriteMarks::find(const Headers& headers, const Mark& mark) {
  const std::string* const ids = find_header(headers, kHeader);
  const std::size_t at = ids != nullptr ? ids->find(mark.id) : std::string::npos;
  if (at == std::string::npos) {
    const bool may_follow = ids != nullptr && ids->ends_with(kUnknown) && !is_older(headers, mark);
    return may_follow ? Found::unknown : Found::nothing;
  }
  return at == 0 ? Found::version : Found::later_version;
}

}  // namespace sherd::remote
