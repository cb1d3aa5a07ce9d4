// All open LockFiles of the process. fork() waits until none is being opened or closed, so that the child finds all of
// them in the list.
#include "store/lock_file.hpp"

#include <pthread.h>

#include <cerrno>
#include <mutex>
#include <new>
#include <set>
#include <shared_mutex>

#include "os/calls.hpp"
#include "os/interrupted.hpp"

namespace sherd {
namespace {

struct OpenFiles {
  std::mutex turn;            // to get the next one, so that fork() succeeds however many threads open files
  std::shared_mutex forking;  // held shared while a file is opened or closed, exclusively by fork()
  std::mutex mutex;           // guards the descriptors
  std::set<int> descriptors;
};

// Leaked intentionally: threads may outlive static destruction.
OpenFiles*& slot() {
  static auto* files = new OpenFiles;
  return files;
}

void before_fork() {
  slot()->turn.lock();
  slot()->forking.lock();
}
void in_parent() {
  slot()->forking.unlock();
  slot()->turn.unlock();
}

/// Makes only system calls, except for the new list, as in the pool. Opening needs a free descriptor, so each file is
/// closed first; no other thread can take its number here.
void in_child() {
  for (const int fd : slot()->descriptors) {
    os::close(fd);
    const int other = os::openat(AT_FDCWD, "/", O_PATH | O_CLOEXEC);
    if (other < 0 || other == fd) continue;
    os::dup3(other, fd, O_CLOEXEC);
    os::close(other);
  }
  // The lock was acquired by a thread with another id, so it cannot be unlocked here.
  slot() = new OpenFiles;
}

// Created and registered when the library is loaded: a child forked while another thread does this would wait for that
// thread for ever.
[[maybe_unused]] const int registered = (slot(), ::pthread_atfork(before_fork, in_parent, in_child));

std::shared_lock<std::shared_mutex> hold_off_fork(OpenFiles& files) {
  const std::lock_guard turn(files.turn);
  return std::shared_lock(files.forking);
}

}  // namespace

LockFile LockFile::open(int directory, const std::string& name, int flags) noexcept {
  OpenFiles& files = *slot();
  const auto forking = hold_off_fork(files);
  const int fd = os::repeat_interrupted([&] { return os::openat(directory, name.c_str(), flags | O_CLOEXEC, 0666); });
  if (fd < 0) return {};
  try {
    const std::lock_guard hold(files.mutex);
    files.descriptors.insert(fd);
  } catch (const std::bad_alloc&) {
    os::close(fd);
    errno = ENOMEM;
    return {};
  }
  return LockFile(fd);
}

LockFile::~LockFile() {
  if (fd_ < 0) return;
  OpenFiles& files = *slot();
  const int code = errno;
  {
    const auto forking = hold_off_fork(files);
    const std::lock_guard hold(files.mutex);
    files.descriptors.erase(fd_);
    os::close(fd_);
  }
  errno = code;
}

}  // namespace sherd
