// The lines of a data section as they are printed. They are collected in a small buffer, because a call of
// std::string::append costs more than printing a number.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "netcdf/cdl/decimal.hpp"

namespace sherd::netcdf {

inline constexpr std::string_view kContinued = "    ", kSeparator = ", ";
inline constexpr std::size_t kNumberSize = kDecimalSize + kSeparator.size();

/// Lines of limited length. The position is counted as in ncdump, which does not count some characters.
class Lines {
 public:
  Lines(std::string& to, std::size_t indent, std::uint64_t length) : to_(to), indent_(indent), longest_(length - 2) {}

  void set_position(std::size_t position) { position_ = position; }
  void raw(std::string_view text) {
    if (text.size() > collected_.size() - used_) flush();
    if (text.size() > collected_.size()) {
      to_ += text;
      return;
    }
    std::memcpy(collected_.data() + used_, text.data(), text.size());
    used_ += text.size();
  }
  void indent() {
    for (std::size_t i = 0; i < indent_; ++i) raw(" ");
  }
  /// Appends text that is not split.
  void put(std::string_view text) {
    if (is_too_long(text.size())) break_line();
    raw(text);
    position_ = text.ends_with('\n') ? indent_ : position_ + text.size();
  }
  /// Returns space for `kNumberSize` characters. put_number() adds the first `size` of them to the line.
  [[nodiscard]] char* number_space() {
    if (collected_.size() - used_ < kNumberSize) flush();
    return collected_.data() + used_;
  }
  void put_number(std::size_t size) {
    if (is_too_long(size)) {
      const std::string number(collected_.data() + used_, size);
      break_line();
      raw(number);
    } else {
      used_ += size;
    }
    position_ += size;
  }
  [[nodiscard]] std::size_t depth() const noexcept { return indent_; }
  /// Must be called before others use the text.
  void flush() {
    to_.append(collected_.data(), used_);
    used_ = 0;
  }

 private:
  [[nodiscard]] bool is_too_long(std::size_t size) const noexcept { return position_ + size > longest_ && size > 2; }
  void break_line() {
    raw("\n");
    indent();
    raw(kContinued);
    position_ = kContinued.size() + indent_;
  }

  std::string& to_;
  std::size_t indent_;
  std::uint64_t longest_;
  std::size_t position_ = 0;
  std::array<char, 4096> collected_;  // NOLINT(cppcoreguidelines-pro-type-member-init): as many as are used
  std::size_t used_ = 0;
};

}  // namespace sherd::netcdf
