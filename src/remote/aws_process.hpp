// The command of credential_process.
//
// It is run as the AWS command runs it: divided into words by the rules of quotes, without a shell, so no character in
// it has another meaning. It inherits the environment and stderr, and its stdin is empty. It is killed when the call or
// the process that waits for it ends, even by SIGKILL; programs that it has started itself are not.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/result.hpp"

namespace sherd::remote {

/// The words of a command as a POSIX shell divides it, with '…', "…" and `\`. invalid_argument for a quote that is not
/// closed, a `\` at the end, and a command without a word.
[[nodiscard]] Result<std::vector<std::string>> command_words(std::string_view command);

struct ProcessLimits {
  std::chrono::milliseconds time = std::chrono::seconds(60);
  std::size_t bytes = std::size_t{64} << 10;
};
/// The stdout of a program, which is found by PATH. `io` if it cannot be started or fails, `unsupported` beyond a
/// limit, which ends it, as does an interrupt of the call; no text of the command but its first word is in an error.
[[nodiscard]] Result<std::string> run_process(const std::vector<std::string>& words, const ProcessLimits& limits = {});

}  // namespace sherd::remote
