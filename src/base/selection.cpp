// Selections as users type them: NumPy's basic indexing, `0:10,::-2,5,...`. Slices are clamped to the array as in
// Python; integers are not. Numbers beyond 64 bits saturate, and clamping then gives the same result as for their true
// value.
#include <charconv>
#include <limits>

#include "base/text.hpp"
#include "base/try.hpp"
#include "sherd/box.hpp"

namespace sherd {

namespace {

std::vector<std::string_view> split_trimmed(std::string_view text, char separator) {
  auto parts = split(text, separator);
  for (std::string_view& part : parts) part = trimmed(part);
  return parts;
}

Result<std::int64_t> parse_integer(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  const std::string_view digits = plus ? text.substr(1) : text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || error == std::errc::invalid_argument)
    return invalid_argument("'" + std::string(text) + "' is not an integer, a slice start:stop:step or '...'");
  if (error == std::errc::result_out_of_range)
    return text[0] == '-' ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  return value;
}

Result<std::optional<std::int64_t>> parse_bound(std::string_view text) {
  if (text.empty()) return std::optional<std::int64_t>();
  SHERD_TRY(value, parse_integer(text));
  return std::optional<std::int64_t>(value);
}

// The position of a slice's bound, between low and high.
std::int64_t clamped(std::optional<std::int64_t> bound, std::int64_t length, std::int64_t absent, bool backwards) {
  if (!bound) return absent;
  const std::int64_t low = backwards ? -1 : 0;
  const std::int64_t high = backwards ? length - 1 : length;
  const std::int64_t value = *bound < 0 ? *bound + length : *bound;
  return value < low ? low : value > high ? high : value;
}

Result<Range> parse_slice(std::string_view text, std::int64_t length) {
  const auto parts = split_trimmed(text, ':');
  if (parts.size() > 3) return invalid_argument("'" + std::string(text) + "': a slice is start:stop:step");
  SHERD_TRY(start, parse_bound(parts[0]));
  SHERD_TRY(stop, parse_bound(parts[1]));
  SHERD_TRY(given, parse_bound(parts.size() == 3 ? parts[2] : std::string_view()));
  const std::int64_t step = given.value_or(1);
  if (step == 0) return invalid_argument("'" + std::string(text) + "': the step of a slice must not be 0");
  const bool backwards = step < 0;
  const std::int64_t from = clamped(start, length, backwards ? length - 1 : 0, backwards);
  const std::int64_t to = clamped(stop, length, backwards ? -1 : length, backwards);
  const std::int64_t span = backwards ? from - to : to - from;
  if (span <= 0) return Range{0, 0, step};
  const std::uint64_t stride = backwards ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  return Range{static_cast<std::uint64_t>(from), (static_cast<std::uint64_t>(span) - 1) / stride + 1, step};
}

Result<Range> parse_index(std::string_view text, std::int64_t length) {
  SHERD_TRY(value, parse_integer(text));
  if (value < -length || value >= length)
    return invalid_argument("index " + std::string(text) + " is out of bounds for length " + std::to_string(length));
  return Range{static_cast<std::uint64_t>(value < 0 ? value + length : value), 1, 1};
}

std::string at_dimension(std::size_t d) { return "dimension " + std::to_string(d); }

// The items of the text, one for each dimension; nullopt for dimensions that `...` leaves whole.
Result<std::vector<std::optional<std::string_view>>> items_of(std::string_view text, std::size_t rank) {
  std::vector<std::string_view> parts = split_trimmed(text, ',');
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  if (parts.size() > 1 && parts.back().empty()) parts.pop_back();  // as in Python: `5,`
  std::size_t ellipses = 0;
  for (const std::string_view part : parts) ellipses += part == "...";
  if (ellipses > 1) return invalid_argument("'...' may appear only once in a selection");
  const std::size_t given = parts.size() - ellipses;
  if (given > rank)
    return invalid_argument("too many indices: the array has " + std::to_string(rank) +
                            " dimensions, the selection names " + std::to_string(given));
  if (ellipses == 0) parts.emplace_back("...");
  std::vector<std::optional<std::string_view>> items;
  for (const std::string_view part : parts) {
    if (part == "...")
      items.resize(items.size() + rank - given);
    else
      items.emplace_back(part);
  }
  return items;
}

}  // namespace

Result<Selection> Selection::parse(std::string_view text, const Shape& array_shape, std::vector<std::size_t>* dropped) {
  SHERD_TRY(items, items_of(text, array_shape.size()));
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < items.size(); ++d) {
    const auto length = static_cast<std::int64_t>(array_shape[d]);
    const std::string_view item = items[d].value_or(":");
    const bool slice = item.find(':') != std::string_view::npos;
    auto range = slice ? parse_slice(item, length) : parse_index(item, length);
    if (!range) return std::move(range).in([&] { return at_dimension(d); }).error();
    if (!slice && dropped) dropped->push_back(d);
    axes.emplace_back(*range);
  }
  return orthogonal(std::move(axes));
}

}  // namespace sherd
