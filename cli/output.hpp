// Standard output: buffered, and without a complaint where the reader has gone.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd::cli {

class Output {
 public:
  Result<void> write(std::string_view text);
  Result<void> write(std::span<const std::byte> bytes);
  /// One value: one line, or indented on a terminal.
  Result<void> print(const Json& json);
  Result<void> flush();
  /// Whether the reader has gone; writes then fail, and that is not a failure of the command.
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  [[nodiscard]] static bool is_terminal() noexcept;

 private:
  Result<void> put(std::string_view text);
  std::string buffer_;
  bool closed_ = false;
};

/// Whether escape sequences for colours are welcome on this descriptor: a terminal, and no NO_COLOR.
[[nodiscard]] bool wants_colour(int descriptor) noexcept;

}  // namespace sherd::cli
