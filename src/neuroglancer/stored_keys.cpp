// Lists of ids are merged without their values: however often a key moves, its value is read once. Merging sees all ids
// in order, so it detects repeated ones.
#include "neuroglancer/stored_keys.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "store/read_into.hpp"

namespace sherd {

Result<const StoredKey*> KeyStream::refill() {
  const std::size_t count = std::min<std::size_t>(buffer_.size(), where_.length / sizeof(StoredKey));
  const auto bytes = std::as_writable_bytes(std::span(buffer_).first(count));
  SHERD_TRY(read_into(*source_, where_.offset, bytes));
  where_ = {where_.offset + bytes.size(), where_.length - bytes.size()};
  ready_ = std::span(buffer_).first(count);
  next_ = 0;
  return ready_.data();
}

Result<void> KeyMerger::start() {
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) SHERD_TRY(push(stream));
  return {};
}

Result<void> KeyMerger::push(std::size_t stream) {
  SHERD_TRY(key, streams_[stream].peek());
  if (key == nullptr) return {};
  heads_.push_back({route_of(sharding_, key->id), *key, stream});
  streams_[stream].pop();
  std::push_heap(heads_.begin(), heads_.end());
  return {};
}

Result<void> KeyMerger::next(std::size_t most, std::vector<StoredKey>& into) {
  into.clear();
  while (into.size() < most && !heads_.empty()) {
    std::pop_heap(heads_.begin(), heads_.end());
    const Head head = heads_.back();
    heads_.pop_back();
    if (last_ == head.key.id) return given_twice(head.key.id);
    last_ = head.key.id;
    into.push_back(head.key);
    SHERD_TRY(push(head.stream));
  }
  return {};
}

Error given_twice(std::uint64_t id) {
  return invalid_argument("the id " + std::to_string(id) + " was given twice; a shard has one value of each id");
}

}  // namespace sherd
