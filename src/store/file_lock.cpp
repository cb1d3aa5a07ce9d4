// Lock files `.NAME.sherd-lock` beside an object NAME; the protocol stands at the top of file.cpp.
// The content of a lock file is one token of 16 hexadecimal digits and a newline for each temporary file
// `.NAME.TOKEN.sherd-tmp` that its holder has begun. Tokens are checked before they become part of a path.
#include "store/file_lock.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/try.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

constexpr std::size_t kTokenDigits = 16;
constexpr std::size_t kLineBytes = kTokenDigits + 1;
/// Of a lock file: a holder that has begun so many writers has ended the first of them long ago.
constexpr std::size_t kMaxContent = 256 * kLineBytes;
/// Names up to this length leave room for all that a side file adds within the 255 bytes of a file name.
constexpr std::size_t kMaxStemBytes = 200;

std::string hex(std::uint64_t word) {
  std::string digits(kTokenDigits, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, word >>= 4) *digit = "0123456789abcdef"[word & 15];
  return digits;
}

std::string lock_name(const std::string& stem) { return "." + stem + std::string(kLockSuffix); }
std::string temp_name(const std::string& stem, std::string_view token) {
  return "." + stem + "." + std::string(token) + std::string(kTempSuffix);
}

int set_lock(int fd, short type, FileLock::Wait wait) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  int failed = 0;
  do {
    failed = ::fcntl(fd, wait == FileLock::Wait::yes ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
  } while (failed != 0 && errno == EINTR);
  return failed == 0 ? 0 : errno;
}

/// Whether the name still stands for the file that is open: its last holder removes it.
bool is_still_named(int directory, const std::string& name, int fd) noexcept {
  struct stat opened {};
  struct stat named {};
  return ::fstat(fd, &opened) == 0 && ::fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

Error lock_error(const std::string& name, int code) {
  if (code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP || code == EINVAL) {
    return unsupported("cannot lock '" + name + "': this file system has no locks; mount it with them to write here");
  }
  return system_error("lock", name, code);
}

}  // namespace

std::string side_stem(std::string_view name) {
  if (name.size() <= kMaxStemBytes) return std::string(name);
  // FNV-1a. Two names with one hash would share a lock, which does no harm.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hex(hash);
}

std::string_view stem_of_side_file(std::string_view side_file) noexcept {
  side_file.remove_prefix(1);
  if (side_file.ends_with(kLockSuffix)) return side_file.substr(0, side_file.size() - kLockSuffix.size());
  side_file.remove_suffix(kTempSuffix.size());
  return side_file.substr(0, side_file.rfind('.'));
}

FileLock::FileLock(MadeDirectory directory, std::string stem, Fd file)
    : directory_(std::move(directory)), stem_(std::move(stem)), file_(std::move(file)), process_(::getpid()) {}

Result<std::unique_ptr<FileLock>> FileLock::take(MadeDirectory directory, std::string stem, Wait wait) {
  const std::string name = lock_name(stem);
  for (;;) {
    Fd file(::openat(directory.fd.get(), name.c_str(),
                     O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666));
    if (!file && errno == EINTR) continue;
    if (!file && errno == ENOENT) return std::unique_ptr<FileLock>();
    if (!file) return system_error("open", name, errno);
    const int code = set_lock(file.get(), F_WRLCK, wait);
    if (wait == Wait::no && (code == EAGAIN || code == EACCES)) return std::unique_ptr<FileLock>();
    if (code != 0) return lock_error(name, code);
    if (!is_still_named(directory.fd.get(), name, file.get())) continue;
    std::unique_ptr<FileLock> lock(new FileLock(std::move(directory), std::move(stem), std::move(file)));
    SHERD_TRY(lock->remove_leftovers());
    return lock;
  }
}

FileLock::~FileLock() {
  if (!is_ours()) return;
  ::unlinkat(directory(), lock_name(stem_).c_str(), 0);
  // A child made by fork() since may still have the file open, and closing ours alone would leave it locked.
  set_lock(file_.get(), F_UNLCK, Wait::no);
}

bool FileLock::is_ours() const noexcept { return process_ == ::getpid(); }

Result<void> FileLock::remove_leftovers() {
  std::array<char, kMaxContent> content{};
  ssize_t count = 0;
  do {
    count = ::pread(file_.get(), content.data(), content.size(), 0);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return system_error("read", lock_name(stem_), errno);
  const std::string_view lines(content.data(), static_cast<std::size_t>(count));
  for (std::size_t at = 0; at + kLineBytes <= lines.size(); at += kLineBytes) {
    const auto token = lines.substr(at, kTokenDigits);
    if (token.find_first_not_of("0123456789abcdef") != std::string_view::npos) continue;
    ::unlinkat(directory(), temp_name(stem_, token).c_str(), 0);
  }
  return {};
}

Result<std::string> FileLock::new_temp_name() {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) return system_error("name", temp_name(stem_, ""), errno);
  const std::string token = hex(random);
  const std::string line = token + "\n";
  ssize_t count = 0;
  do {
    count = ::pwrite(file_.get(), line.data(), line.size(), end_);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return system_error("write", lock_name(stem_), errno);
  if (count != static_cast<ssize_t>(line.size())) return system_error("write", lock_name(stem_), ENOSPC);
  end_ = (end_ + count) % static_cast<off_t>(kMaxContent);
  return temp_name(stem_, token);
}

}  // namespace sherd
