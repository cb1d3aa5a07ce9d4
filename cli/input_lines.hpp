// Reads standard input line by line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input_pipe.hpp"

namespace sherd::cli {

struct InputLine {
  std::uint64_t number;  ///< from 1
  std::string text;
};

/// Reads the lines that end in one block of standard input. The last line need not end in a newline. Skips blank lines.
class InputLines {
 public:
  /// `expected` describes a line, for the error about one that is too long.
  InputLines(const Config& config, std::string_view expected)
      : input_(InputPipe::standard_input(config)), expected_(expected) {}

  /// Empty only at the end of the input.
  Result<std::vector<InputLine>> next();

 private:
  void cut(std::vector<InputLine>& lines);

  std::unique_ptr<InputPipe> input_;
  std::string_view expected_;
  std::string rest_;
  std::uint64_t number_ = 0;
  bool ended_ = false;
};

}  // namespace sherd::cli
