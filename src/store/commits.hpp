// Commits of files on threads of their own: a commit mostly waits for the disk and needs none of the memory with which
// the object was made. A journal also commits the syncs of several files at once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sherd/store.hpp"

namespace sherd {

/// For one loop of a call, which must outlive it (as_call()).
class Commits {
 public:
  /// On at most so many threads; with 0 the calling thread makes each commit.
  explicit Commits(std::size_t threads);
  Commits(const Commits&) = delete;
  Commits& operator=(const Commits&) = delete;
  /// Waits for the commits that were begun, and abandons the objects of others.
  ~Commits();

  /// Commits an object soon. Returns or rethrows the failure of an earlier commit, after which no commit begins; such a
  /// failure is lasting, so that the caller does not repeat what it has done. Thread-safe.
  Result<void> add(std::unique_ptr<ObjectWriter> object, const Condition& condition, std::string key);
  /// Waits for all commits, and returns or rethrows the first failure, otherwise `made`, the outcome of the loop that
  /// has added objects. After a failure of the loop no commit begins. Nothing may be added afterwards.
  Result<void> finish(Result<void> made);

 private:
  struct Commit {
    std::unique_ptr<ObjectWriter> object;
    Condition condition;
    std::string key;
  };
  void work();
  void make_next(std::unique_lock<std::mutex>& hold);
  void abandon() noexcept;
  void end() noexcept;

  const std::size_t threads_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable added_;
  std::vector<Commit> waiting_;
  std::vector<std::future<void>> workers_;
  std::size_t idle_ = 0;
  bool ended_ = false;
  Result<void> failure_;
  std::exception_ptr thrown_;
};

}  // namespace sherd
