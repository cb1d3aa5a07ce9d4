#include "remote/read_job.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "remote/reply_block.hpp"
#include "store/key.hpp"
#include "store/reply.hpp"

namespace sherd::remote {
namespace {

/// Longer ranges are read in several transfers: one connection seldom uses all of a network.
constexpr std::uint64_t kPartBytes = std::uint64_t{8} << 20;
/// Who reads so many bytes from the beginning, such as a document, most likely reads all of the object. Otherwise a
/// server would send what is not wanted, and the connection would have to be closed.
constexpr std::uint64_t kWholeBytes = std::uint64_t{16} << 20;

Part part_of(const ReadRequest& request) {
  const std::uint64_t length =
      request.into.empty() ? request.length : std::min<std::uint64_t>(request.length, request.into.size());
  if (request.length == 0) return {.kind = Part::Kind::head};
  if (request.from_end) return {.kind = Part::Kind::suffix, .length = length};
  if (request.offset == 0 && request.into.empty() && length >= kWholeBytes)
    return {.kind = Part::Kind::whole, .length = length};
  return {.kind = Part::Kind::range, .offset = request.offset, .length = length};
}

}  // namespace

ReadJob::ReadJob(std::shared_ptr<const Server> server, std::size_t number, ReadRequest request)
    : server_(std::move(server)),
      number_(number),
      request_(std::move(request)),
      key_(request_.of ? request_.of->name() : request_.key) {}

Result<std::vector<Transfer*>> ReadJob::begin() {
  if (request_.of) {
    const auto* const source = dynamic_cast<const RemoteSource*>(request_.of.get());
    if (source == nullptr) return invalid_argument("a source of another store").in_key(key_);
    return begin_range(*source);
  }
  SHERD_TRY(check_key(key_));
  parts_.push_back(std::make_unique<RangeTransfer>(*server_, key_, part_of(request_), std::nullopt, request_.into));
  return std::vector<Transfer*>{parts_.back().get()};
}

Result<std::vector<Transfer*>> ReadJob::begin_range(const RemoteSource& source) {
  if (source.view()) {
    SHERD_TRY(held, reply_from(request_.of, request_));
    held_ = std::move(held);
    return std::vector<Transfer*>();
  }
  const Version& version = source.version();
  SHERD_TRY(range, range_of(request_, version.size).in_key(key_));
  if (range.length == 0) return std::vector<Transfer*>();
  into_ = request_.into.first(std::min<std::uint64_t>(request_.into.size(), range.length));
  if (into_.empty()) {
    SHERD_TRY(block, reply_block(range.length).in_key(key_));
    block_ = std::move(block);
    into_ = {block_.get(), range.length};
  }
  std::vector<Transfer*> all;
  for (std::uint64_t done = 0; done < range.length; done += kPartBytes) {
    const std::uint64_t length = std::min(kPartBytes, range.length - done);
    parts_.push_back(std::make_unique<RangeTransfer>(
        *server_, key_, Part{.kind = Part::Kind::range, .offset = range.offset + done, .length = length}, version,
        into_.subspan(done, length)));
    all.push_back(parts_.back().get());
  }
  return all;
}

bool ReadJob::has_ended() const noexcept { return std::ranges::all_of(parts_, &RangeTransfer::has_ended); }

Result<ReadReply> ReadJob::reply() {
  if (held_) return *std::move(held_);
  ReadReply reply{.source = request_.of, .offset = request_.offset, .bytes = into_, .owner = block_, .requests = 0};
  for (const auto& part : parts_) {
    SHERD_TRY(exists, part->outcome());
    reply.requests += part->requests();
    reply.retries += part->retries();
    if (!exists) return ReadReply{.requests = reply.requests, .retries = reply.retries};
  }
  if (request_.of) {
    reply.requests = std::max(reply.requests, 1U);
    return reply;
  }
  RangeTransfer& part = *parts_.front();
  reply.offset = request_.length > 0 ? part.offset() : std::min(request_.offset, part.version().size);
  reply.bytes = part.bytes();
  std::shared_ptr<const Buffer> whole;
  if (part.has_whole()) whole = std::make_shared<Buffer>(std::move(part.buffer()));
  reply.source = std::make_shared<RemoteSource>(server_, key_, part.version(), whole);
  if (part.block())
    reply.owner = part.block();
  else
    reply.owner = std::move(whole);
  return reply;
}

}  // namespace sherd::remote
