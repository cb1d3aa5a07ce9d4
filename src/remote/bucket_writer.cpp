#include "remote/bucket_writer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/try.hpp"
#include "store/read_into.hpp"

namespace sherd::remote {
namespace {

constexpr unsigned kEqualParts = 1000;
/// Of a part that is being filled, before it is given all of its memory.
constexpr std::size_t kGrowingBytes = std::size_t{1} << 20;
/// What is copied through memory is read in pieces of this size; if all of it must be in memory, in larger ones.
constexpr std::uint64_t kReadBytes = std::uint64_t{16} << 20, kReadBytesInMemory = std::uint64_t{128} << 20;

}  // namespace

Result<ObjectPart> part_at(std::uint64_t offset, std::uint64_t part_bytes) {
  std::uint64_t begin = 0;
  for (unsigned group = 0; group * kEqualParts < kMaxParts; ++group) {
    const std::uint64_t size = std::min(part_bytes << group, kMaxPart), end = begin + kEqualParts * size;
    if (offset < end) {
      const std::uint64_t at = (offset - begin) / size;
      return ObjectPart{static_cast<unsigned>(group * kEqualParts + at + 1), begin + at * size, size};
    }
    begin = end;
  }
  return unsupported("an object of an object store has at most " + std::to_string(begin) + " bytes in parts of " +
                     std::to_string(part_bytes) + "; the storage option part_bytes makes them larger");
}

BucketWriter::BucketWriter(std::shared_ptr<const BucketServer> server, std::string key, bool is_single,
                           std::uint64_t expected_size, std::shared_ptr<KeyHold> hold)
    : server_(std::move(server)),
      key_(std::move(key)),
      part_bytes_(is_single ? kMaxPart : server_->part_bytes),
      expected_size_(expected_size),
      hold_(std::move(hold), key_),
      upload_(*server_, key_) {}

Result<ObjectPart> BucketWriter::part(std::uint64_t offset) const { return part_at(offset, part_bytes_); }

Result<void> BucketWriter::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  SHERD_TRY(end, hold_.check_write(offset, bytes.size()));
  static_cast<void>(end);
  SHERD_TRY(settle_copy());
  auto added = add(offset, bytes).in_key(key_);
  has_failed_ = has_failed_ || !added;
  return added;
}

/// Whole parts are sent from where they are; others are collected.
Result<void> BucketWriter::add(std::uint64_t offset, std::span<const std::byte> bytes) {
  {
    const std::lock_guard guard(mutex_);
    end_ = std::max(end_, offset + bytes.size());
  }
  Parts whole;
  while (!bytes.empty()) {
    SHERD_TRY(at, part(offset));
    const std::size_t count = std::min<std::uint64_t>(bytes.size(), at.begin + at.size - offset);
    const bool may_be_all = at.number == 1 && bytes.size() == count;  // then it is stored by one request
    if (count == at.size && !may_be_all)
      whole.push_back({.number = at.number, .bytes = bytes.first(count)});
    else
      SHERD_TRY(fill(at, offset, bytes.first(count)));
    offset += count;
    bytes = bytes.subspan(count);
  }
  SHERD_TRY(send(whole));
  return send_complete(kPartsTogether);
}

Result<void> BucketWriter::fill(const ObjectPart& part, std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::lock_guard guard(mutex_);
  Filling& to = filling_.try_emplace(part.number, Filling{.part = part}).first->second;
  const std::size_t at = offset - part.begin, before = to.bytes->size();
  if (const std::size_t end = at + bytes.size(); end > before) {
    // Memory that is not touched costs nothing, unlike a block that grows, which is cleared and copied again and again.
    if (end > to.bytes->capacity() && end <= expected_size_ && expected_size_ <= server_->part_bytes)
      SHERD_TRY(to.bytes->grow(expected_size_));
    if (end > kGrowingBytes && end > to.bytes->capacity() && part.size <= server_->part_bytes)
      SHERD_TRY(to.bytes->grow(part.size));
    SHERD_TRY(to.bytes->grow(end));
    if (at > before) std::memset(to.bytes->data() + before, 0, at - before);
  }
  std::memcpy(to.bytes->data() + at, bytes.data(), bytes.size());
  to.filled += bytes.size();
  if (to.filled < part.size) return {};
  complete_.push_back(std::move(to));
  filling_.erase(part.number);
  return {};
}

Result<void> BucketWriter::send(const Parts& parts) {
  if (parts.empty()) return {};
  {
    const std::lock_guard guard(begin_mutex_);
    if (!upload_.has_begun()) SHERD_TRY(upload_.begin());
  }
  SHERD_TRY(upload_.send(parts));
  const std::lock_guard guard(mutex_);
  for (const auto& part : parts) sent_.insert(part.number);
  return {};
}

/// Sends the complete parts if there are so many.
Result<void> BucketWriter::send_complete(std::size_t at_least) {
  std::vector<Filling> all;
  {
    const std::lock_guard guard(mutex_);
    if (complete_.size() < at_least) return {};
    all = std::exchange(complete_, {});
  }
  Parts parts;
  for (const Filling& each : all) parts.push_back({.number = each.part.number, .bytes = each.bytes->span()});
  return send(parts);
}

Result<void> BucketWriter::copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                                std::uint64_t to_offset) {
  SHERD_TRY(hold_.check_write(to_offset, length));
  SHERD_TRY(size, from.size());
  if (from_offset > size || length > size - from_offset)
    return corrupt("a copy ends beyond the object's " + std::to_string(size) + " bytes").in_key(from.name());
  SHERD_TRY(settle_copy());
  const RemoteSource* const source = remote_beneath(from);
  const bool is_first = end_ == 0 && from_offset == 0 && to_offset == 0;
  if (is_first && source != nullptr && !from.view() && length == source->version().size && length > 0 &&
      length <= kMaxPart && copy_source(from, *server_)) {
    copied_ = std::make_shared<RemoteSource>(*source);
    return {};
  }
  auto copied = copy_now(from, from_offset, length, to_offset).in_key(key_);
  has_failed_ = has_failed_ || !copied;
  return copied;
}

Result<void> BucketWriter::settle_copy() {
  const std::lock_guard guard(copy_mutex_);
  if (!copied_) return {};
  const auto from = std::exchange(copied_, nullptr);
  return copy_now(*from, 0, from->version().size, 0);
}

Result<void> BucketWriter::copy_now(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                                    std::uint64_t to_offset) {
  const auto source = copy_source(from, *server_);
  Parts whole;
  {
    const std::lock_guard guard(mutex_);
    end_ = std::max(end_, to_offset + length);
  }
  while (length > 0) {
    SHERD_TRY(at, part(to_offset));
    const std::uint64_t count = std::min(length, at.begin + at.size - to_offset);
    if (count == at.size && source)
      whole.push_back({.number = at.number, .from = &*source, .range = {from_offset, count}});
    else
      SHERD_TRY(read_and_add(from, from_offset, count, to_offset));
    from_offset += count;
    to_offset += count;
    length -= count;
  }
  SHERD_TRY(send(whole));
  return source && !whole.empty() ? check_copied(*remote_beneath(from), *server_) : Result<void>();
}

Result<void> BucketWriter::read_and_add(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                                        std::uint64_t to_offset) {
  if (from.view()) return ObjectWriter::copy(from, from_offset, length, to_offset);
  SHERD_TRY(size, from.size());
  SHERD_TRY(generation, from.generation());
  if (size <= server_->part_bytes) {  // one request is not slower than several
    if (small_etag_.empty() || small_etag_ != generation.token) SHERD_TRY(read_into(from, {0, size}, small_source_));
    small_etag_ = generation.token;
    return add(to_offset, small_source_.span().subspan(from_offset, length));
  }
  Buffer block;
  for (std::uint64_t done = 0; done < length;) {
    const std::uint64_t count = std::min(length - done, part_bytes_ == kMaxPart ? kReadBytesInMemory : kReadBytes);
    SHERD_TRY(read_into(from, {from_offset + done, count}, block));
    SHERD_TRY(add(to_offset + done, block.span()));
    done += count;
  }
  return {};
}

Result<void> BucketWriter::commit(const Condition& condition) {
  SHERD_TRY(hold_.check_usable());
  Result<Generation> stored = io_error("an earlier write of this object has failed").in_key(key_);
  if (!has_failed_) stored = store(condition).in_key(key_);
  hold_.end();
  if (!stored) return std::move(stored).error();
  committed_ = *std::move(stored);
  return {};
}

/// Whether the object is the copy of another, and the server can make it on this condition. Where neither a copy nor
/// the end of an upload has one, one that must be new is sent by a conditional request, if it is small enough.
Result<bool> BucketWriter::may_be_copied(const Condition& condition) {
  if (!copied_ || condition.kind == Condition::Kind::matches) return false;
  if (condition.kind == Condition::Kind::always || copied_->version().size > server_->part_bytes) return true;
  SHERD_TRY(conditions, conditions_of(*server_));
  return conditions.on_new_copy || conditions.on_complete || !conditions.on_put;
}

/// Some servers copy objects without conditions only; as the only part of an upload, a copy can have one.
Result<Generation> BucketWriter::store_copy(const Condition& condition) {
  const CopySource from = *copy_source(*copied_, *server_);
  Ending ending = Ending::complete;
  if (condition.kind == Condition::Kind::absent) {
    SHERD_TRY(conditions, conditions_of(*server_));
    if (conditions.on_new_copy) ending = Ending::copy;
  }
  SHERD_TRY(headers, condition_headers(*server_, key_, condition, ending));
  if (headers.empty() || ending == Ending::copy) {
    SHERD_TRY(stored, copy_object(*server_, key_, from, std::move(headers)).in_key(copied_->name()));
    SHERD_TRY(check_copied(*copied_, *server_));
    return stored;
  }
  MultipartUpload upload(*server_, key_);
  SHERD_TRY(upload.begin());
  const MultipartUpload::Part all{.number = 1, .from = &from, .range = {0, copied_->version().size}};
  SHERD_TRY(upload.send({&all, 1}).in_key(copied_->name()));
  SHERD_TRY(check_copied(*copied_, *server_));
  return upload.end(condition);
}

Result<Generation> BucketWriter::store(const Condition& condition) {
  SHERD_TRY(by_server, may_be_copied(condition));
  if (by_server) {
    auto stored = store_copy(condition);
    if (stored || stored.error().code() == ErrorCode::conflict) return stored;
  }
  SHERD_TRY(settle_copy());
  const bool is_small = !upload_.has_begun() && end_ <= part_bytes_;
  if (!is_small) return store_parts(condition);
  std::span<const std::byte> bytes;
  if (!filling_.empty()) bytes = filling_.begin()->second.bytes->span();
  if (!complete_.empty()) bytes = complete_.front().bytes->span();
  return put_object(*server_, key_, bytes, condition);
}

/// Sends what is left. Of an incomplete part, the bytes that were not written are zeros.
Result<Generation> BucketWriter::store_parts(const Condition& condition) {
  SHERD_TRY(send_complete(1));
  Parts parts;
  Buffer zeros;
  for (std::uint64_t at = 0; at < end_;) {
    SHERD_TRY(each, part(at));
    const std::uint64_t size = std::min(each.size, end_ - each.begin);
    at = each.begin + each.size;
    if (sent_.contains(each.number)) continue;
    Filling& last = filling_.try_emplace(each.number, Filling{.part = each}).first->second;
    const std::uint64_t before = last.bytes->size();
    SHERD_TRY(last.bytes->grow(size));
    std::memset(last.bytes->data() + before, 0, size - before);
    parts.push_back({.number = each.number, .bytes = last.bytes->span()});
    if (parts.size() < kPartsTogether) continue;
    SHERD_TRY(send(std::exchange(parts, {})));
    filling_.clear();
  }
  SHERD_TRY(send(parts));
  return upload_.end(condition);
}

}  // namespace sherd::remote
