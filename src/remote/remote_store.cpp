#include "remote/remote_store.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/call.hpp"
#include "base/try.hpp"
#include "remote/read_job.hpp"
#include "store/key.hpp"
#include "store/listing.hpp"
#include "store/reply.hpp"

namespace sherd::remote {
namespace {

/// Of a page of a list.
constexpr std::uint64_t kMaxPageBytes = std::uint64_t{16} << 20;
/// So many pages in a row may be empty: a server that passes over erased objects sends some.
constexpr unsigned kMaxEmptyPages = 100;
/// While there is a free slot, the queue is asked again after this time.
constexpr std::chrono::milliseconds kBetweenAsks{2};
constexpr std::uint64_t kTailReadBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kCoalesceGap = std::uint64_t{64} << 10;

/// Reads of one queue.
class Reader {
 public:
  Reader(const std::shared_ptr<const Server>& server, ReadQueue& queue)
      : server_(server), queue_(queue), transfers_(server->connection) {}

  Result<void> run() {
    for (;;) {
      SHERD_TRY(ask());
      if (jobs_.empty()) return {};
      const bool is_full = transfers_.count() >= server_->connection.parallel_requests;
      SHERD_TRY(transfers_.advance(is_full ? kBetweenPolls : kBetweenAsks));
      SHERD_TRY(answer());
    }
  }

 private:
  Result<void> ask() {
    while (transfers_.count() < server_->connection.parallel_requests) {
      auto request = queue_.next(jobs_.empty());
      if (!request) return {};
      auto job = std::make_unique<ReadJob>(server_, asked_++, *std::move(request));
      auto transfers = job->begin();
      if (!transfers) {
        SHERD_TRY(queue_.reply(job->number(), std::move(transfers).error()));
        continue;
      }
      for (Transfer* const transfer : *transfers) transfers_.start(*transfer);
      jobs_.push_back(std::move(job));
      if (transfers->empty()) SHERD_TRY(answer());
    }
    return {};
  }

  Result<void> answer() {
    std::vector<std::unique_ptr<ReadJob>> ended;
    for (auto& job : jobs_)
      if (job->has_ended()) ended.push_back(std::move(job));
    std::erase(jobs_, nullptr);
    for (const auto& job : ended) SHERD_TRY(queue_.reply(job->number(), job->reply()));
    return {};
  }

  const std::shared_ptr<const Server>& server_;
  ReadQueue& queue_;
  std::size_t asked_ = 0;
  std::vector<std::unique_ptr<ReadJob>> jobs_;
  Transfers transfers_;
};

/// Ranges of one version.
class RangesQueue final : public ReadQueue {
 public:
  RangesQueue(std::shared_ptr<ByteSource> of, std::span<const RangeRead> ranges)
      : of_(std::move(of)), ranges_(ranges) {}

  std::optional<ReadRequest> next(bool /*is_last*/) override {
    if (next_ == ranges_.size()) return std::nullopt;
    const RangeRead& range = ranges_[next_++];
    return ReadRequest{.of = of_, .offset = range.offset, .length = range.into.size(), .into = range.into};
  }
  Result<void> reply(std::size_t /*number*/, Result<ReadReply> reply) override {
    return reply ? Result<void>() : std::move(reply).error();
  }

 private:
  const std::shared_ptr<ByteSource> of_;
  const std::span<const RangeRead> ranges_;
  std::size_t next_ = 0;
};

}  // namespace

StoreTraits RemoteStore::traits() const noexcept {
  return {.coalesce_gap = kCoalesceGap,
          .tail_read_bytes = kTailReadBytes,
          .parallel_requests = std::max(2U, server_->connection.parallel_requests),
          .read_only = true,
          .can_list = server_->service->can_list(),
          .sorted_lists = server_->service->sorts_lists(),
          .max_key_bytes = 1024};
}

Result<std::optional<ParentStore>> RemoteStore::parent() const {
  auto above = server_->service->parent();
  if (!above) return std::optional<ParentStore>();
  return std::optional(
      ParentStore{remote_store(std::move(above->service), server_->connection), std::move(above->name)});
}

Result<void> RemoteStore::read(ReadQueue& queue) { return Reader(server_, queue).run(); }

Result<ListPage> RemoteStore::page(const std::string& prefix, ListDepth depth, const std::string& from) {
  Service& service = *server_->service;
  const auto make = [&] { return service.list_request(prefix, depth, from); };
  const auto judge = [&](const HttpReply& reply) -> Verdict {
    return reply.status == 200 ? Verdict{.next = Verdict::Next::done} : service.judge(reply, Access::list);
  };
  SHERD_TRY(reply, fetch(server_->connection, make, judge, kMaxPageBytes).in_key(prefix));
  if (reply.status != 200) return not_found("the bucket does not exist").in_key(prefix);
  return service.parse_list(reply.body, prefix);
}

/// How far a page of a list goes. Some servers sort keys by their bytes, others by directories: a/b before a-b.
struct Progress {
  std::string by_bytes, by_directories;

  void reach(const std::string& key) {
    by_bytes = std::max(by_bytes, key);
    std::string directories = key;
    std::ranges::replace(directories, '/', '\0');
    by_directories = std::max(by_directories, directories);
  }
  [[nodiscard]] bool is_beyond(const Progress& other) const {
    return by_bytes > other.by_bytes || by_directories > other.by_directories;
  }
};

static Progress progress_of(const ListPage& page) {
  Progress progress;
  for (const ListPage::Object& object : page.objects) progress.reach(object.key);
  for (const std::string& prefix : page.prefixes) progress.reach(prefix);
  return progress;
}

Result<bool> RemoteStore::visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) {
  SHERD_TRY(check_prefix(prefix));
  if (!server_->service->can_list()) return cannot_list(*this);
  Progress last;
  unsigned empty_pages = 0;
  for (std::string from;;) {
    SHERD_TRY(page, this->page(prefix, depth, from));
    const bool is_empty = page.objects.empty() && page.prefixes.empty();
    const Progress before = is_empty ? last : std::exchange(last, progress_of(page));
    empty_pages = is_empty ? empty_pages + 1 : 0;
    for (const ListPage::Object& object : page.objects) {
      if (!object.key.starts_with(prefix) || object.key.size() == prefix.size() || object.key.ends_with('/')) continue;
      SHERD_TRY(more, visit({.name = std::string_view(object.key).substr(prefix.size()),
                             .size = object.size,
                             .generation = object.generation.token,
                             .modified = object.modified}));
      if (!more) return false;
    }
    for (const std::string& each : page.prefixes) {
      if (!each.starts_with(prefix) || each.size() <= prefix.size() + 1) continue;
      const std::string_view name = std::string_view(each).substr(prefix.size());
      SHERD_TRY(more, visit({.name = name.substr(0, name.size() - 1), .is_prefix = true}));
      if (!more) return false;
    }
    if (page.next.empty()) return true;
    // Lists are in order, so one that never ends has the same names again, even if its tokens are new.
    if (page.next == from || (is_empty ? empty_pages > kMaxEmptyPages : !last.is_beyond(before)))
      return io_error("the server's list does not advance").in_key(prefix);
    from = std::move(page.next);
  }
}

Result<void> RemoteSource::read(std::span<const RangeRead> ranges) {
  if (whole_) {
    for (const auto& [offset, into] : ranges) {
      SHERD_TRY(check_range(offset, into.size(), whole_->size()).in_key(key_));
      if (!into.empty()) std::memcpy(into.data(), whole_->data() + offset, into.size());
    }
    return {};
  }
  const auto self = std::shared_ptr<ByteSource>(std::shared_ptr<void>(), this);  // the caller keeps it
  RangesQueue queue(self, ranges);
  return Reader(server_, queue).run();
}

Generation Version::generation() const {
  if (!etag.empty() && !etag.starts_with("W/")) return {etag};
  if (modified.empty() && etag.empty()) return {};
  return {etag + " " + modified + " " + std::to_string(size)};
}

std::shared_ptr<Store> remote_store(std::shared_ptr<Service> service, const Connection& connection) {
  return std::make_shared<RemoteStore>(std::make_shared<const Server>(Server{std::move(service), connection}));
}

}  // namespace sherd::remote
