// Standard output: buffered, and silent if the reader is gone.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd::cli {

class Output {
 public:
  Output() = default;
  /// Before anything is printed, `finish` must have succeeded.
  explicit Output(std::function<Result<void>()> finish) : finish_(std::move(finish)) {}
  Result<void> write(std::string_view text);
  Result<void> write(std::span<const std::byte> bytes);
  /// Prints one JSON value: on one line, or indented on a terminal.
  Result<void> print(const Json& json);
  Result<void> flush();
  /// Whether the reader has closed the pipe. Writes then fail, but the command does not.
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  [[nodiscard]] static bool is_terminal() noexcept;

 private:
  Result<void> put(std::string_view text);
  std::function<Result<void>()> finish_;
  std::string buffer_;
  bool closed_ = false;
};

/// Whether to print colours on this descriptor: it is a terminal, and NO_COLOR is not set.
[[nodiscard]] bool wants_colour(int descriptor) noexcept;

}  // namespace sherd::cli
