// A store that is as slow as a remote one: every request takes an additional latency, and a limited number are in
// flight at a time. A request above that number waits until the earliest of them has been answered. Opening an object
// answers one request; the size and generation of an open object cost none. Requests are answered when their latency
// has passed, so one that takes long delays none but those that follow from its reply.
#include "store/delayed.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/call.hpp"
#include "base/try.hpp"
#include "store/forwarding.hpp"
#include "store/listing.hpp"
#include "store/reply.hpp"

namespace sherd {
namespace {

/// The times at which requests are answered.
class Line {
 public:
  Line(Latency latency, unsigned parallel, std::shared_ptr<DelayClock> clock)
      : latency_(latency), clock_(std::move(clock)), free_(std::max(1U, parallel)) {}

  [[nodiscard]] DelayClock& clock() const noexcept { return *clock_; }
  [[nodiscard]] unsigned parallel() const noexcept { return static_cast<unsigned>(free_.size()); }

  /// Sends requests and waits until all are answered. `unavailable` if the call that this thread works for is
  /// interrupted meanwhile.
  Result<void> wait(std::size_t requests = 1) {
    const auto answered = send(requests);
    return clock_->wait_until(answered);
  }

  /// Sends requests; returns when the last of them will be answered.
  DelayClock::Time send(std::size_t requests = 1) {
    const std::lock_guard hold(mutex_);
    DelayClock::Time last{};
    for (; requests > 0; --requests) {
      const auto earliest = std::ranges::min_element(free_);
      last = *earliest = std::max(*earliest, clock_->now()) + next_latency();
    }
    return last;
  }

 private:
  static constexpr std::uint64_t kTailOf = 100;

  std::chrono::microseconds next_latency() {
    const bool is_slow = latency_.tail > latency_.median && sent_++ % kTailOf == kTailOf / 2;
    return is_slow ? latency_.tail : latency_.median;
  }

  const Latency latency_;
  const std::shared_ptr<DelayClock> clock_;
  std::uint64_t sent_ = 0;
  std::mutex mutex_;
  std::vector<DelayClock::Time> free_;  ///< when each of the parallel requests is free again
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
  Result<void> read(ReadQueue& queue) override;
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    SHERD_TRY(writer, store_->write(key, hints));
    return std::make_unique<DelayedWriter>(std::move(writer), line_);
  }
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    SHERD_TRY(line_->wait());
    return store_->amend(key, amendment);
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
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

/// While there is a free slot, the queue is asked again after this time.
constexpr std::chrono::milliseconds kBetweenAsks{1};

Result<void> DelayedStore::read(ReadQueue& queue) {
  struct UnderWay {
    std::size_t number;
    ReadRequest request;
  };
  std::multimap<DelayClock::Time, UnderWay> under_way;  // by the time of the reply
  for (std::size_t asked = 0;;) {
    while (under_way.size() < line_->parallel()) {
      auto request = queue.next(under_way.empty());
      if (!request) break;
      under_way.emplace(line_->send(), UnderWay{asked++, *std::move(request)});
    }
    if (under_way.empty()) return {};
    SHERD_TRY(check_interrupted());
    const auto now = line_->clock().now();
    const auto next = under_way.begin();
    if (next->first > now) {
      const bool is_full = under_way.size() == line_->parallel();
      SHERD_TRY(line_->clock().wait_until(is_full ? next->first : std::min(next->first, now + kBetweenAsks)));
      continue;
    }
    const auto [number, request] = std::move(under_way.extract(next).mapped());
    auto answered = read_one(*store_, unwrapped<DelayedSource>(request));
    if (answered) wrap<DelayedSource>(*answered, request, line_);
    SHERD_TRY(queue.reply(number, std::move(answered)));
  }
}

}  // namespace

Result<void> DelayClock::wait_until(Time time) {
  for (auto at = now(); at < time; at = now()) {
    SHERD_TRY(check_interrupted());
    std::this_thread::sleep_for(std::min<Time::duration>(time - at, kBetweenPolls));
  }
  return {};
}

std::shared_ptr<Store> delayed_store(std::shared_ptr<Store> store, Latency latency, unsigned parallel,
                                     std::shared_ptr<DelayClock> clock) {
  return std::make_shared<DelayedStore>(std::move(store), std::make_shared<Line>(latency, parallel, std::move(clock)));
}

std::shared_ptr<Store> delayed_store(std::shared_ptr<Store> store, Latency latency, unsigned parallel) {
  return delayed_store(std::move(store), latency, parallel, std::make_shared<DelayClock>());
}

}  // namespace sherd
