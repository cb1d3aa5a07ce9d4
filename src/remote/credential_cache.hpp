// Credentials that threads share, kept until shortly before they expire.
//
// Five minutes before they expire, one thread asks for new ones, and the others go on with those that they have; after
// the expiry the others wait. If asking fails while the old ones are valid, they are used and it is tried again after a
// minute. All threads that wait for one attempt get its result. A failure without valid credentials is returned for a
// few seconds without asking again, since one call makes several requests.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sherd/options.hpp"
#include "sherd/result.hpp"

namespace sherd::remote {

/// Thread-safe.
class CredentialCache {
 public:
  using Source = std::function<Result<Credentials>()>;
  using Clock = std::function<std::chrono::system_clock::time_point()>;

  /// `source` is called by one thread at a time, without a lock.
  explicit CredentialCache(Source source, Clock clock = std::chrono::system_clock::now)
      : source_(std::move(source)), clock_(std::move(clock)) {}

  [[nodiscard]] Result<Credentials> get();
  /// A server has refused these as expired or unknown: the next get() asks for new ones. False if asking has returned
  /// the same ones that were refused before, so that the request will not succeed.
  bool refused(const Credentials& credentials);
  /// Whether another store may begin with it: not after a failure, unless there are valid ones from before; nor, if it
  /// wants temporary ones, with those that do not expire.
  [[nodiscard]] bool may_be_shared(bool wants_temporary);

 private:
  class Asking;
  using Time = std::chrono::system_clock::time_point;

  [[nodiscard]] bool is_valid() const { return current_ && (!current_->expires || clock_() < *current_->expires); }
  Result<Credentials> store(Result<Credentials> fresh);

  Source source_;
  Clock clock_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::optional<Credentials> current_, refused_;
  Time ask_at_ = {};              ///< when new ones are asked for
  pid_t asking_ = 0;              ///< the process of the thread that is asking; a child of fork() does not have it
  std::uint64_t attempts_ = 0;    ///< that have ended
  std::optional<Error> failure_;  ///< of the last attempt
  Time failed_until_ = {};        ///< until when it is returned without asking
};

/// The cache of this process for what `key` identifies, so that stores that are opened one after the other ask once; a
/// new one with this source if the key is empty or the cache may not be shared. A child of fork() has caches of its
/// own.
[[nodiscard]] std::shared_ptr<CredentialCache> shared_credentials(const std::string& key,
                                                                  CredentialCache::Source source,
                                                                  bool wants_temporary = false);

/// A user's function for credentials that may be given to several stores. It may return those of another identity each
/// time, so only what expires is shared.
struct CredentialFunction {
  CredentialCache::Source ask;
  const void* identity = nullptr;  ///< of a function that lives as long as `ask`
  Result<Credentials> operator()() const { return ask(); }
};
/// The key of a user's function; empty if it is not a CredentialFunction.
[[nodiscard]] std::string key_of(const CredentialCache::Source& function);

}  // namespace sherd::remote
