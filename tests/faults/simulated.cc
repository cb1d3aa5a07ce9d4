#include "tests/faults/simulated.hpp"

#include <dirent.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "os/calls.hpp"
#include "tests/faults/effects.hpp"

namespace sherd::os {
namespace {

struct Running {
  Fault fault;
  std::vector<Call> calls;
  std::string failing;  // the name of the failing call
  std::string awaited;  // the name of the call before which `meanwhile` runs
  std::size_t awaited_number;
  std::function<void()> meanwhile;
  std::shared_ptr<EffectLog> effects;
  std::set<int> direct;  // descriptors whose writes bypass the page cache
  bool shares_blocks = false;
  bool keeps_names_in_order = false;
  Shown shown = {};
};

constexpr std::size_t kNever = ~std::size_t{0};

std::mutex mutex;  // guards the variables below
std::optional<Running> running;

enum class Fate : std::uint8_t { real, fails, fails_partially };

bool is_recorded() {
  const std::lock_guard hold(mutex);
  return running.has_value();
}

void run_meanwhile(const char* name) {
  std::function<void()> act;
  {
    const std::lock_guard hold(mutex);
    if (running && (running->awaited == name || running->awaited_number == running->calls.size()))
      act = std::exchange(running->meanwhile, nullptr);
  }
  if (act) act();
}

/// Of an open file, while calls are recorded.
std::string path_of(int fd) {
  if (!is_recorded()) return {};
  char path[4096];
  const ssize_t length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof path);
  return {path, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

std::shared_ptr<EffectLog> effects() {
  const std::lock_guard hold(mutex);
  return running ? running->effects : nullptr;
}

bool is_direct(int fd) {
  const std::lock_guard hold(mutex);
  return running && running->direct.contains(fd);
}

/// Direct writes begin and end at sectors, in memory too.
bool is_misaligned(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  constexpr std::uint64_t kSector = 512;
  return is_direct(fd) && (offset | bytes.size() | reinterpret_cast<std::uintptr_t>(bytes.data())) % kSector != 0;
}

/// Decides the result of a call; sets errno if it fails.
Fate meet(const char* name, bool changes, std::string path = {}) {
  run_meanwhile(name);
  const std::lock_guard hold(mutex);
  if (!running) return Fate::real;
  const Fault& fault = running->fault;
  const bool is_met = fault.kind == Fault::Kind::named
                          ? fault.name == name
                          : fault.kind != Fault::Kind::none && running->calls.size() == fault.at;
  const bool is_after = !running->failing.empty();
  running->calls.push_back({name, changes, std::move(path)});
  const bool fails = is_met || (is_after && (fault.kind == Fault::Kind::killed ||
                                             (fault.kind == Fault::Kind::onward && running->failing == name)));
  if (!fails) return Fate::real;
  if (is_met) running->failing = name;
  errno = fault.code;
  return is_met && fault.partial ? Fate::fails_partially : Fate::fails;
}

/// A call that changes nothing.
template <class Real>
auto look(const char* name, const Real& real) -> decltype(real()) {
  return meet(name, false) == Fate::real ? real() : -1;
}

template <class Real>
auto change(const char* name, const Real& real, std::string path = {}) -> decltype(real()) {
  return meet(name, true, std::move(path)) == Fate::real ? real() : -1;
}

/// `put(size)` writes up to `size` bytes.
template <class Put>
int write(const char* name, std::size_t size, const Put& put) {
  const Fate fate = meet(name, true);
  const int code = errno;
  const std::size_t written = fate == Fate::real ? size : fate == Fate::fails_partially ? size / 2 / 16 * 16 : 0;
  if (put(written) != static_cast<ssize_t>(written)) return -1;
  errno = code;
  return fate == Fate::real ? 0 : -1;
}

bool shares_blocks() {
  const std::lock_guard hold(mutex);
  return running && running->shares_blocks;
}

bool keeps_names_in_order() {
  const std::lock_guard hold(mutex);
  return running && running->keeps_names_in_order;
}

Shown shown() {
  const std::lock_guard hold(mutex);
  return running ? running->shown : Shown();
}

/// What the next look at a name shows.
std::optional<struct stat> take_shown(const char* name) {
  const std::lock_guard hold(mutex);
  const auto node = running ? running->shown.named.extract(name) : decltype(running->shown.named)::node_type();
  return node.empty() ? std::nullopt : std::optional(node.mapped());
}

/// Replaces what was read by the bytes that are shown.
ssize_t show_begin(int fd, std::span<std::byte> into, std::uint64_t offset, ssize_t count) {
  const auto begins = shown().begins;
  struct stat status{};
  if (begins.empty() || count < 0 || ::fstat(fd, &status) != 0) return count;
  const auto begin = begins.find(status.st_ino);
  if (begin != begins.end() && offset < begin->second.size())
    std::memcpy(into.data(), &begin->second[offset],
                std::min(begin->second.size() - offset, static_cast<std::size_t>(count)));
  return count;
}

/// The result of a call, whose effect is recorded if it has succeeded.
template <class Result, class Record>
Result recorded(Result result, const Record& record) {
  const int code = errno;
  if (const auto log = effects(); log != nullptr && result >= 0) record(*log, result);
  errno = code;
  return result;
}

bool is_killed() {
  const std::lock_guard hold(mutex);
  return running && running->fault.kind == Fault::Kind::killed;
}

}  // namespace

Simulation::Simulation(const Fault& fault) {
  const std::lock_guard hold(mutex);
  if (running) std::abort();
  running = Running{fault, {}, {}, {}, kNever, nullptr, std::make_shared<EffectLog>(), {}};
}

Simulation::~Simulation() {
  const std::lock_guard hold(mutex);
  running.reset();
}

std::vector<Call> Simulation::calls() const {
  const std::lock_guard hold(mutex);
  return running->calls;
}

std::vector<Effect> Simulation::effects() const {
  const std::lock_guard hold(mutex);
  return running->effects->all();
}

void Simulation::before(std::string name, std::function<void()> act) const {
  const std::lock_guard hold(mutex);
  running->awaited = std::move(name);
  running->meanwhile = std::move(act);
}

void Simulation::share_blocks() const {
  const std::lock_guard hold(mutex);
  running->shares_blocks = true;
}

void Simulation::keep_names_in_order() const {
  const std::lock_guard hold(mutex);
  running->keeps_names_in_order = true;
}

void Simulation::show(Shown shown) const {
  const std::lock_guard hold(mutex);
  running->shown = std::move(shown);
}

void Simulation::before(std::size_t number, std::function<void()> act) const {
  const std::lock_guard hold(mutex);
  running->awaited_number = number;
  running->meanwhile = std::move(act);
}

int openat(int directory, const char* path, int flags, mode_t mode) noexcept {
  const auto real = [&] { return ::openat(directory, path, flags, mode); };
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  struct stat status{};
  const bool is_new = (flags & O_CREAT) != 0 && ::fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) != 0;
  const int fd = makes ? change("openat", real) : look("openat", real);
  if (const auto log = effects(); log != nullptr && fd >= 0) {
    if (is_new) log->named(directory, path);
    if ((flags & O_TRUNC) != 0) log->resized(fd, 0);
  }
  return fd;
}

int mkostemp(char* path, int flags) noexcept {
  return recorded(change("mkostemp", [&] { return ::mkostemp(path, flags); }),
                  [&](EffectLog& log, int) { log.named(AT_FDCWD, path); });
}

int close(int fd) noexcept {
  {
    const std::lock_guard hold(mutex);
    if (running) running->direct.erase(fd);
  }
  return ::close(fd);
}

int duplicate(int fd) noexcept {
  return look("duplicate", [&] { return ::fcntl(fd, F_DUPFD_CLOEXEC, 0); });
}

int dup3(int from, int to, int flags) noexcept { return ::dup3(from, to, flags); }

ssize_t pread(int fd, std::span<std::byte> into, std::uint64_t offset) noexcept {
  return look("pread", [&] {
    return show_begin(fd, into, offset, ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset)));
  });
}

ssize_t pread_all(int fd, std::span<std::byte> into, std::uint64_t offset) noexcept {
  return look("pread_all", [&] {
    return show_begin(fd, into, offset, ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset)));
  });
}

int pwrite_all(int fd, std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  if (is_misaligned(fd, bytes, offset)) return errno = EINVAL, -1;
  return write("pwrite_all", bytes.size(), [&](std::size_t size) {
    return recorded(::pwrite(fd, bytes.data(), size, static_cast<off_t>(offset)),
                    [&](EffectLog& log, ssize_t) { log.wrote(fd, offset, bytes.first(size)); });
  });
}

// Of bytes that are appended in one step, a process that is killed leaves all or none.
ssize_t pwrite_once(int fd, std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  const Fate fate = meet("pwrite_once", true);
  if (fate == Fate::fails || (fate == Fate::fails_partially && is_killed())) return -1;
  if (is_misaligned(fd, bytes, offset)) return errno = EINVAL, -1;
  const std::size_t size = fate == Fate::real ? bytes.size() : bytes.size() / 2;
  return recorded(::pwrite(fd, bytes.data(), size, static_cast<off_t>(offset)),
                  [&](EffectLog& log, ssize_t) { log.wrote(fd, offset, bytes.first(size), is_direct(fd)); });
}

int set_direct(int fd, bool direct) noexcept {
  return look("set_direct", [&] {
    const std::lock_guard hold(mutex);
    if (running && direct) running->direct.insert(fd);
    if (running && !direct) running->direct.erase(fd);
    return 0;
  });
}

int write_all(int fd, std::span<const std::byte> bytes) noexcept {
  return write("write_all", bytes.size(), [&](std::size_t size) { return ::write(fd, bytes.data(), size); });
}

ssize_t copy_file_range(int from, std::uint64_t from_offset, int to, std::uint64_t to_offset,
                        std::size_t length) noexcept {
  const auto real = [&] {
    auto read_at = static_cast<off64_t>(from_offset);
    auto write_at = static_cast<off64_t>(to_offset);
    return ::copy_file_range(from, &read_at, to, &write_at, length, 0);
  };
  return recorded(change("copy_file_range", real), [&](EffectLog& log, ssize_t count) {
    std::vector<std::byte> copied(static_cast<std::size_t>(count));
    if (::pread(from, copied.data(), copied.size(), static_cast<off_t>(from_offset)) != count) std::abort();
    log.wrote(to, to_offset, copied);
  });
}

int clone(int from, int to) noexcept {
  const auto real = [&] {
    struct stat status{};
    if (!shares_blocks() || ::fstat(from, &status) != 0) return (errno = EOPNOTSUPP, -1);
    off64_t read_at = 0;
    off64_t write_at = 0;
    while (read_at < status.st_size)
      if (::copy_file_range(from, &read_at, to, &write_at, static_cast<std::size_t>(status.st_size - read_at), 0) <= 0)
        return -1;
    return 0;
  };
  return recorded(change("clone", real), [&](EffectLog& log, int) {
    struct stat status{};
    if (::fstat(from, &status) != 0) std::abort();
    std::vector<std::byte> cloned(static_cast<std::size_t>(status.st_size));
    if (::pread(from, cloned.data(), cloned.size(), 0) < 0) std::abort();
    log.wrote(to, 0, cloned);
  });
}

int ftruncate(int fd, std::uint64_t size) noexcept {
  return recorded(change("ftruncate", [&] { return ::ftruncate(fd, static_cast<off_t>(size)); }),
                  [&](EffectLog& log, int) { log.resized(fd, size); });
}

std::int64_t lseek(int fd, std::uint64_t offset, int whence) noexcept {
  return ::lseek(fd, static_cast<off_t>(offset), whence);
}

int fsync(int fd) noexcept {
  return recorded(change("fsync", [] { return 0; }, path_of(fd)), [&](EffectLog& log, int) { log.synced(fd); });
}

int fdatasync(int fd) noexcept {
  return recorded(change("fdatasync", [] { return 0; }, path_of(fd)), [&](EffectLog& log, int) { log.synced(fd); });
}

int fstat(int fd, struct stat& status) noexcept {
  return look("fstat", [&] {
    const int failed = ::fstat(fd, &status);
    if (shown().one_name && S_ISREG(status.st_mode)) status.st_nlink = 1;
    return failed;
  });
}

int statx(int fd, struct ::statx& status) noexcept {
  return look("statx", [&] {
    const int failed = ::statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status);
    status.stx_mask |= STATX_DIOALIGN;
    status.stx_dio_offset_align = 512;
    return failed;
  });
}

int fstatat(int directory, const char* path, struct stat& status, int flags) noexcept {
  return look("fstatat", [&] {
    const auto seen = take_shown(path);
    if (!seen) return ::fstatat(directory, path, &status, flags);
    status = *seen;
    return 0;
  });
}

int fstatfs(int fd, struct statfs& status) noexcept {
  return look("fstatfs", [&] {
    const int failed = ::fstatfs(fd, &status);
    status.f_type = keeps_names_in_order() ? EXT4_SUPER_MAGIC : OVERLAYFS_SUPER_MAGIC;
    return failed;
  });
}

int fchmod(int fd, mode_t mode) noexcept {
  return change("fchmod", [&] { return ::fchmod(fd, mode); });
}

int fchmodat(int directory, const char* path, mode_t mode) noexcept {
  return change("fchmodat", [&] { return ::fchmodat(directory, path, mode, 0); });
}

int chgrpat(int directory, const char* path, gid_t group) noexcept {
  return change("chgrpat",
                [&] { return ::fchownat(directory, path, static_cast<uid_t>(-1), group, AT_SYMLINK_NOFOLLOW); });
}

int futimens(int fd, const timespec (&times)[2]) noexcept {
  return change("futimens", [&] { return ::futimens(fd, times); });
}

int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  return recorded(change("mkdirat", [&] { return ::mkdirat(directory, path, mode); }),
                  [&](EffectLog& log, int) { log.named(directory, path); });
}

int unlinkat(int directory, const char* path, int flags) noexcept {
  return recorded(change("unlinkat", [&] { return ::unlinkat(directory, path, flags); }),
                  [&](EffectLog& log, int) { log.removed(directory, path); });
}

ssize_t readlinkat(int directory, const char* path, std::span<char> into) noexcept {
  return look("readlinkat", [&] { return ::readlinkat(directory, path, into.data(), into.size()); });
}

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) noexcept {
  return recorded(change("linkat", [&] { return ::linkat(from_directory, from, to_directory, to, flags); }),
                  [&](EffectLog& log, int) { log.named(to_directory, to); });
}

int renameat(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) noexcept {
  const auto real = [&] { return ::renameat2(from_directory, from, to_directory, to, flags); };
  const bool exchanges = (flags & RENAME_EXCHANGE) != 0;
  return recorded(change(exchanges ? "exchange" : "renameat", real),
                  [&](EffectLog& log, int) { log.renamed(from_directory, from, to_directory, to, exchanges); });
}

ssize_t getdents(int fd, std::span<std::byte> into) noexcept {
  return look("getdents", [&] { return ::getdents64(fd, into.data(), into.size()); });
}

int set_lock(int fd, short type) noexcept {
  const auto real = [&] {
    struct ::flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return ::fcntl(fd, F_OFD_SETLK, &lock);
  };
  return type == F_UNLCK ? real() : look("set_lock", real);
}

int flock(int fd, int operation) noexcept {
  return look("flock", [&] { return ::flock(fd, operation); });
}

}  // namespace sherd::os
