#include "cli/input_lines.hpp"

#include "base/try.hpp"

namespace sherd::cli {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

}  // namespace

Result<std::vector<InputLine>> InputLines::next() {
  std::vector<InputLine> lines;
  while (lines.empty() && !ended_) {
    const std::size_t had = rest_.size();
    rest_.resize(had + kBlockBytes);
    SHERD_TRY(got, input_->read_some({reinterpret_cast<std::byte*>(rest_.data()) + had, kBlockBytes}));
    rest_.resize(had + got);
    ended_ = got < kBlockBytes;
    if (ended_ && !rest_.empty()) rest_ += '\n';
    cut(lines);
    if (rest_.size() > kLongestLine)
      return invalid_argument("line " + std::to_string(number_ + 1) + ": is too long; " + std::string(expected_));
  }
  return lines;
}

void InputLines::cut(std::vector<InputLine>& lines) {
  std::size_t begin = 0;
  for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
    ++number_;
    if (rest_.find_first_not_of(" \t\r", begin) < end) lines.push_back({number_, rest_.substr(begin, end - begin)});
    begin = end + 1;
  }
  rest_.erase(0, begin);
}

}  // namespace sherd::cli
