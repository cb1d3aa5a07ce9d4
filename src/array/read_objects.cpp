// The calling thread is in Store::read(), which takes requests whenever it can send one: those for the runs and indexes
// of objects that were begun, then the first reads of further objects. That thread plans what follows from a reply,
// which takes little time, so that the requests that the plan needs are ready at once. The pool decodes runs meanwhile.
#include "array/read_objects.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "array/partial_source.hpp"
#include "base/pool.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::uint64_t kObjectsAtOnce = 4096;

/// The cache keeps the version of an object that was read last, whichever it is.
const Generation kLastSeen{"last seen"};

class Reading final : public ReadQueue {
 public:
  Reading(const ObjectsRead& call, std::uint64_t count,
          const std::function<std::unique_ptr<ObjectRead>(std::uint64_t)>& make)
      : call_(call), count_(count), make_(make), budget_(call.config.memory_budget / 2), tasks_(call.config) {}

  Result<void> run() {
    auto done = call_.store.read(*this);
    SHERD_TRY(tasks_.finish());  // the cause, if a task has failed
    return done;
  }

  /// While there is no memory for another request, or an object must be opened again, the pool is about to change that.
  std::optional<ReadRequest> next(bool is_last) override {
    while (!tasks_.failed()) {
      if (auto ask = next_ask(is_last)) {
        ReadRequest request = ask->request;
        in_use_ += request.length;
        under_way_.emplace(asked_++, *std::move(ask));
        return request;
      }
      if (!is_last || (active_ == 0 && next_ == count_)) return std::nullopt;
      const std::size_t before = running_;
      tasks_.help_until([&] { return running_ < before || running_ == 0; });
    }
    return std::nullopt;
  }

  Result<void> reply(std::size_t number, Result<ReadReply> reply) override {
    if (tasks_.failed()) return unavailable("another part of the call has failed");
    arrived(std::move(under_way_.extract(number).mapped()), std::move(reply));
    return {};
  }

 private:
  struct Object {
    explicit Object(std::atomic<std::uint64_t>& in_memory) : in_use(in_memory) {}
    ~Object() { in_use -= held; }

    std::unique_ptr<ObjectRead> read;
    std::shared_ptr<PartialSource> source;
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

  /// The next request for which there is memory. First reads leave memory for the reads that follow from them. A single
  /// request is made even if there is not enough memory for it.
  std::optional<Ask> next_ask(bool is_last) {
    if (auto ask = next_waiting(is_last)) return ask;
    while (!open_ && next_ < count_ && active_ < kObjectsAtOnce) {
      admit();
      if (auto ask = next_waiting(is_last)) return ask;
    }
    if (!open_ || !fits(*open_, budget_ / 4 * 3, is_last)) return std::nullopt;
    return std::exchange(open_, std::nullopt);
  }

  std::optional<Ask> next_waiting(bool is_last) {
    const std::lock_guard hold(mutex_);
    if (waiting_.empty() || !fits(waiting_.front(), budget_, is_last)) return std::nullopt;
    Ask ask = std::move(waiting_.front());
    waiting_.pop_front();
    return ask;
  }

  [[nodiscard]] bool fits(const Ask& ask, std::uint64_t budget, bool is_last) const {
    return in_use_ + ask.request.length <= budget || (is_last && running_ == 0);
  }

  /// Begins the next object: by its first read or, if its version is known, by its plan.
  void admit() {
    auto object = std::make_shared<Object>(in_use_);
    object->read = make_(next_++);
    ++active_;
    ReadRequest first = object->read->first();
    if (object->read->has_index()) {
      const auto seen = call_.cache.get<PartialSource::Version>(version_name(first.key), kLastSeen);
      if (seen) {
        object->source = std::make_shared<PartialSource>(*seen);
        return plan(object);
      }
    }
    open_ = Ask{std::move(object), Ask::Kind::open, std::move(first)};
  }

  void arrived(Ask ask, Result<ReadReply> reply) {
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
        return plan(object);
      case Ask::Kind::part:
        if (usable) hold(*object, *std::move(reply));
        if (--object->awaited == 0) plan(object);
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
      auto source = PartialSource::of(reply->source);
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
    plan(object);
  }

  void hold(Object& object, ReadReply reply) {
    object.held += reply.bytes.size();
    in_use_ += reply.bytes.size();
    object.source->hold(std::move(reply));
  }

  void add_task(Tasks::Task task) {
    ++running_;
    tasks_.add([this, task = std::move(task)]() -> Result<void> {
      auto done = task();
      --running_;
      return done;
    });
  }

  void plan(const ObjectPtr& object) {
    if (object->failure || object->replaced) return settle_later(object);
    PartialSource* const source = object->source.get();
    auto runs = object->read->plan(source);
    if (source != nullptr && source->waits()) return ask_for(object, source->take_missing());
    if (!runs) {
      object->fail(std::move(runs).error());
      object->replaced = source != nullptr && !source->opened();  // perhaps
      return settle_later(object);
    }
    object->runs = *std::move(runs);
    if (source != nullptr)
      ask_for_runs(object, *source);
    else
      settle_later(object);
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

  void ask_for_runs(const ObjectPtr& object, const PartialSource& source) {
    std::vector<Ask> asks;
    object->left = object->runs.size() + 1;
    for (std::size_t i = 0; i < object->runs.size(); ++i) {
      const Extent range = object->runs[i].extent;
      if (const auto held = source.find(range))
        take(object, i, {.bytes = *held}, 0);
      else
        asks.push_back({object, Ask::Kind::run, request_of(*object, range), i});
    }
    if (!source.opened() && asks.empty() && !object->read->is_confirmed_later()) {
      ++object->left;
      asks.push_back({object, Ask::Kind::confirm, request_of(*object, {0, 0})});
    } else if (source.opened() && object->read->has_index() && !source.version().generation.token.empty()) {
      const std::string name = version_name(object->read->first().key);
      auto version = std::make_shared<const PartialSource::Version>(source.version());
      const std::uint64_t bytes = sizeof *version + name.size() + version->name.size();
      call_.cache.put(name, kLastSeen, std::move(version), bytes);
    }
    {
      const std::lock_guard hold(mutex_);
      std::ranges::move(asks, std::back_inserter(waiting_));
    }
    if (--object->left == 0) settle_later(object);
  }

  void take(ObjectPtr object, std::size_t run, ReadReply reply, std::uint64_t bytes) {
    add_task([this, object = std::move(object), run, reply = std::move(reply), bytes]() -> Result<void> {
      if (auto done = object->read->take(*object->source, object->runs[run], reply.bytes); !done)
        object->fail(std::move(done).error());
      in_use_ -= bytes;
      return --object->left == 0 ? settle(object) : Result<void>{};
    });
  }

  void settle_later(ObjectPtr object) {
    add_task([this, object = std::move(object)] { return settle(object); });
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
  std::optional<Ask> open_;               // the first read of the next object
  std::atomic<std::size_t> active_{0};    // objects that are not finished
  std::atomic<std::size_t> running_{0};   // tasks
  std::size_t asked_ = 0;
  std::unordered_map<std::size_t, Ask> under_way_;
  std::mutex mutex_;  // guards what follows
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
