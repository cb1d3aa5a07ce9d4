// A store as slow to answer as a remote one: every request takes a latency longer, and a number of them are under way
// at a time. One that finds no place waits until the earliest of those has been answered. What opens an object answers
// a request of its own; size and generation of what is open cost none.
#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "base/call.hpp"
#include "base/try.hpp"
#include "store/answer.hpp"
#include "store/forwarding.hpp"

namespace sherd {
namespace {

using Clock = std::chrono::steady_clock;

/// When requests are answered.
class Line {
 public:
  Line(std::chrono::microseconds latency, unsigned parallel) : latency_(latency), free_(std::max(1U, parallel)) {}

  [[nodiscard]] unsigned parallel() const noexcept { return static_cast<unsigned>(free_.size()); }

  /// Sends a request, and returns when it will be answered.
  [[nodiscard]] Clock::time_point send() {
    const std::lock_guard hold(mutex_);
    const auto place = std::ranges::min_element(free_);
    return *place = std::max(*place, Clock::now()) + latency_;
  }
  /// `unavailable` if the call that this thread works for is interrupted meanwhile.
  static Result<void> wait_until(Clock::time_point answered) {
    for (auto now = Clock::now(); now < answered; now = Clock::now()) {
      if (call_interrupted()) return unavailable("interrupted");
      std::this_thread::sleep_for(std::min<Clock::duration>(answered - now, kBetweenPolls));
    }
    return {};
  }
  Result<void> wait() { return wait_until(send()); }

 private:
  const std::chrono::microseconds latency_;
  std::mutex mutex_;
  std::vector<Clock::time_point> free_;  ///< when each place is free again
};

class DelayedSource final : public ByteSource {
 public:
  DelayedSource(std::shared_ptr<ByteSource> source, std::shared_ptr<Line> line)
      : source_(std::move(source)), line_(std::move(line)) {}

  [[nodiscard]] const std::string& name() const noexcept override { return source_->name(); }
  Result<std::uint64_t> size() override { return source_->size(); }
  Result<Generation> generation() override { return source_->generation(); }
  Result<void> read(std::span<const RangeRead> ranges) override {
    Clock::time_point last{};
    for (std::size_t i = 0; i < ranges.size(); ++i) last = std::max(last, line_->send());
    SHERD_TRY(Line::wait_until(last));
    return source_->read(ranges);
  }
  [[nodiscard]] const std::shared_ptr<ByteSource>& beneath() const noexcept { return source_; }

 private:
  std::shared_ptr<ByteSource> source_;
  std::shared_ptr<Line> line_;
};

class DelayedWriter final : public ObjectWriter {
 public:
  DelayedWriter(std::unique_ptr<ObjectWriter> writer, std::shared_ptr<Line> line)
      : writer_(std::move(writer)), line_(std::move(line)) {}

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return writer_->write(offset, bytes);
  }
  Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                    std::uint64_t to_offset) override {
    const auto* delayed = dynamic_cast<DelayedSource*>(&from);
    return writer_->copy(delayed ? *delayed->beneath() : from, from_offset, length, to_offset);
  }
  Result<void> link(const std::string& key) override { return writer_->link(key); }
  Result<void> commit(const Condition& condition) override {
    SHERD_TRY(line_->wait());
    return writer_->commit(condition);
  }
  [[nodiscard]] Generation committed() const override { return writer_->committed(); }

 private:
  std::unique_ptr<ObjectWriter> writer_;
  std::shared_ptr<Line> line_;
};

class DelayedStore final : public ForwardingStore {
 public:
  DelayedStore(std::shared_ptr<Store> store, std::chrono::microseconds latency, unsigned parallel)
      : ForwardingStore(std::move(store)), line_(std::make_shared<Line>(latency, parallel)) {}

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
  Result<std::unique_ptr<ObjectWriter>> amend(const std::string& key) override {
    SHERD_TRY(writer, store_->amend(key));
    return std::make_unique<DelayedWriter>(std::move(writer), line_);
  }
  Result<bool> erase(const std::string& key) override {
    SHERD_TRY(line_->wait());
    return store_->erase(key);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    SHERD_TRY(line_->wait());
    return store_->erase_prefix(prefix);
  }
  Result<Listing> list_dir(const std::string& prefix) override {
    SHERD_TRY(line_->wait());
    return store_->list_dir(prefix);
  }

 private:
  std::shared_ptr<Line> line_;
};

/// Requests that are under way together are answered in the opposite order, for callers must not rely on any.
Result<void> DelayedStore::read(std::span<const ReadRequest> requests, const OnReply& reply) {
  for (std::size_t first = 0, last = 0; first < requests.size(); first = last) {
    last = std::min<std::size_t>(first + line_->parallel(), requests.size());
    Clock::time_point answered{};
    for (std::size_t i = first; i < last; ++i) answered = std::max(answered, line_->send());
    SHERD_TRY(Line::wait_until(answered));
    for (std::size_t i = last; i-- > first;) {
      ReadRequest request = requests[i];
      if (const auto* delayed = dynamic_cast<DelayedSource*>(request.of.get())) request.of = delayed->beneath();
      auto answered_request = answer(*store_, request);
      if (answered_request && answered_request->source)
        answered_request->source = requests[i].of
                                       ? requests[i].of
                                       : std::make_shared<DelayedSource>(std::move(answered_request->source), line_);
      SHERD_TRY(reply(i, std::move(answered_request)));
    }
  }
  return {};
}

}  // namespace

std::shared_ptr<Store> delayed_store(std::shared_ptr<Store> store, std::chrono::microseconds latency,
                                     unsigned parallel) {
  return std::make_shared<DelayedStore>(std::move(store), latency, parallel);
}

}  // namespace sherd
