// The text of a dataset as it is printed, and the printer of a variable's elements.
#pragma once

#include <string>
#include <string_view>

#include "base/try.hpp"
#include "netcdf/cdl/text.hpp"
#include "netcdf/time.hpp"
#include "sherd/netcdf.hpp"

namespace sherd::netcdf {

/// Collects text and passes it on in large pieces.
class TextBuffer {
 public:
  explicit TextBuffer(const TextSink& to) : to_(to) {}
  void operator+=(std::string_view text) { text_ += text; }
  /// The collected text, to which more may be appended.
  [[nodiscard]] std::string& text() noexcept { return text_; }
  /// Passes on the collected text if there is much of it, or in any case with `all`.
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

/// Settings for printing a value.
struct Printing {
  const DumpOptions& options;
  Digits digits;
};

/// Prints `name = values ;` for a variable in a group that is indented by `indent` spaces. `times` is set if values are
/// shown as dates.
Result<void> dump_data(const Variable& variable, std::size_t indent, const Printing& printing,
                       const std::optional<TimeUnits>& times, TextBuffer& to);

}  // namespace sherd::netcdf
