// Where the data of a member begin is known only from its local header. Until that has been read, requests are for
// where they probably begin, and are repeated if that was wrong.
#include "store/zip_queue.hpp"

#include <cstring>
#include <utility>

#include "base/try.hpp"
#include "store/reply.hpp"

namespace sherd {

struct ZipQueue::Job {
  std::size_t number = 0;
  ReadRequest request;
  std::shared_ptr<ByteSource> of;  ///< `source`, as it is returned
  ZipSource* source = nullptr;
  Extent range;            ///< of the member as it is stored: all of it if it is decoded
  std::uint64_t data = 0;  ///< where the data begin in the archive, or probably do
  bool is_located = false;
  int due = 0;  ///< replies
  ReadReply header, bytes;
  bool ended = false;  ///< it failed while another reply was due
};

std::optional<ReadRequest> ZipQueue::next(bool is_last) {
  while (outcome_) {
    if (!ready_.empty()) {
      auto [sent, request] = std::move(ready_.front());
      ready_.pop_front();
      sent_.emplace(sent_count_++, std::move(sent));
      return std::move(request);
    }
    const auto request = queue_.next(is_last);
    if (!request) break;
    outcome_ = begin(asked_++, *request);
  }
  return std::nullopt;
}

Result<void> ZipQueue::reply(std::size_t number, Result<ReadReply> reply) {
  if (!outcome_) return outcome_;
  const Sent sent = std::move(sent_.extract(number).mapped());
  Job& job = *sent.job;
  if (job.ended) return {};
  auto received = reply ? receive(sent.job, sent.part, *reply) : Result<void>(std::move(reply).error());
  if (received) return job.ended ? outcome_ : received;
  job.ended = true;
  return queue_.reply(job.number, std::move(received).error().in_key(job.source->name()));
}

/// Answers the request, or puts requests for the archive into ready_. Fails only if the inner queue does.
Result<void> ZipQueue::begin(std::size_t number, const ReadRequest& request) {
  auto job = std::make_shared<Job>();
  job->number = number;
  job->request = request;
  const auto opened = [&]() -> Result<bool> {
    job->of = request.of;
    if (!request.of) {
      SHERD_TRY(found, find_(request.key));
      job->of = std::move(found);
    }
    job->source = dynamic_cast<ZipSource*>(job->of.get());
    if (job->source == nullptr || job->source->view()) return false;
    SHERD_TRY(range, range_of(request, job->source->member().size).in_key(job->of->name()));
    job->range = range;
    return range.length > 0;
  }();
  if (!opened.has_value()) return queue_.reply(number, opened.error());
  if (!*opened) return queue_.reply(number, reply_from(std::move(job->of), request));
  if (dynamic_cast<ZipDecodedSource*>(job->source) != nullptr) job->range = {0, job->source->member().stored};
  ask(job);
  return {};
}

void ZipQueue::ask(const std::shared_ptr<Job>& job) {
  const ZipMember& member = job->source->member();
  if (const auto data = job->source->archive().data_offset(member)) {
    job->is_located = true;
    return ask_data(job, *data);
  }
  const std::uint64_t header_bytes = ZipArchive::likely_header_bytes(member);
  job->data = member.header + header_bytes;
  if (job->range.offset <= coalesce_gap_) {
    return send(job, Part::both, {.offset = member.header, .length = header_bytes + job->range.end()});
  }
  send(job, Part::header, {.offset = member.header, .length = header_bytes});
  ask_data(job, job->data);
}

void ZipQueue::ask_data(const std::shared_ptr<Job>& job, std::uint64_t data) {
  job->data = data;
  const bool is_decoded = dynamic_cast<ZipDecodedSource*>(job->source) != nullptr;
  const auto into =
      is_decoded || job->request.into.empty() ? std::span<std::byte>() : job->request.into.first(job->range.length);
  send(job, Part::data, {.offset = data + job->range.offset, .length = job->range.length, .into = into});
}

void ZipQueue::send(const std::shared_ptr<Job>& job, Part part, ReadRequest request) {
  request.of = job->source->archive().source();
  ++job->due;
  ready_.emplace_back(Sent{job, part}, std::move(request));
}

Result<void> ZipQueue::receive(const std::shared_ptr<Job>& job, Part part, const ReadReply& reply) {
  --job->due;
  if (part != Part::data) job->header = reply;
  if (part != Part::header) job->bytes = reply;
  return job->due == 0 ? arrived(job) : Result<void>{};
}

/// All bytes that were asked for have arrived: if they are the right ones, answers the request.
Result<void> ZipQueue::arrived(const std::shared_ptr<Job>& job) {
  ReadReply& bytes = job->bytes;
  if (!job->is_located) {
    SHERD_TRY(data, job->source->archive().locate(job->source->member(), job->header.bytes));
    job->is_located = true;
    const std::uint64_t begin = data + job->range.offset;
    const bool has_all = begin >= bytes.offset && begin + job->range.length <= bytes.offset + bytes.bytes.size();
    if (!has_all) return ask_data(job, data), Result<void>{};
    // Only what was read with the header may be more than what is wanted.
    bytes.bytes = bytes.bytes.subspan(begin - bytes.offset, job->range.length);
    bytes.offset = begin;
  }
  return finish(*job, bytes);
}

Result<void> ZipQueue::finish(Job& job, const ReadReply& bytes) {
  if (auto* const decoded = dynamic_cast<ZipDecodedSource*>(job.source)) {
    SHERD_TRY(decoded->decode(bytes.bytes));
    job.ended = true;
    outcome_ = queue_.reply(job.number, reply_from(std::move(job.of), job.request));
    return {};
  }
  if (auto* const stored = dynamic_cast<ZipStoredSource*>(job.source))
    SHERD_TRY(stored->has_read(job.range.offset, bytes.bytes));
  ReadReply reply{.offset = job.range.offset, .bytes = bytes.bytes, .owner = bytes.owner};
  if (const auto into = job.request.into; !into.empty() && bytes.bytes.data() != into.data()) {
    std::memcpy(into.data(), bytes.bytes.data(), bytes.bytes.size());
    reply.bytes = into.first(bytes.bytes.size());
    reply.owner.reset();
  }
  job.ended = true;
  reply.source = std::move(job.of);
  outcome_ = queue_.reply(job.number, std::move(reply));
  return {};
}

}  // namespace sherd
