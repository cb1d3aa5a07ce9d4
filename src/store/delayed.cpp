// A store that is as slow as a remote one: every request takes an additional latency, and a limited number are in
// flight at a time. A request above that number waits until the earliest of them has been answered. Opening an object
// answers one request; the size and generation of an open object cost none.
#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "base/call.hpp"
#include "base/try.hpp"
#include "store/answer.hpp"
#include "store/forwarding.hpp"
#include "store/listing.hpp"

namespace sherd {
namespace {

using Clock = std::chrono::steady_clock;

/// The times at which requests are answered.
class Line {
 public:
  Line(std::chrono::microseconds latency, unsigned parallel) : latency_(latency), free_(std::max(1U, parallel)) {}

  [[nodiscard]] unsigned parallel() const noexcept { return static_cast<unsigned>(free_.size()); }

  /// Sends requests and waits until all are answered. `unavailable` if the call that this thread works for is
  /// interrupted meanwhile.
  Result<void> wait(std::size_t requests = 1) {
    const auto answered = send(requests);
    for (auto now = Clock::now(); now < answered; now = Clock::now()) {
      SHERD_TRY(check_interrupted());
      std::this_thread::sleep_for(std::min<Clock::duration>(answered - now, kBetweenPolls));
    }
    return {};
  }

 private:
  /// Returns when the last of them will be answered.
  Clock::time_point send(std::size_t requests) {
    const std::lock_guard hold(mutex_);
    Clock::time_point last{};
    for (; requests > 0; --requests) {
      const auto earliest = std::ranges::min_element(free_);
      last = *earliest = std::max(*earliest, Clock::now()) + latency_;
    }
    return last;
  }

  const std::chrono::microseconds latency_;
  std::mutex mutex_;
  std::vector<Clock::time_point> free_;  ///< when each of the parallel requests is free again
};

class DelayedSource final : public ForwardingSource {
 public:
  DelayedSource(std::shared_ptr<ByteSource> source, std::shared_ptr<Line> line)
      : ForwardingSource(std::move(source)), line_(std::move(line)) {}

  Result<void> read(std::span<const RangeRead> ranges) override {
    SHERD_TRY(line_->wait(ranges.size()));
    return source_->read(ranges);
  }

 private:
  std::shared_ptr<Line> line_;
};

class DelayedWriter final : public ForwardingWriter {
 public:
  DelayedWriter(std::unique_ptr<ObjectWriter> writer, std::shared_ptr<Line> line)
      : ForwardingWriter(std::move(writer)), line_(std::move(line)) {}

  Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                    std::uint64_t to_offset) override {
    return writer_->copy(unwrapped<DelayedSource>(from), from_offset, length, to_offset);
  }
  Result<void> commit(const Condition& condition) override {
    SHERD_TRY(line_->wait());
    return writer_->commit(condition);
  }

 private:
  std::shared_ptr<Line> line_;
};

class DelayedStore final : public ForwardingStore {
 public:
  DelayedStore(std::shared_ptr<Store> store, std::shared_ptr<Line> line)
      : ForwardingStore(std::move(store)), line_(std::move(line)) {}

  [[nodiscard]] StoreTraits traits() const noexcept override {
    StoreTraits traits = store_->traits();
    traits.parallel_requests = line_->parallel();
    return traits;
  }
  Result<std::shared_ptr<ByteSource>> open(const std::string& key) override {
    SHERD_TRY(line_->wait());
    SHERD_TRY(source, store_->open(key));
    if (source) source = std::make_shared<DelayedSource>(std::move(source), line_);
    return source;
  }
  Result<void> read(std::span<const ReadRequest> requests, const OnReply& reply) override;
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, std::uint64_t size_hint) override {
    SHERD_TRY(writer, store_->write(key, size_hint));
    return std::make_unique<DelayedWriter>(std::move(writer), line_);
  }
  Result<std::unique_ptr<ObjectWriter>> amend(const std::string& key, const Generation& of) override {
    SHERD_TRY(writer, store_->amend(key, of));
    return std::make_unique<DelayedWriter>(std::move(writer), line_);
  }
  Result<bool> erase(const std::string& key, const Condition& condition) override {
    SHERD_TRY(line_->wait());
    return store_->erase(key, condition);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    SHERD_TRY(line_->wait());
    return store_->erase_prefix(prefix);
  }
  Result<bool> move_at_once(const std::string& from, const std::string& to) override {
    SHERD_TRY(line_->wait());
    return ForwardingStore::move_at_once(from, to);
  }
  Result<void> move_all(const std::string& from, const std::string& to) override {
    SHERD_TRY(line_->wait());
    return ForwardingStore::move_all(from, to);
  }
  Result<bool> exchange(const std::string& from, const std::string& to) override {
    SHERD_TRY(line_->wait());
    return ForwardingStore::exchange(from, to);
  }
  Result<void> erase_all(std::span<const std::string> keys) override {
    SHERD_TRY(line_->wait(keys.size()));
    return store_->erase_all(keys);
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override;
  [[nodiscard]] Result<std::optional<ParentStore>> parent() const override {
    SHERD_TRY(parent, store_->parent());
    if (parent) parent->store = std::make_shared<DelayedStore>(std::move(parent->store), line_);
    return parent;
  }

 private:
  std::shared_ptr<Line> line_;
};

/// Each page is a request.
Result<bool> DelayedStore::visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) {
  SHERD_TRY(line_->wait());
  std::size_t visited = 0;
  return store_->visit(prefix, depth, [&](const ListEntry& entry) -> Result<bool> {
    if (visited > 0 && visited % kListPage == 0) SHERD_TRY(line_->wait());
    ++visited;
    return visit(entry);
  });
}

/// Requests in flight together are answered in reverse order, because callers must not rely on any order.
Result<void> DelayedStore::read(std::span<const ReadRequest> requests, const OnReply& reply) {
  for (std::size_t first = 0, last = 0; first < requests.size(); first = last) {
    last = std::min<std::size_t>(first + line_->parallel(), requests.size());
    SHERD_TRY(line_->wait(last - first));
    for (std::size_t i = last; i-- > first;) {
      auto answered = answer(*store_, unwrapped<DelayedSource>(requests[i]));
      if (answered) wrap<DelayedSource>(*answered, requests[i], line_);
      SHERD_TRY(reply(i, std::move(answered)));
    }
  }
  return {};
}

}  // namespace

std::shared_ptr<Store> delayed_store(std::shared_ptr<Store> store, std::chrono::microseconds latency,
                                     unsigned parallel) {
  return std::make_shared<DelayedStore>(std::move(store), std::make_shared<Line>(latency, parallel));
}

}  // namespace sherd
