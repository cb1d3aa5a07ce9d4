// Draws a progress bar with bytes, rate and time left, at most ten times a second. Short calls draw nothing before the
// end.
#include "cli/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "cli/values.hpp"

namespace sherd::cli {
namespace {

constexpr double kBetweenDrawings = 0.1;
constexpr double kBetweenLines = 2.0;
constexpr double kShortest = 0.001;  // of the times that rates are computed with
constexpr std::size_t kLongestBar = 40;

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<unsigned long long>(std::llround(seconds));
  std::array<char, 40> text;
  if (whole >= 3600)
    std::snprintf(text.data(), text.size(), "%llu:%02llu:%02llu", whole / 3600, whole / 60 % 60, whole % 60);
  else
    std::snprintf(text.data(), text.size(), "%llu:%02llu", whole / 60, whole % 60);
  return text.data();
}

std::string bar(double share, std::size_t width) {
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(width));
  std::string text = "[" + std::string(filled, '=');
  if (filled < width) text += '>' + std::string(width - filled - 1, ' ');
  return text + "] ";
}

void put(const std::string& text) {
  // If standard error is closed, there is nothing to do.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressBar::ProgressBar(std::string label) : label_(std::move(label)), terminal_(::isatty(STDERR_FILENO) != 0) {}

void ProgressBar::clear() {
  if (drawn_ && terminal_) put("\r\x1b[K");
  drawn_ = false;
}

void ProgressBar::finish() {
  clear();
  if (!latest_) return;
  put(line(*latest_, std::chrono::duration<double>(Clock::now() - start_).count()) + "\n");
  latest_.reset();
}

std::string ProgressBar::line(const Progress& progress, double seconds) const {
  const double rate = static_cast<double>(progress.done) / std::max(seconds, kShortest);
  if (progress.total == 0)
    return label_ + "  " + print_bytes(progress.done) + "  " + print_bytes(static_cast<std::uint64_t>(rate)) + "/s";
  const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
  std::array<char, 16> percent;
  std::snprintf(percent.data(), percent.size(), "%3.0f%%", std::min(share, 1.0) * 100);
  std::string right = percent.data() + ("  " + print_bytes(progress.done)) + " of " + print_bytes(progress.total) +
                      "  " + print_bytes(static_cast<std::uint64_t>(rate)) + "/s";
  if (progress.done > 0 && progress.done < progress.total)
    right += "  " + clock_time(static_cast<double>(progress.total - progress.done) / rate) + " left";
  std::string left = label_ + "  ";
  const std::size_t width = terminal_ ? terminal_width() : 0;
  const std::size_t taken = left.size() + right.size() + 4;
  if (width > taken + 10) left += bar(std::min(share, 1.0), std::min(width - taken, kLongestBar));
  return left + right;
}

void ProgressBar::update(const Progress& progress) {
  latest_ = progress;
  const auto now = Clock::now();
  const double since = std::chrono::duration<double>(now - last_).count();
  if (since < (terminal_ ? kBetweenDrawings : kBetweenLines)) return;
  last_ = now;
  drawn_ = true;
  const std::string text = line(progress, std::chrono::duration<double>(now - start_).count());
  put(terminal_ ? "\r" + text.substr(0, terminal_width() - 1) + "\x1b[K" : text + "\n");
}

}  // namespace sherd::cli
