#include "tests/faults/effects.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace sherd::os {
namespace {

struct stat status_of(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) std::abort();
  return status;
}

/// The inode of the directory of a path, and the name in it.
std::pair<ino_t, std::string> split(int directory, std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos && directory != AT_FDCWD) return {status_of(directory).st_ino, std::string(path)};
  const std::string above = slash == path.npos ? "." : std::string(path.substr(0, slash + 1));
  struct stat status{};
  if (::fstatat(directory, above.c_str(), &status, 0) != 0) std::abort();
  return {status.st_ino, std::string(path.substr(slash + 1))};
}

}  // namespace

EffectLog::~EffectLog() {
  for (const auto& [inode, fd] : kept_) ::close(fd);
}

void EffectLog::add(Effect effect) {
  const std::lock_guard hold(mutex_);
  effects_.push_back(std::move(effect));
}

std::vector<Effect> EffectLog::all() const {
  const std::lock_guard hold(mutex_);
  return effects_;
}

void EffectLog::wrote(int fd, std::uint64_t offset, std::span<const std::byte> bytes, bool direct) {
  if (bytes.empty()) return;
  add({direct ? Effect::Kind::appended : Effect::Kind::written, status_of(fd).st_ino, offset,
       std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
}

void EffectLog::resized(int fd, std::uint64_t size) { add({Effect::Kind::resized, status_of(fd).st_ino, size}); }

void EffectLog::synced(int fd) { add({Effect::Kind::synced, status_of(fd).st_ino}); }

Effect::Name EffectLog::keep(int directory, const char* path) {
  const int fd = ::openat(directory, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  const struct stat status = status_of(fd);
  auto [in, name] = split(directory, path);
  const std::lock_guard hold(mutex_);
  if (!kept_.try_emplace(status.st_ino, fd).second) ::close(fd);
  return {.in = in, .name = std::move(name), .inode = status.st_ino, .is_directory = S_ISDIR(status.st_mode)};
}

void EffectLog::set(std::vector<Effect::Name> names) {
  add({.kind = Effect::Kind::named, .of = names.front().in, .names = std::move(names)});
}

void EffectLog::named(int directory, const char* path) { set({keep(directory, path)}); }

void EffectLog::removed(int directory, const char* path) {
  auto [in, name] = split(directory, path);
  set({{.in = in, .name = std::move(name)}});
}

void EffectLog::renamed(int from_directory, const char* from, int to_directory, const char* to, bool exchanged) {
  auto [in, name] = split(from_directory, from);
  set({keep(to_directory, to),
       exchanged ? keep(from_directory, from) : Effect::Name{.in = in, .name = std::move(name)}});
}

}  // namespace sherd::os
