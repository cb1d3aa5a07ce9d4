// The calling thread sends batches of requests and passes replies to the pool. A batch contains everything that has
// been requested by then: the runs and indexes of planned objects, then the first reads of further objects. Before the
// next batch all replies are planned, which takes little time, so that a level of nesting costs one batch; decoding
// continues meanwhile.
#include "array/read_objects.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "array/arriving.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kObjectsAtOnce = 4096;

class Reading {
 public:
  Reading(const ObjectsRead& call, std::uint64_t count,
          const std::function<std::unique_ptr<ObjectRead>(std::uint64_t)>& make)
      : call_(call), count_(count), make_(make), budget_(call.config.memory_budget / 2), tasks_(call.config) {}

  Result<void> run() {
    while (!tasks_.failed()) {
      admit();
      tasks_.help_until([&] { return planning_ == 0; });
      auto batch = next_batch();
      if (!batch.empty()) {
        auto sent = send(batch);
        if (sent) continue;
        SHERD_TRY(tasks_.finish());  // the cause, if a task has failed
        return sent;
      }
      if (active_ == 0 && next_ == count_) break;
      const std::size_t before = running_;
      tasks_.help_until([&] { return running_ < before || running_ == 0; });
    }
    return tasks_.finish();
  }

 private:
  struct Object {
    explicit Object(std::atomic<std::uint64_t>& in_memory) : in_use(in_memory) {}
    ~Object() { in_use -= held; }

    std::unique_ptr<ObjectRead> read;
    std::shared_ptr<ArrivingSource> source;
    std::vector<Run> runs;
    std::size_t awaited = 0;           // replies needed before it is planned again
    std::atomic<std::size_t> left{0};  // runs that have not been taken, and other replies
    std::atomic<bool> replaced{false};
    std::atomic<std::uint64_t>& in_use;
    std::uint64_t held = 0;  // bytes that the source has
    std::mutex mutex;        // guards the failure
    std::optional<Error> failure;

    void fail(Error error) {
      const std::lock_guard hold(mutex);
      if (!failure) failure = std::move(error);
    }
  };
  using ObjectPtr = std::shared_ptr<Object>;

  struct Ask {
    enum class Kind : std::uint8_t { open, other, part, run, confirm };
    ObjectPtr object;
    Kind kind;
    ReadRequest request;
    std::size_t run = 0;
  };

  static std::string version_name(const std::string& key) { return key + "@version"; }

  // Many at a time, so that batches are large.
  void admit() {
    if (active_ > kObjectsAtOnce / 2) return;
    while (next_ < count_ && active_ < kObjectsAtOnce) {
      auto object = std::make_shared<Object>(in_use_);
      object->read = make_(next_++);
      ++active_;
      ReadRequest first = object->read->first();
      if (object->read->has_index()) {
        const auto seen = call_.cache.get<ArrivingSource::Version>(version_name(first.key), {});
        if (seen) {
          object->source = std::make_shared<ArrivingSource>(*seen);
          plan(std::move(object));
          continue;
        }
      }
      opens_.push_back({std::move(object), Ask::Kind::open, std::move(first)});
    }
  }

  // First reads leave memory for the reads that follow from them, and a batch of them leaves some for the next one, so
  // that there is decoding to do meanwhile.
  std::vector<Ask> next_batch() {
    std::vector<Ask> batch;
    const std::lock_guard hold(mutex_);
    take(waiting_, fitting(waiting_, budget_, budget_), batch);
    take(opens_, fitting(opens_, budget_ / 4 * 3, budget_ / 2), batch);
    if (batch.empty() && running_ == 0) {  // a single request, although there is not enough memory for it
      auto& next = waiting_.empty() ? opens_ : waiting_;
      take(next, std::min<std::size_t>(1, next.size()), batch);
    }
    return batch;
  }

  // The number of these for which there is memory, in full round trips. While some memory is about to be freed, a few
  // small requests are not worth a batch.
  std::size_t fitting(const std::deque<Ask>& asks, std::uint64_t in_use, std::uint64_t in_batch) const {
    std::uint64_t bytes = 0;
    std::size_t count = 0;
    for (; count < asks.size(); ++count) {
      const std::uint64_t more = bytes + asks[count].request.length;
      if (more > in_batch || in_use_ + more > in_use) break;
      bytes = more;
    }
    const std::size_t parallel = call_.store.traits().parallel_requests;
    if (count == asks.size()) return count;
    if (count < parallel) return running_ > 0 && bytes < in_batch / 4 ? 0 : count;
    return count - count % parallel;
  }

  void take(std::deque<Ask>& from, std::size_t count, std::vector<Ask>& batch) {
    for (; count > 0; --count) {
      in_use_ += from.front().request.length;
      batch.push_back(std::move(from.front()));
      from.pop_front();
    }
  }

  Result<void> send(std::span<Ask> batch) {
    std::vector<ReadRequest> requests;
    requests.reserve(batch.size());
    for (const Ask& ask : batch) requests.push_back(ask.request);
    return call_.store.read(requests, [&](std::size_t i, Result<ReadReply> reply) -> Result<void> {
      if (tasks_.failed()) return unavailable("another part of the call has failed");
      arrived(batch[i], std::move(reply));
      return {};
    });
  }

  void arrived(Ask& ask, Result<ReadReply> reply) {
    ObjectPtr object = std::move(ask.object);
    if (reply && is_superseded(*object, *reply)) object->replaced = true;
    if (reply && !object->replaced && (ask.kind == Ask::Kind::part || ask.kind == Ask::Kind::run) &&
        reply->bytes.size() != ask.request.length)
      reply = conflict("the object has become shorter while it was read");
    if (!reply) object->fail(std::move(reply).error());
    const bool usable = reply && !object->replaced;
    if (ask.kind == Ask::Kind::run && usable)
      return take(std::move(object), ask.run, *std::move(reply), ask.request.length);
    in_use_ -= ask.request.length;
    switch (ask.kind) {
      case Ask::Kind::open:
        return opened(std::move(object), std::move(reply));
      case Ask::Kind::other:
        if (usable && reply->source) object->fail(conflict("the object has another name"));  // so that it is read alone
        return plan(std::move(object));
      case Ask::Kind::part:
        if (usable) hold(*object, *std::move(reply));
        if (--object->awaited == 0) plan(std::move(object));
        return;
      case Ask::Kind::run:
      case Ask::Kind::confirm:
        if (--object->left == 0) settle_later(std::move(object));
    }
  }

  // Whether the version that was assumed to be the present one is not.
  static bool is_superseded(const Object& object, const ReadReply& reply) {
    if (!object.source || object.source->opened()) return false;
    if (!reply.source) return true;
    const auto generation = reply.source->generation();
    return !generation || *generation != object.source->version().generation;
  }

  void opened(ObjectPtr object, Result<ReadReply> reply) {
    if (reply && reply->source) {
      auto source = ArrivingSource::of(reply->source);
      if (source) {
        object->source = *std::move(source);
        hold(*object, *std::move(reply));
      } else {
        object->fail(std::move(source).error());
      }
    } else if (reply) {
      std::string other = object->read->other_key();
      if (!other.empty()) {
        const std::lock_guard hold(mutex_);
        waiting_.push_back({std::move(object), Ask::Kind::other, {.key = std::move(other), .length = 0}});
        return;
      }
    }
    plan(std::move(object));
  }

  void hold(Object& object, ReadReply reply) {
    object.held += reply.bytes.size();
    in_use_ += reply.bytes.size();
    object.source->hold(std::move(reply));
  }

  void add_task(bool first, Tasks::Task task) {
    ++running_;
    auto counted = [this, task = std::move(task)]() -> Result<void> {
      auto done = task();
      --running_;
      return done;
    };
    first ? tasks_.add_first(std::move(counted)) : tasks_.add(std::move(counted));
  }

  void plan(ObjectPtr object) {
    ++planning_;
    add_task(true, [this, object = std::move(object)]() -> Result<void> {
      auto done = plan_now(object);
      --planning_;
      return done;
    });
  }

  Result<void> plan_now(const ObjectPtr& object) {
    if (object->failure || object->replaced) return settle_later(object), Result<void>{};
    ArrivingSource* const source = object->source.get();
    auto runs = object->read->plan(source);
    if (source != nullptr && source->waits()) return ask_for(object, source->take_missing()), Result<void>{};
    if (!runs) {
      object->fail(std::move(runs).error());
      object->replaced = source != nullptr && !source->opened();  // perhaps
      return settle_later(object), Result<void>{};
    }
    object->runs = *std::move(runs);
    if (source != nullptr)
      ask_for_runs(object, *source);
    else
      settle_later(object);
    return {};
  }

  // A request for a range of the version, whether it is open or only assumed to be the present one.
  static ReadRequest request_of(const Object& object, Extent range) {
    ReadRequest request{.of = object.source->opened(), .offset = range.offset, .length = range.length};
    if (!request.of) request.key = object.read->first().key;
    return request;
  }

  void ask_for(const ObjectPtr& object, const std::vector<Extent>& missing) {
    std::vector<Wanted> wanted;
    for (const Extent& range : missing) wanted.push_back({range});
    const auto runs = coalesce(wanted, call_.gap, call_.store.traits().max_run_bytes);
    object->awaited = runs.size();
    const std::lock_guard hold(mutex_);
    for (const Run& run : runs) waiting_.push_back({object, Ask::Kind::part, request_of(*object, run.extent)});
  }

  void ask_for_runs(const ObjectPtr& object, const ArrivingSource& source) {
    std::vector<Ask> asks;
    object->left = object->runs.size() + 1;
    for (std::size_t i = 0; i < object->runs.size(); ++i) {
      const Extent range = object->runs[i].extent;
      if (const auto held = source.find(range))
        take(object, i, {.bytes = *held}, 0);
      else
        asks.push_back({object, Ask::Kind::run, request_of(*object, range), i});
    }
    if (!source.opened() && asks.empty()) {
      ++object->left;
      asks.push_back({object, Ask::Kind::confirm, request_of(*object, {0, 0})});
    } else if (source.opened() && object->read->has_index() && !source.version().generation.token.empty()) {
      const std::string name = version_name(object->read->first().key);
      auto version = std::make_shared<const ArrivingSource::Version>(source.version());
      const std::uint64_t bytes = sizeof *version + name.size() + version->name.size();
      call_.cache.put(name, {}, std::move(version), bytes);
    }
    {
      const std::lock_guard hold(mutex_);
      std::ranges::move(asks, std::back_inserter(waiting_));
    }
    if (--object->left == 0) settle_later(object);
  }

  void take(ObjectPtr object, std::size_t run, ReadReply reply, std::uint64_t bytes) {
    add_task(false, [this, object = std::move(object), run, reply = std::move(reply), bytes]() -> Result<void> {
      if (auto done = object->read->take(*object->source, object->runs[run], reply.bytes); !done)
        object->fail(std::move(done).error());
      in_use_ -= bytes;
      return --object->left == 0 ? settle(object) : Result<void>{};
    });
  }

  void settle_later(ObjectPtr object) {
    add_task(false, [this, object = std::move(object)] { return settle(object); });
  }

  Result<void> settle(const ObjectPtr& object) {
    if (object->replaced) return open_again(object), Result<void>{};
    if (object->failure) {
      const ErrorCode code = object->failure->code();
      if (code != ErrorCode::conflict && code != ErrorCode::corrupt) return std::move(*object->failure);
      SHERD_TRY(object->read->again());
    } else {
      SHERD_TRY(object->read->finish());
    }
    --active_;
    return {};
  }

  void open_again(const ObjectPtr& object) {
    in_use_ -= std::exchange(object->held, 0);
    object->source.reset();
    object->failure.reset();
    object->replaced = false;
    const std::lock_guard hold(mutex_);
    waiting_.push_back({object, Ask::Kind::open, object->read->first()});
  }

  const ObjectsRead& call_;
  const std::uint64_t count_;
  const std::function<std::unique_ptr<ObjectRead>(std::uint64_t)>& make_;
  const std::uint64_t budget_;
  std::uint64_t next_ = 0;
  std::atomic<std::uint64_t> in_use_{0};  // bytes of requests under way, and of replies in memory
  std::deque<Ask> opens_;
  std::atomic<std::size_t> active_{0};    // objects that are not finished
  std::atomic<std::size_t> planning_{0};  // those that must be planned
  std::atomic<std::size_t> running_{0};   // tasks
  std::mutex mutex_;                      // guards the queues
  std::deque<Ask> waiting_;
  Tasks tasks_;
};

}  // namespace

// A waiting store asks the call of its thread whether to continue, and only a loop creates a call.
Result<void> read_objects(const ObjectsRead& call, std::uint64_t count,
                          const std::function<std::unique_ptr<ObjectRead>(std::uint64_t)>& make) {
  return parallel_for(1, call.config, [&](std::size_t) { return Reading(call, count, make).run(); });
}

}  // namespace sherd
