// Standard input as lines.
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

/// Lines of standard input, as many as a block of it ends; the last one may lack its end. Blank lines are left out.
class InputLines {
 public:
  /// `expected` says what a line is, for the error about one that is too long.
  InputLines(const Config& config, std::string_view expected)
      : input_(InputPipe::standard_input(config)), expected_(expected) {}

  /// Empty at the end only.
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
