#include "remote/credential_cache.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/call.hpp"
#include "base/try.hpp"

namespace sherd::remote {
namespace {

constexpr std::chrono::minutes kMargin{5}, kPause{1};
constexpr std::chrono::seconds kKeptFailure{3};

bool are_same(const std::optional<Credentials>& a, const Credentials& b) {
  return a && a->key_id == b.key_id && a->session_token == b.session_token && a->bearer_token == b.bearer_token;
}

}  // namespace

/// That a thread is asking, also if the source throws.
class CredentialCache::Asking {
 public:
  Asking(CredentialCache& cache, std::unique_lock<std::mutex>& lock) : cache_(cache), lock_(lock) {
    cache_.asking_ = ::getpid();
    cache_.failure_.reset();
    lock_.unlock();
  }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;
  ~Asking() {
    if (!lock_.owns_lock()) lock_.lock();
    cache_.asking_ = 0;
    ++cache_.attempts_;
    cache_.done_.notify_all();
  }

 private:
  CredentialCache& cache_;
  std::unique_lock<std::mutex>& lock_;
};

Result<Credentials> CredentialCache::get() {
  std::unique_lock lock(mutex_);
  while (!current_ || clock_() >= ask_at_) {
    if (failure_ && clock_() < failed_until_) return *failure_;
    if (asking_ != ::getpid()) {
      const Asking asking(*this, lock);
      Result<Credentials> fresh = source_();
      lock.lock();
      return store(std::move(fresh));
    }
    if (is_valid()) break;
    const std::uint64_t before = attempts_;
    while (attempts_ == before) {
      done_.wait_for(lock, kBetweenPolls);
      lock.unlock();
      SHERD_TRY(check_interrupted());
      lock.lock();
    }
    if (failure_) return *failure_;
  }
  return *current_;
}

Result<Credentials> CredentialCache::store(Result<Credentials> fresh) {
  const Time now = clock_();
  if (fresh) {
    const Time expiry = fresh->expires.value_or(Time::max());
    const Time soonest = expiry > now ? std::min(now + kPause, expiry) : now + kPause;
    ask_at_ = fresh->expires ? std::max(expiry - kMargin, soonest) : expiry;
    current_ = *fresh;
    return fresh;
  }
  if (is_valid()) {
    ask_at_ = now + kPause;
    return *current_;
  }
  if (fresh.error().code() != ErrorCode::unavailable) failure_ = fresh.error();  // an interrupt is that of one call
  failed_until_ = now + kKeptFailure;
  return fresh;
}

bool CredentialCache::may_be_shared(bool wants_temporary) {
  const std::lock_guard lock(mutex_);
  if (failure_ && !is_valid()) return false;
  return !wants_temporary || !current_ || current_->expires;
}

bool CredentialCache::refused(const Credentials& credentials) {
  const std::lock_guard lock(mutex_);
  if (!are_same(current_, credentials)) return true;  // another thread may have replaced them already
  const bool is_first = !are_same(refused_, credentials);
  refused_ = std::exchange(current_, std::nullopt);
  return is_first;
}

namespace {

/// A process uses few identities; functions that are made for each store are not kept for ever.
constexpr std::size_t kMaxShared = 64;

struct Shared {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<CredentialCache>> by_key;
};
Shared* shared = nullptr;  // replaced in a forked child, and never destroyed

Shared& all_shared() {
  static const bool is_made = [] {
    shared = new Shared;
    return pthread_atfork(nullptr, nullptr, [] { shared = new Shared; }) == 0;
  }();
  static_cast<void>(is_made);
  return *shared;
}

}  // namespace

std::shared_ptr<CredentialCache> shared_credentials(const std::string& key, CredentialCache::Source source,
                                                    bool wants_temporary) {
  if (key.empty()) return std::make_shared<CredentialCache>(std::move(source));
  Shared& all = all_shared();
  std::map<std::string, std::shared_ptr<CredentialCache>> dropped;  // after the lock: a source may need another one
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_key.find(key);
  if (found != all.by_key.end() && found->second->may_be_shared(wants_temporary)) return found->second;
  if (all.by_key.size() >= kMaxShared) dropped.swap(all.by_key);
  auto cache = std::make_shared<CredentialCache>(std::move(source));
  all.by_key.insert_or_assign(key, cache);
  return cache;
}

std::string key_of(const CredentialCache::Source& function) {
  const auto* const named = function.target<CredentialFunction>();
  return named == nullptr ? std::string() : std::to_string(reinterpret_cast<std::uintptr_t>(named->identity));
}

}  // namespace sherd::remote
