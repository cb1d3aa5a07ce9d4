// The data section of CDL: values in rows, lines broken as in ncdump, and braces where an unlimited dimension other
// than the first makes the shape ambiguous.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/pool.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/cdl/dump.hpp"
#include "netcdf/cdl/lines.hpp"
#include "netcdf/elements.hpp"

namespace sherd::netcdf {

namespace {

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

/// Consecutive values.
struct Part {
  const Values& values;
  const std::vector<std::uint64_t>& nulls;
  std::size_t begin;
  std::uint64_t count;
};

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

  /// Whether the characters of a row are printed as one text.
  [[nodiscard]] bool joins_characters() const noexcept { return !format_; }

  /// Passes the text of each value to `to.text()`, which may change it, or prints it into `to.number_space()` and
  /// passes its end to `to.number()`.
  template <class To>
  void print(const Part& part, std::uint64_t count, To& to) const {
    const auto& [values, nulls, begin, available] = part;
    std::visit(
        [&](const auto& list) {
          using List = std::remove_cvref_t<decltype(list)>;
          const auto* fill = fill_ ? std::get_if<List>(&*fill_) : nullptr;
          if constexpr (std::is_arithmetic_v<typename List::value_type>)
            if (!times_ && !format_) {
              for (std::size_t i = begin; i < begin + count; ++i)
                to.number(fill != nullptr && is_fill(list[i], (*fill)[0]) ? print_fill(to.number_space())
                                                                          : print_number(to.number_space(), list[i]));
              return;
            }
          std::string text;
          for (std::size_t i = begin; i < begin + count; ++i) {
            text.clear();
            if (std::ranges::binary_search(nulls, i))
              text += kNil;
            else if (fill != nullptr && is_fill(list[i], (*fill)[0]))
              text += '_';
            else
              append_value(text, values, list, i);
            to.text(text);
          }
        },
        values);
  }

 private:
  static char* print_fill(char* to) {
    *to = '_';
    return to + 1;
  }
  template <class T>
  char* print_number(char* to, T value) const {
    if constexpr (std::is_floating_point_v<T>)
      return print_cdl_number(to, value, sizeof(T) == 4 ? printing_.digits.of_float : printing_.digits.of_double);
    else
      return std::to_chars(to, to + kDecimalSize, value).ptr;
  }

  template <class List>
  void append_value(std::string& to, const Values& all, const List& list, std::size_t i) const {
    if constexpr (std::is_same_v<List, std::vector<std::string>>) {
      append_cdl_text(to, list[i], TextUse::string);
    } else {
      if (times_) {
        times_->append_quoted(to, number_in(all, i), printing_.options.iso_times ? 'T' : ' ');
        return;
      }
      append_formatted(to, list[i]);
    }
  }

  template <class T>
  void append_formatted(std::string& to, T value) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isfinite(value))
        format_->append(to, static_cast<double>(value));
      else
        append_cdl_number(to, value, 0);  // a word, without digits
    } else if constexpr (std::is_unsigned_v<T>) {
      format_->append(to, static_cast<std::uint64_t>(value));
    } else {
      format_->append(to, static_cast<std::int64_t>(value));
    }
  }

  const Printing& printing_;
  const std::optional<TimeUnits>& times_;
  std::optional<Values> fill_;
  std::optional<CFormat> format_;
};

/// The source of a row's values, which is informed about progress in printing.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;
  /// The element with this number, in C order, and some that follow it.
  virtual Result<Part> from(std::uint64_t element) = 0;
  virtual Result<void> printed() = 0;
};

/// Properties shared by all rows of a variable.
struct Rows {
  const Variable& variable;
  const DumpOptions& options;
  std::size_t indent;
  ValuePrinter values;
  Shape shape = variable.shape();

  [[nodiscard]] std::uint64_t length() const { return shape.empty() ? 1 : shape.back(); }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t count = 1;
    for (std::size_t d = 0; d + 1 < shape.size(); ++d) count *= shape[d];
    return count;
  }
  /// Whether the characters of a row are one text.
  [[nodiscard]] bool are_texts() const { return variable.type() == Type::character && values.joins_characters(); }
};

/// Prints single rows. The form of a row depends only on its number.
class RowPrinter {
 public:
  RowPrinter(const Rows& rows, std::string& to)
      : rows_(rows),
        shape_(rows.shape),
        options_(rows.options),
        lines_(to, rows.indent, rows.options.line_length),
        index_(shape_.empty() ? 0 : shape_.size() - 1) {}

  Result<void> print(std::uint64_t row, Source& source) {
    std::uint64_t rest = row;
    for (std::size_t d = index_.size(); d-- > 0; rest /= shape_[d]) index_[d] = rest % shape_[d];
    lines_.set_position(lines_.depth() + (shape_.size() <= 1 ? rows_.variable.name().size() + 4 : 2));
    const std::size_t braces = open_braces();
    if (options_.row_comments && shape_.size() > 1) comment_row();
    std::string last;
    const std::uint64_t begin = row * rows_.length();
    SHERD_TRY(rows_.are_texts() ? text_row(begin, source) : value_row(begin, source, last));
    last.append(braces, '}');
    end_of_row(last);
    return printed(source);
  }

 private:
  /// Unlimited dimensions other than the first have braces. Returns how many are closed after the row.
  std::size_t open_braces() {
    std::size_t braces = 0;
    for (std::size_t d = 0; d < index_.size(); ++d) {
      if (index_[d] + 1 != shape_[d]) braces = 0;
      if (!rows_.variable.dimensions()[d + 1].unlimited) continue;
      ++braces;
      const auto behind = index_.begin() + static_cast<std::ptrdiff_t>(d) + 1;
      if (std::all_of(behind, index_.end(), [](std::uint64_t each) { return each == 0; })) lines_.put("{");
    }
    return braces;
  }

  Result<void> text_row(std::uint64_t begin, Source& source) {
    std::uint64_t nuls = 0;  // NULs at the end of the row are not printed
    lines_.raw("\"");
    for (std::uint64_t i = 0; i < rows_.length();) {
      SHERD_TRY(part, source.from(begin + i));
      const auto count = std::min(part.count, rows_.length() - i);
      const std::string_view text = std::string_view(std::get<std::string>(part.values)).substr(part.begin, count);
      const std::size_t end = text.find_last_not_of('\0') + 1;  // 0 if there are only NULs
      if (end > 0) {
        SHERD_TRY(characters(nuls, text.substr(0, end), source));
        nuls = 0;
      }
      nuls += text.size() - end;
      i += count;
    }
    lines_.raw("\"");
    return {};
  }

  /// Prints NULs and the text after them.
  Result<void> characters(std::uint64_t nuls, std::string_view text, Source& source) {
    constexpr std::size_t kPiece = std::size_t{1} << 16U;
    const std::string zeros(std::min<std::uint64_t>(nuls, kPiece), '\0');
    const auto print = [&](std::string_view piece) {
      std::string characters;
      append_cdl_characters(characters, piece, TextUse::data);
      lines_.raw(characters);
      return printed(source);
    };
    for (; nuls > 0; nuls -= std::min<std::uint64_t>(nuls, kPiece))
      SHERD_TRY(print(std::string_view(zeros).substr(0, std::min<std::uint64_t>(nuls, kPiece))));
    for (; !text.empty(); text.remove_prefix(std::min(text.size(), kPiece))) SHERD_TRY(print(text.substr(0, kPiece)));
    return {};
  }

  /// The values of a row as they are printed.
  class Row {
   public:
    Row(RowPrinter& printer, std::string& last) : printer_(printer), last_(last) {}
    [[nodiscard]] std::uint64_t printed() const noexcept { return printed_; }
    void text(std::string& text) {
      if (++printed_ == printer_.rows_.length()) {
        last_.swap(text);
        return;
      }
      text += kSeparator;
      if (!printer_.options_.value_comments) {
        printer_.lines_.put(text);
        return;
      }
      printer_.lines_.raw(text);
      printer_.comment_value(printed_ - 1);
    }
    char* number_space() { return space_ = printer_.lines_.number_space(); }
    void number(char* end) {
      if (printer_.options_.value_comments || printed_ + 1 == printer_.rows_.length()) {
        std::string copy(space_, end);
        text(copy);
        return;
      }
      ++printed_;
      std::memcpy(end, kSeparator.data(), kSeparator.size());
      printer_.lines_.put_number(static_cast<std::size_t>(end - space_) + kSeparator.size());
    }

   private:
    RowPrinter& printer_;
    std::string& last_;
    std::uint64_t printed_ = 0;
    char* space_ = nullptr;
  };

  /// All values except the last, which is stored in `last`.
  Result<void> value_row(std::uint64_t begin, Source& source, std::string& last) {
    Row row(*this, last);
    while (row.printed() < rows_.length()) {
      SHERD_TRY(part, source.from(begin + row.printed()));
      rows_.values.print(part, std::min(part.count, rows_.length() - row.printed()), row);
      SHERD_TRY(printed(source));
    }
    return {};
  }

  Result<void> printed(Source& source) {
    lines_.flush();
    return source.printed();
  }

  void end_of_row(const std::string& last) {
    bool last_row = true;
    for (std::size_t d = 0; d < index_.size(); ++d) last_row = last_row && index_[d] + 1 == shape_[d];
    if (options_.value_comments) {
      lines_.raw(last);
      lines_.raw(last_row ? ";" : ",");
      comment_value(rows_.length() - 1);
      return;
    }
    lines_.put(last);
    lines_.put(last_row ? " ;" : ",\n");
    lines_.put(last_row ? "\n" : "  ");
  }

  void comment_row() {
    std::string text = "// " + cdl_name(rows_.variable.name()) + "(";
    const std::uint64_t length = rows_.length();
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
    std::string text = "  // " + cdl_name(rows_.variable.name()) + "(";
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

  const Rows& rows_;
  const Shape& shape_;
  const DumpOptions& options_;
  Lines lines_;
  Shape index_;  ///< of the row
};

class DataPrinter {
  static constexpr std::uint64_t kLong = std::uint64_t{1} << 16U;  ///< longer rows are printed one by one

 public:
  DataPrinter(const Rows& rows, TextBuffer& to)
      : rows_(rows),
        to_(to),
        elements_(rows.variable),
        config_(rows.variable.has_array() ? rows.variable.array().config() : Config{}) {
    config_.progress = nullptr;
  }

  Result<void> run() {
    Lines lines(to_.text(), rows_.indent, rows_.options.line_length);
    lines.raw("\n");
    lines.indent();
    lines.raw(" " + cdl_name(rows_.variable.name()) + (rows_.shape.size() <= 1 ? " = " : " =\n  "));
    lines.flush();
    const std::uint64_t length = rows_.length(), count = rows_.count();
    for (std::uint64_t row = 0; row < count;) {
      SHERD_TRY(elements_.seek(row * length));
      const std::uint64_t whole = length > kLong ? 0 : elements_.available() / length;
      SHERD_TRY(whole > 0 ? print_block(row, whole) : print_long(row));
      row += std::max<std::uint64_t>(1, whole);
    }
    return {};
  }

 private:
  /// The rows of one block, in pieces printed by several threads.
  class Block final : public Source {
   public:
    Block(const ElementStream& elements, std::uint64_t begin) : elements_(elements), begin_(begin) {}
    Result<Part> from(std::uint64_t element) override {
      const std::uint64_t at = element - begin_;
      return Part{elements_.values(), elements_.nulls(), static_cast<std::size_t>(elements_.offset() + at),
                  elements_.available() - at};
    }
    Result<void> printed() override { return {}; }

   private:
    const ElementStream& elements_;
    std::uint64_t begin_;  ///< number of the element at the stream's offset
  };

  Result<void> print_block(std::uint64_t first, std::uint64_t count) {
    constexpr std::uint64_t kPiece = std::uint64_t{1} << 14U;  // elements
    constexpr std::size_t kPieces = 4;                         // per thread, at a time
    Block block(elements_, first * rows_.length());
    const std::uint64_t piece = std::max<std::uint64_t>(1, kPiece / rows_.length());
    texts_.resize(std::min<std::uint64_t>((count - 1) / piece + 1, kPieces * thread_count(config_.threads)));
    for (std::uint64_t begin = 0; begin < count; begin += piece * texts_.size()) {
      SHERD_TRY(parallel_for(texts_.size(), config_, [&](std::size_t i) -> Result<void> {
        texts_[i].clear();
        RowPrinter printer(rows_, texts_[i]);
        const std::uint64_t from = begin + i * piece, end = std::min(count, from + piece);
        for (std::uint64_t row = from; row < end; ++row) SHERD_TRY(printer.print(first + row, block));
        return {};
      }));
      for (const std::string& text : texts_) {
        to_ += text;
        SHERD_TRY(to_.pass());
      }
    }
    return {};
  }

  /// A row that is long, or not complete in one block: its text is passed on in pieces.
  class Stream final : public Source {
   public:
    Stream(ElementStream& elements, TextBuffer& to) : elements_(elements), to_(to) {}
    Result<Part> from(std::uint64_t element) override {
      SHERD_TRY(elements_.seek(element));
      return Part{elements_.values(), elements_.nulls(), elements_.offset(), elements_.available()};
    }
    Result<void> printed() override { return to_.pass(); }

   private:
    ElementStream& elements_;
    TextBuffer& to_;
  };

  Result<void> print_long(std::uint64_t row) {
    Stream stream(elements_, to_);
    return RowPrinter(rows_, to_.text()).print(row, stream);
  }

  const Rows& rows_;
  TextBuffer& to_;
  ElementStream elements_;
  Config config_;
  std::vector<std::string> texts_;
};

}  // namespace

Result<void> dump_data(const Variable& variable, std::size_t indent, const Printing& printing,
                       const std::optional<TimeUnits>& times, TextBuffer& to) {
  const Rows rows{variable, printing.options, indent, ValuePrinter(variable, printing, times)};
  return DataPrinter(rows, to).run();
}

}  // namespace sherd::netcdf
