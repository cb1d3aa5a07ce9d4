// A connected TCP socket with a buffer for reading.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/remote/http.hpp"

namespace sherd::remote {

/// The first line of a message and its headers.
struct MessageHead {
  std::string line;
  Headers headers;
};

class Socket {
 public:
  explicit Socket(int fd = -1);
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  /// Connected to a port of 127.0.0.1; without a connection if there is no listener.
  static Socket connect(std::uint16_t port);

  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  /// All of it, or false. `more`: other bytes follow at once.
  bool send(std::string_view bytes, bool more = false) const;
  /// The next message's first line and headers; none if the peer ends the connection, or sends more than 1 MiB.
  std::optional<MessageHead> read_head();
  /// As many bytes as there are, at least one; 0 at the end.
  std::size_t read_some(std::span<char> into);
  std::optional<std::string> read(std::uint64_t length);
  std::optional<std::string> read_line();
  std::string read_all();
  void close();
  /// Whether the peer has closed the connection, and everything that it sent was read.
  [[nodiscard]] bool is_abandoned() const;
  /// The peer sees a reset when this is closed.
  void reset_at_close() const;
  /// Lets calls of other threads that wait for the peer return.
  void interrupt() const;

 private:
  bool fill();

  int fd_;
  std::string buffer_;
  std::size_t used_ = 0;  ///< bytes of the buffer that have been read
};

}  // namespace sherd::remote
