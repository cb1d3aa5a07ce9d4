// The text of a dataset on its way out, and the printer of a variable's elements.
#pragma once

#include <string>
#include <string_view>

#include "base/try.hpp"
#include "netcdf/cdl.hpp"
#include "netcdf/time.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// Collects text and hands it on in large pieces.
class TextBuffer {
 public:
  explicit TextBuffer(const TextSink& to) : to_(to) {}
  void operator+=(std::string_view text) { text_ += text; }
  /// What has been collected; more may be appended.
  [[nodiscard]] std::string& text() noexcept { return text_; }
  /// Hands on what has been collected if it is much, or in any case.
  Result<void> pass(bool all = false) {
    if (text_.empty() || (!all && text_.size() < kMuch)) return {};
    auto passed = to_(text_);
    text_.clear();
    return passed;
  }

 private:
  static constexpr std::size_t kMuch = std::size_t{1} << 16U;
  const TextSink& to_;
  std::string text_;
};

/// What the printing of a value depends on.
struct Printing {
  const DumpOptions& options;
  Digits digits;
};

/// Prints `name = values ;` of a variable in a group that is `indent` spaces deep. `times` is set if values are shown
/// as dates.
Result<void> dump_data(const Variable& variable, std::size_t indent, const Printing& printing,
                       const std::optional<TimeUnits>& times, TextBuffer& to);

}  // namespace sherd::netcdf
