// The data section of CDL: values in rows, lines broken where ncdump breaks them, and braces where an unlimited
// dimension other than the first makes the shape ambiguous.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "netcdf/attribute.hpp"
#include "netcdf/dump.hpp"
#include "netcdf/elements.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::string_view kContinued = "    ";

/// Lines of limited length. The position is that of ncdump, which leaves some characters out of the count.
class Lines {
 public:
  Lines(TextBuffer& to, std::size_t indent, std::uint64_t length) : to_(to), indent_(indent), longest_(length - 2) {}

  void set_position(std::size_t position) { position_ = position; }
  void raw(std::string_view text) { to_ += text; }
  void indent() { to_ += std::string(indent_, ' '); }
  /// Text that is not divided.
  void put(std::string_view text) {
    if (position_ + text.size() > longest_ && text.size() > 2) {
      to_ += "\n";
      indent();
      to_ += kContinued;
      position_ = kContinued.size() + indent_;
    }
    to_ += text;
    position_ = text.ends_with('\n') ? indent_ : position_ + text.size();
  }
  [[nodiscard]] std::size_t depth() const noexcept { return indent_; }

 private:
  TextBuffer& to_;
  std::size_t indent_;
  std::uint64_t longest_;
  std::size_t position_ = 0;
};

template <class T>
bool is_fill(const T& value, const T& fill) {
  if constexpr (std::is_floating_point_v<T>) {
    if ((value > 0) != (fill > 0)) return false;
    if (std::isfinite(value) && std::isfinite(fill))
      return std::abs(value - fill) <= std::abs(std::numeric_limits<T>::epsilon() * fill);
    return (std::isnan(value) && std::isnan(fill)) || (std::isinf(value) && std::isinf(fill));
  } else {
    return value == fill;
  }
}

double number_in(const Values& values, std::size_t i) {
  return std::visit(
      [&](const auto& list) -> double {
        if constexpr (std::is_arithmetic_v<typename std::remove_cvref_t<decltype(list)>::value_type>)
          return static_cast<double>(list[i]);
        else
          return 0;
      },
      values);
}

/// Prints single values of one variable.
class ValuePrinter {
 public:
  ValuePrinter(const Variable& variable, const Printing& printing, const std::optional<TimeUnits>& times)
      : printing_(printing), times_(times) {
    const Type type = variable.type();
    const Values* own = variable.attribute(kFillValue);
    if (own != nullptr && type_of(*own) == type && size_of(*own) == 1)
      fill_ = *own;
    else if (type != Type::int8 && type != Type::uint8)  // too many of these are data
      fill_ = default_fill(type);
    const Values* format = variable.attribute("C_format");
    const auto* text = format != nullptr ? std::get_if<std::string>(format) : nullptr;
    const auto& digits = type == Type::float32 ? printing.options.float_digits : printing.options.double_digits;
    const bool overridden = (type == Type::float32 || type == Type::float64) && digits;
    if (text != nullptr && !overridden) format_ = CFormat::parse(*text, type);
  }

  /// Whether characters of a row are one text.
  [[nodiscard]] bool joins_characters() const noexcept { return !format_; }

  void append(std::string& to, const Values& values, std::size_t i) const {
    std::visit([&](const auto& list) { append_value(to, values, list, i); }, values);
  }

 private:
  template <class List>
  void append_value(std::string& to, const Values& all, const List& list, std::size_t i) const {
    const auto* fill = fill_ ? std::get_if<List>(&*fill_) : nullptr;
    if (fill != nullptr && is_fill(list[i], (*fill)[0])) {
      to += '_';
      return;
    }
    if constexpr (std::is_same_v<List, std::vector<std::string>>) {
      append_cdl_text(to, list[i], TextPlace::string);
    } else {
      if (times_) {
        times_->append_quoted(to, number_in(all, i), printing_.options.iso_times ? 'T' : ' ');
        return;
      }
      append_plain(to, list[i]);
    }
  }

  template <class T>
  void append_plain(std::string& to, T value) const {
    if constexpr (std::is_floating_point_v<T>) {
      const int digits = sizeof(T) == 4 ? printing_.digits.of_float : printing_.digits.of_double;
      if (format_ && std::isfinite(value))
        format_->append(to, static_cast<double>(value));
      else
        append_cdl_number(to, value, digits);
    } else if (format_) {
      if constexpr (std::is_unsigned_v<T>)
        format_->append(to, static_cast<std::uint64_t>(value));
      else
        format_->append(to, static_cast<std::int64_t>(value));
    } else {
      std::array<char, 24> text{};
      const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
      to.append(text.data(), end.ptr);
    }
  }

  const Printing& printing_;
  const std::optional<TimeUnits>& times_;
  std::optional<Values> fill_;
  std::optional<CFormat> format_;
};

class DataPrinter {
 public:
  DataPrinter(const Variable& variable, std::size_t indent, const Printing& printing,
              const std::optional<TimeUnits>& times, TextBuffer& to)
      : variable_(variable),
        shape_(variable.shape()),
        options_(printing.options),
        lines_(to, indent, printing.options.line_length),
        values_(variable, printing, times),
        elements_(variable),
        to_(to) {}

  Result<void> run() {
    lines_.raw("\n");
    lines_.indent();
    lines_.raw(" ");
    lines_.raw(cdl_name(variable_.name()));
    if (shape_.size() <= 1) {
      lines_.raw(" = ");
      lines_.set_position(variable_.name().size() + 4 + lines_.depth());
    } else {
      lines_.raw(" =\n  ");
      lines_.set_position(2 + lines_.depth());
    }
    index_.assign(shape_.size(), 0);
    return rows(0, 0);
  }

 private:
  [[nodiscard]] std::uint64_t row_length() const { return shape_.empty() ? 1 : shape_.back(); }

  // As deep as the variable has dimensions.
  Result<void> rows(std::size_t level, std::size_t braces) {  // NOLINT(misc-no-recursion)
    if (level > 0 && level < shape_.size() && variable_.dimensions()[level].unlimited) {
      lines_.put("{");
      ++braces;
    }
    if (level + 1 >= shape_.size()) return row(braces);
    for (index_[level] = 0; index_[level] < shape_[level]; ++index_[level])
      SHERD_TRY(rows(level + 1, index_[level] + 1 == shape_[level] ? braces : 0));
    return {};
  }

  Result<void> row(std::size_t braces) {
    if (options_.comments == DumpOptions::Comments::brief && shape_.size() > 1) comment_row();
    const std::uint64_t begin = row_number_ * row_length();
    ++row_number_;
    std::string last;
    const bool is_text = variable_.type() == Type::character && values_.joins_characters();
    SHERD_TRY(is_text ? text_row(begin) : value_row(begin, last));
    last += std::string(braces, '}');
    return end_of_row(last);
  }

  Result<void> text_row(std::uint64_t begin) {
    std::uint64_t nuls = 0;  // perhaps at the end of the row, where they are not printed
    lines_.raw("\"");
    for (std::uint64_t i = 0; i < row_length();) {
      SHERD_TRY(elements_.seek(begin + i));
      const auto count = std::min<std::uint64_t>(elements_.available(), row_length() - i);
      const std::string_view part =
          std::string_view(std::get<std::string>(elements_.values())).substr(elements_.offset(), count);
      const std::size_t end = part.find_last_not_of('\0') + 1;  // 0 if there are only NULs
      if (end > 0) {
        SHERD_TRY(characters(nuls, part.substr(0, end)));
        nuls = 0;
      }
      nuls += part.size() - end;
      i += count;
    }
    lines_.raw("\"");
    return to_.pass();
  }

  /// Prints NULs and the text behind them.
  Result<void> characters(std::uint64_t nuls, std::string_view text) {
    constexpr std::size_t kPiece = std::size_t{1} << 16U;
    const std::string zeros(std::min<std::uint64_t>(nuls, kPiece), '\0');
    const auto print = [&](std::string_view piece) {
      std::string printed;
      append_cdl_characters(printed, piece, TextPlace::data);
      lines_.raw(printed);
      return to_.pass();
    };
    for (; nuls > 0; nuls -= std::min<std::uint64_t>(nuls, kPiece))
      SHERD_TRY(print(std::string_view(zeros).substr(0, std::min<std::uint64_t>(nuls, kPiece))));
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), kPiece))) SHERD_TRY(print(text.substr(0, kPiece)));
    return {};
  }

  /// All values but the last, which is left in `last`.
  Result<void> value_row(std::uint64_t begin, std::string& last) {
    for (std::uint64_t i = 0; i < row_length();) {
      SHERD_TRY(elements_.seek(begin + i));
      const auto count = std::min<std::uint64_t>(elements_.available(), row_length() - i);
      for (std::uint64_t each = 0; each < count; ++each, ++i) {
        last.clear();
        values_.append(last, elements_.values(), elements_.offset() + each);
        if (i + 1 == row_length()) break;
        last += ", ";
        if (options_.comments == DumpOptions::Comments::full) {
          lines_.raw(last);
          comment_value(i);
        } else {
          lines_.put(last);
        }
      }
      if (i + 1 == row_length()) break;
      SHERD_TRY(to_.pass());
    }
    return to_.pass();
  }

  Result<void> end_of_row(const std::string& last) {
    bool last_row = true;
    for (std::size_t d = 0; d + 1 < shape_.size(); ++d) last_row = last_row && index_[d] + 1 == shape_[d];
    if (options_.comments == DumpOptions::Comments::full) {
      lines_.raw(last);
      lines_.raw(last_row ? ";" : ",");
      comment_value(shape_.empty() ? 0 : row_length() - 1);
      return to_.pass();
    }
    lines_.put(last);
    if (last_row) {
      lines_.put(" ;");
      lines_.put("\n");
    } else {
      lines_.put(",\n");
      lines_.put("  ");
    }
    return to_.pass();
  }

  void comment_row() {
    std::string text = "// " + cdl_name(variable_.name()) + "(";
    const std::uint64_t length = row_length();
    if (!options_.fortran) {
      for (std::size_t d = 0; d + 1 < shape_.size(); ++d) text += std::to_string(index_[d]) + ",";
      text += length == 1 ? "0" : " 0-" + std::to_string(length - 1);
    } else {
      text += length == 1 ? "1" : "1-" + std::to_string(length) + " ";
      for (std::size_t d = shape_.size() - 1; d-- > 0;) text += "," + std::to_string(index_[d] + 1);
    }
    lines_.raw(text + ")\n");
    lines_.indent();
    lines_.raw(kContinued);
    lines_.set_position(kContinued.size() + lines_.depth());
  }

  void comment_value(std::uint64_t column) {
    std::string text = "  // " + cdl_name(variable_.name()) + "(";
    if (!options_.fortran) {
      for (std::size_t d = 0; d + 1 < shape_.size(); ++d) text += std::to_string(index_[d]) + ",";
      text += std::to_string(column);
    } else {
      text += std::to_string(column + 1);
      for (std::size_t d = shape_.empty() ? 0 : shape_.size() - 1; d-- > 0;)
        text += "," + std::to_string(index_[d] + 1);
    }
    lines_.raw(text + ")\n    ");
  }

  const Variable& variable_;
  Shape shape_;
  const DumpOptions& options_;
  Lines lines_;
  ValuePrinter values_;
  ElementStream elements_;
  TextBuffer& to_;
  Shape index_;
  std::uint64_t row_number_ = 0;
};

}  // namespace

Result<void> dump_data(const Variable& variable, std::size_t indent, const Printing& printing,
                       const std::optional<TimeUnits>& times, TextBuffer& to) {
  return DataPrinter(variable, indent, printing, times, to).run();
}

}  // namespace sherd::netcdf
