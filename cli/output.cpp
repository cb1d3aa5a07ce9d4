// Writes to standard output: small writes are buffered, large ones go straight through, and a closed pipe (`sherd read
// … | head`) is remembered rather than reported.
#include "cli/output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/buffer.hpp"
#include "base/try.hpp"
#include "cli/values.hpp"
#include "io/files.hpp"
#include "os/calls.hpp"

namespace sherd::cli {
namespace {
constexpr std::size_t kBuffered = std::size_t{64} << 10;
}

Result<void> Output::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBuffered) SHERD_TRY(flush());
  if (text.size() >= kBuffered) return put(text);
  buffer_ += text;
  return {};
}

Result<void> Output::write(std::span<const std::byte> bytes) {
  return write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<void> Output::print(const Json& json) { return write(json_text(json, is_terminal() ? 2 : 0) + "\n"); }

Result<void> Output::flush() {
  auto done = put(buffer_);
  buffer_.clear();
  return done;
}

Result<void> Output::put(std::string_view text) {
  if (text.empty()) return {};
  if (finish_) SHERD_TRY(finish_());
  if (os::write_all(STDOUT_FILENO, as_bytes(text)) == 0) return {};
  if (errno != EPIPE) return io_error(std::string("cannot write to standard output: ") + std::strerror(errno));
  closed_ = true;
  return unavailable("standard output was closed");
}

bool Output::is_terminal() noexcept { return ::isatty(STDOUT_FILENO) != 0; }

bool wants_colour(int descriptor) noexcept {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(descriptor) != 0 && (no_colour == nullptr || *no_colour == '\0') && terminal != nullptr &&
         std::strcmp(terminal, "dumb") != 0;
}

}  // namespace sherd::cli
