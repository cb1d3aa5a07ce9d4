// Loops shared by threads. A loop is in the pool's list while it has iterations left; free workers join the oldest one
// whose call may use another thread. A call (the outermost loop and all loops inside it) is a Team with a limit.
// Workers are never joined: after fork() the child forgets the parent's pool and creates its own at first use.
#include "base/pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/call.hpp"

namespace sherd {
namespace {

struct Team {
  std::atomic<unsigned> limit;
  unsigned active = 1;  // guarded by the pool's mutex
};

struct Loop {
  Loop(std::size_t iterations, const std::function<Result<void>(std::size_t)>& run, Team& in, Call& of)
      : count(iterations), body(&run), team(&in), call(&of) {}

  std::atomic<std::size_t> count;  // grows when tasks are added
  const std::function<Result<void>(std::size_t)>* body;
  Team* team;
  Call* call;
  unsigned helpers = 0;  // maximum that may join, which can be fewer than the team allows; guarded by the pool's mutex
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;  // guards the three below
  std::size_t failed_at = ~std::size_t{0};
  std::optional<Error> error;
  std::exception_ptr thrown;
  unsigned workers = 0;  // guarded by the pool's mutex: helpers inside this loop

  [[nodiscard]] bool open() const noexcept {
    return !stop.load(std::memory_order_relaxed) && next.load(std::memory_order_relaxed) < count;
  }
  void fail(std::size_t index, Error why) {
    const std::lock_guard hold(mutex);
    if (index < failed_at) {
      failed_at = index;
      error = std::move(why);
    }
    stop = true;
  }
  /// Runs code that may be a user's. An exception ends the loop, and the loop's caller rethrows it on its own thread.
  template <class Run>
  void guarded(std::size_t index, const Run& run) {
    try {
      if (auto done = run(); !done) fail(index, std::move(done).error());
    } catch (const std::bad_alloc&) {
      fail(index, unavailable("out of memory"));
    } catch (...) {
      const std::lock_guard hold(mutex);
      if (!thrown) thrown = std::current_exception();
      stop = true;
    }
  }
  /// Ends the loop, if it has hooks, when the call should end. The calling thread asks the hooks; other threads, whose
  /// loops are iterations of its own, see the result.
  void poll(const Config& config) {
    if (!Call::is_caller() && !call->interrupted()) return;
    guarded(0, [&]() -> Result<void> {
      if (call->interrupted() && config.interrupted) return unavailable("interrupted");
      return {};
    });
  }
  /// Runs one iteration; false if none is left.
  bool step() {
    if (stop.load(std::memory_order_relaxed)) return false;
    std::size_t index = next.load(std::memory_order_relaxed);
    do {
      if (index >= count.load(std::memory_order_acquire)) return false;
    } while (!next.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
    guarded(index, [&] { return (*body)(index); });
    return true;
  }
};

thread_local Team* current_team = nullptr;

class Pool {
 public:
  static Pool& get() {
    static const int registered =
        ::pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); }, [] { renew(); });
    return (void)registered, instance();
  }

  void enter(Loop& loop) {
    const std::lock_guard hold(mutex_);
    loops_.push_back(&loop);
    start_threads(loop);
    if (loop.helpers == 1)
      ready_.notify_one();
    else
      ready_.notify_all();
  }

  /// Lets more helpers join a loop that has been entered.
  void add_helpers(Loop& loop, unsigned helpers) {
    const std::lock_guard hold(mutex_);
    loop.helpers = helpers;
    loop.team->limit = helpers + 1;
    start_threads(loop);
    ready_.notify_all();
  }

  /// To be called when the loop has one more iteration.
  void extended() {
    const std::lock_guard hold(mutex_);
    ready_.notify_one();
  }

  /// Waits for the helpers. Since one may wait or compute for long and asks the call, the call is polled here.
  void leave(Loop& loop, const Config& config) noexcept {
    std::unique_lock hold(mutex_);
    loops_.remove(&loop);
    const auto left = [&] { return loop.workers == 0; };
    if (!Call::is_caller()) return idle_.wait(hold, left);
    while (!idle_.wait_for(hold, kBetweenPolls, left)) {
      hold.unlock();
      loop.poll(config);
      hold.lock();
    }
  }

 private:
  static constexpr unsigned kMaxThreads = 1024;

  // Leaked intentionally: workers are detached and may outlive static destruction.
  static Pool*& slot() {
    static Pool* pool = new Pool;
    return pool;
  }
  static Pool& instance() { return *slot(); }
  static void renew() {
    slot() = new Pool;  // the parent's workers do not exist here, its mutex is in an unknown state
    current_team = nullptr;
  }

  // One for each helper, also in a nested loop, whose outer loops keep threads busy; never more than a call may use.
  void start_threads(const Loop& loop) {
    const unsigned most = std::min(loop.team->limit.load() - 1, kMaxThreads);
    while (threads_ < most && threads_ - working_ < loop.helpers && start_thread()) ++threads_;
  }

  // If no further thread can be started, the running ones do the work.
  bool start_thread() noexcept {
    try {
      std::thread([this] { work(); }).detach();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  Loop* joinable() {
    for (Loop* loop : loops_)
      if (loop->open() && loop->workers < loop->helpers && loop->team->active < loop->team->limit) return loop;
    return nullptr;
  }

  void work() {
    std::unique_lock hold(mutex_);
    for (;;) {
      Loop* loop = nullptr;
      ready_.wait(hold, [&] { return (loop = joinable()) != nullptr; });
      ++working_;
      ++loop->workers;
      ++loop->team->active;
      hold.unlock();
      current_team = loop->team;
      {
        const Call::Working working(*loop->call, false);
        while (loop->step()) {
        }
      }
      current_team = nullptr;
      hold.lock();
      --working_;
      --loop->team->active;
      if (--loop->workers == 0) idle_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_, idle_;
  std::list<Loop*> loops_;
  unsigned threads_ = 0, working_ = 0;
};

Result<void> finish(Loop& loop) {
  if (loop.thrown) std::rethrow_exception(loop.thrown);
  if (loop.error) return std::move(*loop.error);
  return {};
}

unsigned count_cores() noexcept {
  cpu_set_t mine;
  if (::sched_getaffinity(0, sizeof mine, &mine) == 0) return std::max(1U, static_cast<unsigned>(CPU_COUNT(&mine)));
  return std::max(1U, std::thread::hardware_concurrency());
}

void run(Loop& loop, const Config& config) {
  while (loop.step()) loop.poll(config);
}

/// Whether this thread has waited more than it has computed since this was made. Asked again and again, it is not sure
/// before some time has passed.
class Waiting {
 public:
  [[nodiscard]] bool prevails() const noexcept {
    const auto passed = Clock::now() - begin_;
    return passed >= kSure && 2 * (cpu_time() - cpu_) < passed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kSure{2};
  static Clock::duration cpu_time() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
  const Clock::time_point begin_ = Clock::now();
  const Clock::duration cpu_ = cpu_time();
};

Result<void> run_for(Call& call, std::size_t count, const Config& config,
                     const std::function<Result<void>(std::size_t)>& body, unsigned while_waiting = 0) {
  const Call::Hooks hooks(call, config);
  Team own{thread_count(config.threads)};
  Team* const team = current_team != nullptr ? current_team : &own;
  const unsigned limit = std::min(team->limit.load(), thread_count(config.threads));
  Loop loop(count, body, *team, call);
  loop.helpers = static_cast<unsigned>(std::min<std::size_t>(count, limit)) - 1;
  const auto most = static_cast<unsigned>(std::min<std::size_t>(count, while_waiting));
  const bool gets_help = team == &own && most > limit;
  if (loop.helpers == 0 && !gets_help) {
    run(loop, config);
    return finish(loop);
  }
  Team* const outer = std::exchange(current_team, team);
  Pool& pool = Pool::get();
  pool.enter(loop);
  if (gets_help) {
    const Waiting waiting;
    bool goes_on = true;
    while (goes_on && !waiting.prevails()) {
      goes_on = loop.step();
      loop.poll(config);
    }
    if (goes_on) pool.add_helpers(loop, most - 1);
  }
  run(loop, config);
  pool.leave(loop, config);
  current_team = outer;
  return finish(loop);
}

}  // namespace

struct Tasks::Shared {
  explicit Shared(const Config& with) : config(with), hooks(*Call::current(), with) {}

  // Run by a helper: the first waiting task. `changed` wakes the thread that waits for an outcome.
  Result<void> run_next() {
    Task task;
    {
      const std::lock_guard hold(mutex);
      task = std::move(waiting.front());
      waiting.pop_front();
    }
    auto done = task();
    task = nullptr;
    {
      const std::lock_guard hold(mutex);
    }
    changed.notify_all();
    return done;
  }

  void add(Task task) {
    {
      const std::lock_guard hold(mutex);
      waiting.push_back(std::move(task));
      loop.count.fetch_add(1, std::memory_order_release);
    }
    changed.notify_all();
    if (loop.helpers > 0) Pool::get().extended();
  }

  // Waits for the helpers.
  void end() noexcept {
    loop.stop = true;
    if (loop.helpers > 0) Pool::get().leave(loop, config);
    loop.helpers = 0;
  }

  const Config& config;
  const Call::Hooks hooks;
  Team own{thread_count(config.threads) + 1};  // this thread waits
  Team* const team = current_team != nullptr ? current_team : &own;
  Team* const outer = std::exchange(current_team, team);
  const std::function<Result<void>(std::size_t)> body = [this](std::size_t) { return run_next(); };
  Loop loop{0, body, *team, *Call::current()};
  std::mutex mutex;  // guards what waits
  std::condition_variable changed;
  std::deque<Task> waiting;
};

Tasks::Tasks(const Config& config) : shared_(std::make_unique<Shared>(config)) {
  Loop& loop = shared_->loop;
  loop.helpers = std::min(shared_->team->limit.load(), thread_count(config.threads) + 1) - 1;
  if (loop.helpers > 0) Pool::get().enter(loop);
}

Tasks::~Tasks() {
  shared_->end();
  current_team = shared_->outer;
}

void Tasks::add(Task task) { shared_->add(std::move(task)); }

bool Tasks::failed() const noexcept { return shared_->loop.stop; }

void Tasks::help_until(const std::function<bool()>& done) {
  Loop& loop = shared_->loop;
  while (!done() && !failed()) {
    if (!loop.step()) {
      std::unique_lock hold(shared_->mutex);
      shared_->changed.wait_for(hold, kBetweenPolls, [&] { return done() || failed() || loop.open(); });
    }
    loop.poll(shared_->config);
  }
}

Result<void> Tasks::finish() {
  shared_->end();
  return sherd::finish(shared_->loop);
}

// Determined once, because the C library opens a file for it each time.
unsigned thread_count(unsigned wanted) noexcept {
  static const unsigned cores = count_cores();
  return wanted != 0 ? wanted : cores;
}

namespace {

Result<void> run_as_call(std::size_t count, const Config& config, const std::function<Result<void>(std::size_t)>& body,
                         unsigned while_waiting) {
  if (count == 0) return {};
  if (Call* const call = Call::current()) return run_for(*call, count, config, body, while_waiting);
  Call call(config);
  auto done = [&] {
    const Call::Working working(call, true);
    return run_for(call, count, config, body, while_waiting);
  }();
  if (const auto thrown = call.take_thrown()) std::rethrow_exception(thrown);
  return done;
}

}  // namespace

Result<void> parallel_for(std::size_t count, const Config& config,
                          const std::function<Result<void>(std::size_t)>& body) {
  return run_as_call(count, config, body, 0);
}

Result<void> parallel_for_files(std::size_t count, const Config& config,
                                const std::function<Result<void>(std::size_t)>& body) {
  return run_as_call(count, config, body, config.threads == 0 ? kWaitingThreads : 0);
}

namespace {

// Done when the program is loaded: a process that forked while another thread was initialising these would wait for
// that thread forever.
[[maybe_unused]] const bool made = (Pool::get(), thread_count(0) != 0);

}  // namespace

Config with_requests(const Config& config, unsigned parallel_requests) {
  Config result = config;
  if (parallel_requests > 1) result.threads = std::max(thread_count(config.threads), parallel_requests);
  return result;
}

Config with_progress(const Config& config, const std::atomic<std::uint64_t>& done, std::uint64_t total) {
  if (!config.progress) return config;
  Config result = config;
  result.interrupted = [&config, &done, total] {
    config.progress({done.load(std::memory_order_relaxed), total});
    return config.interrupted && config.interrupted();
  };
  return result;
}

Budget::Share& Budget::Share::operator=(Share&& other) noexcept {
  if (this != &other) {
    release();
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = other.bytes_;
  }
  return *this;
}

void Budget::Share::release() noexcept {
  if (budget_ == nullptr) return;
  {
    const std::lock_guard hold(budget_->mutex_);
    budget_->used_ -= bytes_;
  }
  budget_->freed_.notify_all();
  budget_ = nullptr;
}

Budget::Share Budget::take(std::uint64_t bytes) {
  std::unique_lock hold(mutex_);
  freed_.wait(hold, [&] { return used_ == 0 || (bytes <= total_ && used_ <= total_ - bytes); });
  used_ += bytes;
  return {this, bytes};
}

}  // namespace sherd
