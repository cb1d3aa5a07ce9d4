// Knows how to read from a descriptor that may have no data yet: Ctrl-C ends the wait.
#include "cli/input_pipe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/try.hpp"

namespace sherd::cli {

namespace {

// A signal that arrives just before read() blocks, or in another thread, would not interrupt it.
constexpr int kLongestWaitMilliseconds = 100;

}  // namespace

std::unique_ptr<InputPipe> InputPipe::standard_input(const Config& config) {
  return std::unique_ptr<InputPipe>(new InputPipe(STDIN_FILENO, config));
}

Result<std::unique_ptr<InputPipe>> InputPipe::open(const std::string& path, const Config& config) {
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) return std::unique_ptr<InputPipe>(new InputPipe(descriptor, config));
    if (errno != EINTR) return file_error("cannot open", path, errno);
    if (config.interrupted && config.interrupted()) return unavailable("interrupted");
  }
}

InputPipe::~InputPipe() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

Result<void> InputPipe::read_at(std::uint64_t offset, std::span<std::byte> into) {
  SHERD_TRY(got, read_some(into));
  if (got < into.size())
    return corrupt("ends at byte " + std::to_string(offset + got) + "; more elements are expected");
  return {};
}

Result<void> InputPipe::check_end() {
  std::byte one{};
  SHERD_TRY(got, read_some({&one, 1}));
  if (got != 0) return corrupt("holds more elements than the selection");
  return {};
}

Result<std::string_view> InputPipe::peek(std::size_t count) {
  const std::size_t had = ahead_.size();
  ahead_.resize(std::max(had, count));
  SHERD_TRY(got, take({reinterpret_cast<std::byte*>(ahead_.data()) + had, ahead_.size() - had}));
  ahead_.resize(had + got);
  return std::string_view(ahead_).substr(0, count);
}

Result<std::size_t> InputPipe::read_some(std::span<std::byte> into) {
  const std::size_t known = std::min(ahead_.size(), into.size());
  std::memcpy(into.data(), ahead_.data(), known);
  ahead_.erase(0, known);
  SHERD_TRY(got, take(into.subspan(known)));
  return known + got;
}

Result<std::size_t> InputPipe::read_units(std::span<std::byte> into, std::size_t unit) {
  SHERD_TRY(first, read_some(into.first(unit)));
  if (first < unit) return first;
  std::size_t done = unit + std::min(ahead_.size(), into.size() - unit);
  std::memcpy(into.data() + unit, ahead_.data(), done - unit);
  ahead_.erase(0, done - unit);
  for (pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0}; done < into.size();) {
    if (::poll(&ready, 1, 0) <= 0) break;
    const ssize_t got = ::read(descriptor_, into.data() + done, into.size() - done);
    if (got <= 0) break;  // the next call meets the end or the error again
    done += static_cast<std::size_t>(got);
  }
  const std::size_t rest = done % unit;
  ahead_.insert(0, reinterpret_cast<const char*>(into.data()) + done - rest, rest);
  return done - rest;
}

Result<std::size_t> InputPipe::take(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    if (interrupted_) {
      if (interrupted_()) return unavailable("interrupted");
      pollfd waiting{.fd = descriptor_, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&waiting, 1, kLongestWaitMilliseconds);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    }
    const ssize_t got = ::read(descriptor_, into.data() + done, into.size() - done);
    if (got == 0) break;
    if (got > 0)
      done += static_cast<std::size_t>(got);
    else if (errno != EINTR)
      return io_error(std::string("cannot be read: ") + std::strerror(errno));
  }
  return done;
}

}  // namespace sherd::cli
