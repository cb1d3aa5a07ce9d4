// Shows the progress of a long call on standard error.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "sherd/options.hpp"

namespace sherd::cli {

/// One line that is redrawn; if standard error is not a terminal, a new line now and then. The destructor erases it.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// A total of 0 is unknown.
  void update(const Progress& progress);
  /// Erases the bar before anything else is printed.
  void clear();
  /// Shows the last progress as a line that remains, unless none was reported since the last such line.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] std::string line(const Progress& progress, double seconds) const;

  std::string label_;
  bool terminal_;
  bool drawn_ = false;
  std::optional<Progress> latest_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace sherd::cli
