#include "tests/remote/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sherd::remote {

constexpr std::size_t most_head = std::size_t{1} << 20;

Socket::Socket(int fd) : fd_(fd) {
  const int on = 1;
  if (fd_ >= 0) ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Socket::~Socket() { close(); }

Socket::Socket(Socket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)), used_(std::exchange(other.used_, 0)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(buffer_, other.buffer_);
  std::swap(used_, other.used_);
  return *this;
}

Socket Socket::connect(std::uint16_t port) {
  Socket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(made.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) made.close();
  return made;
}

bool Socket::send(std::string_view bytes, bool more) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | (more ? MSG_MORE : 0));
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Socket::fill() {
  buffer_.erase(0, std::exchange(used_, 0));
  char piece[16384];
  ssize_t got = -1;
  do got = ::recv(fd_, piece, sizeof piece, 0);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  buffer_.append(piece, static_cast<std::size_t>(got));
  return true;
}

std::optional<std::string> Socket::read_line() {
  std::size_t from = used_;
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n", from)) == std::string::npos) {
    from = buffer_.size() - used_;
    from -= from > 0 ? 1 : 0;
    if (buffer_.size() - used_ > most_head || !fill()) return {};
  }
  std::string line = buffer_.substr(used_, end - used_);
  used_ = end + 2;
  return line;
}

std::optional<MessageHead> Socket::read_head() {
  MessageHead head;
  std::size_t total = 0;
  auto line = read_line();
  if (!line) return {};
  head.line = std::move(*line);
  while ((line = read_line())) {
    if (line->empty()) return head;
    if ((total += line->size()) > most_head) return {};
    const std::size_t colon = line->find(':');
    if (colon == std::string::npos) return {};
    const std::size_t start = line->find_first_not_of(" \t", colon + 1);
    head.headers.push_back({line->substr(0, colon), start == std::string::npos ? "" : line->substr(start)});
  }
  return {};
}

std::size_t Socket::read_some(std::span<char> into) {
  if (used_ < buffer_.size()) {
    const std::size_t length = std::min(into.size(), buffer_.size() - used_);
    std::memcpy(into.data(), buffer_.data() + used_, length);
    used_ += length;
    return length;
  }
  ssize_t got = -1;
  do got = ::recv(fd_, into.data(), into.size(), 0);
  while (got < 0 && errno == EINTR);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::optional<std::string> Socket::read(std::uint64_t length) {
  std::string bytes(length, '\0');
  for (std::size_t done = 0; done < length;) {
    const std::size_t got = read_some(std::span(bytes).subspan(done));
    if (got == 0) return {};
    done += got;
  }
  return bytes;
}

std::string Socket::read_all() {
  std::string all = buffer_.substr(used_);
  used_ = buffer_.size();
  while (fill()) all.append(buffer_, std::exchange(used_, buffer_.size()));
  return all;
}

void Socket::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool Socket::is_abandoned() const {
  char next = 0;
  return used_ == buffer_.size() && ::recv(fd_, &next, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void Socket::reset_at_close() const {
  const linger at_once{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void Socket::interrupt() const {
  if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
}

}  // namespace sherd::remote
