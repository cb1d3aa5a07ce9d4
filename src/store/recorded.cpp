// The store that counts requests. A request to read is one `get`, whether or not it opens its object, and so is a read
// of an open one; but an object that is opened without reading any of it is listed with its first read. A list is one
// `list`, however many pages it has. A committed object is one `put` of all its bytes, including copied ones: bytes
// copied inside a store are written, but not read; an amended object is a `put` of the changed bytes. `erase` and
// `list` count once each, even if they find nothing; a list that the store does not have is not counted. Locks, sizes
// and generations are not requests. If a server is sent more than that, such as pages of a list, the parts of an
// upload, or a look at a version, this is added to the number of requests. Stores around this one count, too. A store
// that this recorder counts already, below any wrapper, is unchanged, because nodes are opened from handles; so is an
// archive in such a store, whose requests are those of the archive's object.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/try.hpp"
#include "store/forwarding.hpp"
#include "store/request_count.hpp"

namespace sherd {
namespace {

/// Counts the requests of an operation: those that are named, and what else this thread sends to a server meanwhile.
/// Its chain of requests (Recorder::Stats::round_trips) continues the longest one that was answered before it began, so
/// that operations of several threads that overlap in time are counted once.
class Sending {
 public:
  explicit Sending(Recorder& recorder) : recorder_(recorder) {}
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;
  ~Sending() {
    answered(1);
    const RequestCount now = std::exchange(requests_of_thread(), before_);  // they are not those of an operation around
    const RequestCount sent{now.requests - before_.requests, now.retries - before_.retries};
    recorder_.repeated(sent.requests - std::min(sent.requests, counted_.requests),
                       sent.retries - std::min(sent.retries, counted_.retries));
  }

  void request(std::string_view op, const std::string& key, std::uint64_t offset, std::uint64_t length) {
    recorder_.request(op, key, offset, length);
    ++counted_.requests;
  }
  void repeated(std::uint64_t requests, std::uint64_t retries) {
    recorder_.repeated(requests, retries);
    counted_.requests += requests;
    counted_.retries += retries;
  }
  /// A request was answered that is the last of `chain` requests of this operation. An object that is opened without a
  /// request adds none.
  void answered(std::uint64_t chain) {
    const std::uint64_t sent = requests_of_thread().requests - before_.requests;
    recorder_.answered(round_trips_before_ + std::min(chain, std::max(sent, counted_.requests)));
  }

 private:
  Recorder& recorder_;
  const std::uint64_t round_trips_before_ = recorder_.stats().round_trips;
  const RequestCount before_ = requests_of_thread();
  RequestCount counted_;
};

class RecordedSource final : public ForwardingSource {
 public:
  RecordedSource(std::shared_ptr<ByteSource> source, std::shared_ptr<Recorder> recorder)
      : ForwardingSource(std::move(source)), recorder_(std::move(recorder)) {}

  Result<void> read(std::span<const RangeRead> ranges) override {
    Sending sending(*recorder_);
    for (const auto& range : ranges) sending.request("get", name(), range.offset, range.into.size());
    return source_->read(ranges);
  }

 private:
  std::shared_ptr<Recorder> recorder_;
};

/// Counts the replies to the requests of a queue.
class RecordedQueue final : public ReadQueue {
 public:
  RecordedQueue(ReadQueue& queue, const std::shared_ptr<Recorder>& recorder)
      : queue_(queue), recorder_(recorder), sending_(*recorder) {}

  std::optional<ReadRequest> next(bool is_last) override {
    auto request = queue_.next(is_last);
    waits_ = !request;
    if (!request) return std::nullopt;
    if (const auto followed = std::exchange(followed_, std::nullopt)) round_ = *followed + 1;
    ReadRequest beneath = unwrapped<RecordedSource>(*request);
    under_way_.emplace(asked_++, Asked{*std::move(request), round_});
    return beneath;
  }
  Result<void> reply(std::size_t number, Result<ReadReply> reply) override {
    const auto node = under_way_.extract(number);
    if (waits_) followed_ = std::min(followed_.value_or(node.mapped().round), node.mapped().round);
    if (reply) count(node.mapped().request, *reply);
    sending_.answered(node.mapped().round);
    return queue_.reply(number, std::move(reply));
  }

 private:
  void count(const ReadRequest& request, ReadReply& reply) {
    const bool is_open = !request.of && reply.source && request.length == 0;
    if (!is_open)
      sending_.request("get", request.of ? request.of->name() : request.key, reply.offset, reply.bytes.size());
    sending_.repeated(reply.requests - 1, reply.retries);
    wrap<RecordedSource>(reply, request, recorder_);
  }

  struct Asked {
    ReadRequest request;
    std::uint64_t round;  ///< how many round trips end with its reply
  };

  ReadQueue& queue_;
  const std::shared_ptr<Recorder>& recorder_;
  Sending sending_;
  std::size_t asked_ = 0;
  std::unordered_map<std::size_t, Asked> under_way_;
  // A request that comes after the queue had none depends on a reply since then. If there are several, it is one of
  // those that took the fewest round trips: others may have come earlier by chance.
  std::uint64_t round_ = 0;
  bool waits_ = true;
  std::optional<std::uint64_t> followed_ = 0;  ///< the round trips of that reply
};

class RecordedWriter final : public ForwardingWriter {
 public:
  RecordedWriter(std::unique_ptr<ObjectWriter> writer, std::string key, std::shared_ptr<Recorder> recorder)
      : ForwardingWriter(std::move(writer)), key_(std::move(key)), recorder_(std::move(recorder)) {}

  Result<void> write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    const Sending sending(*recorder_);
    SHERD_TRY(writer_->write(offset, bytes));
    written_ += bytes.size();
    return {};
  }
  Result<void> copy(ByteSource& from, std::uint64_t from_offset, std::uint64_t length,
                    std::uint64_t to_offset) override {
    const Sending sending(*recorder_);
    SHERD_TRY(writer_->copy(unwrapped<RecordedSource>(from), from_offset, length, to_offset));
    written_ += length;
    return {};
  }
  Result<void> commit(const Condition& condition) override {
    Sending sending(*recorder_);
    SHERD_TRY(writer_->commit(condition));
    sending.request("put", key_, 0, written_);
    return {};
  }

 private:
  std::string key_;
  std::shared_ptr<Recorder> recorder_;
  std::atomic<std::uint64_t> written_{0};
};

class RecordedStore final : public ForwardingStore {
 public:
  RecordedStore(std::shared_ptr<Store> store, std::shared_ptr<Recorder> recorder)
      : ForwardingStore(std::move(store)), recorder_(std::move(recorder)) {}

  Result<void> read(ReadQueue& queue) override {
    RecordedQueue recorded(queue, recorder_);
    return store_->read(recorded);
  }
  Result<std::unique_ptr<ObjectWriter>> write(const std::string& key, const WriteHints& hints) override {
    const Sending sending(*recorder_);
    SHERD_TRY(writer, store_->write(key, hints));
    return std::make_unique<RecordedWriter>(std::move(writer), key, recorder_);
  }
  Result<Generation> amend(const std::string& key, const Amendment& amendment) override {
    Sending sending(*recorder_);
    SHERD_TRY(generation, store_->amend(key, amendment));
    std::uint64_t written = 0;
    for (const auto& bytes : amendment.appended) written += bytes.size();
    for (const auto& each : amendment.overwrites) written += each.bytes.size();
    sending.request("put", key, 0, written);
    return generation;
  }
  Result<std::unique_ptr<StoreLock>> lock(const std::string& key) override {
    const Sending sending(*recorder_);
    return store_->lock(key);
  }
  Result<Erased> erase(const std::string& key, const Condition& condition) override {
    Sending sending(*recorder_);
    sending.request("erase", key, 0, 0);
    return store_->erase(key, condition);
  }
  Result<void> erase_prefix(const std::string& prefix) override {
    Sending sending(*recorder_);
    sending.request("erase", prefix, 0, 0);
    return store_->erase_prefix(prefix);
  }
  Result<bool> move_at_once(const std::string& from, const std::string& to) override {
    SHERD_TRY(moved, ForwardingStore::move_at_once(from, to));
    if (moved) recorder_->request("move", from, 0, 0);
    return moved;
  }
  Result<void> move_all(const std::string& from, const std::string& to) override {
    recorder_->request("move", from, 0, 0);
    return ForwardingStore::move_all(from, to);
  }
  Result<bool> exchange(const std::string& from, const std::string& to) override {
    SHERD_TRY(exchanged, ForwardingStore::exchange(from, to));
    if (exchanged) recorder_->request("move", from, 0, 0);
    return exchanged;
  }
  [[nodiscard]] std::shared_ptr<ByteSource> listed(const std::string& key, std::uint64_t size,
                                                   const Generation& generation) const override {
    auto source = listed_beneath(key, size, generation);
    return source ? std::make_shared<RecordedSource>(std::move(source), recorder_) : nullptr;
  }
  Result<void> erase_all(std::span<const std::string> keys) override {
    Sending sending(*recorder_);
    for (const std::string& key : keys) sending.request("erase", key, 0, 0);
    return store_->erase_all(keys);
  }
  Result<bool> visit(const std::string& prefix, ListDepth depth, const OnEntry& visit) override {
    Sending sending(*recorder_);
    if (store_->traits().can_list) sending.request("list", prefix, 0, 0);
    return store_->visit(prefix, depth, visit);
  }
  [[nodiscard]] Result<std::optional<ParentStore>> parent() const override {
    SHERD_TRY(parent, store_->parent());
    if (parent) parent->store = recorded_store(std::move(parent->store), recorder_);
    return parent;
  }

  [[nodiscard]] const std::shared_ptr<Recorder>& recorder() const noexcept { return recorder_; }

 private:
  std::shared_ptr<Recorder> recorder_;
};

bool is_counted(const Store& store, const std::shared_ptr<Recorder>& recorder) {
  if (const auto* archive = dynamic_cast<const ArchiveStore*>(&store)) return is_counted(archive->outer(), recorder);
  const auto* wrapper = dynamic_cast<const ForwardingStore*>(&store);
  if (wrapper == nullptr) return false;
  const auto* recorded = dynamic_cast<const RecordedStore*>(wrapper);
  return (recorded != nullptr && recorded->recorder() == recorder) || is_counted(wrapper->beneath(), recorder);
}

}  // namespace

void Recorder::start() {
  const std::lock_guard guard(mutex_);
  begins_.push_back(log_.size());
  keeping_ = true;
}

std::vector<Recorder::Request> Recorder::stop() {
  const std::lock_guard guard(mutex_);
  if (begins_.empty()) return {};
  const auto begin = log_.begin() + static_cast<std::ptrdiff_t>(begins_.back());
  begins_.pop_back();
  if (!begins_.empty()) return {begin, log_.end()};
  keeping_ = false;
  return std::exchange(log_, {});
}

Recorder::Stats Recorder::stats() const noexcept {
  return {.requests = requests_,
          .bytes_read = bytes_read_,
          .bytes_written = bytes_written_,
          .chunks_decoded = chunks_decoded,
          .chunks_encoded = chunks_encoded,
          .chunks_moved = chunks_moved,
          .retries = retries_,
          .round_trips = round_trips_};
}

void Recorder::updated(std::string_view how, std::string_view why) {
  std::string name(how);
  if (!why.empty()) name.append(": ").append(why);
  const std::lock_guard guard(mutex_);
  ++updates_[name];
}

std::map<std::string, std::uint64_t> Recorder::updates() const {
  const std::lock_guard guard(mutex_);
  return updates_;
}

void Recorder::answered(std::uint64_t round_trips) noexcept {
  std::uint64_t before = round_trips_;
  while (before < round_trips && !round_trips_.compare_exchange_weak(before, round_trips)) {
  }
}

void Recorder::repeated(std::uint64_t requests, std::uint64_t retries) noexcept {
  requests_ += requests;
  retries_ += retries;
}

void Recorder::request(std::string_view op, const std::string& key, std::uint64_t offset, std::uint64_t length) {
  ++requests_;
  if (op == "get") bytes_read_ += length;
  if (op == "put") bytes_written_ += length;
  if (!keeping_ && !visit_) return;
  const std::lock_guard guard(mutex_);
  if (visit_) visit_({std::string(op), key, offset, length});
  if (!begins_.empty()) log_.push_back({std::string(op), key, offset, length});
}

std::shared_ptr<Store> recorded_store(std::shared_ptr<Store> store, std::shared_ptr<Recorder> recorder) {
  if (is_counted(*store, recorder)) return store;
  return std::make_shared<RecordedStore>(std::move(store), std::move(recorder));
}

}  // namespace sherd
