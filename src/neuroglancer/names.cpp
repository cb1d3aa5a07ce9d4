#include "neuroglancer/names.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace sherd::neuroglancer {
namespace {

using std::string_view;

bool is_hexadecimal_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

/// Removes the suffix if it is one of these.
template <std::size_t N>
bool cut_suffix(string_view& name, const std::array<string_view, N>& suffixes) {
  for (const string_view suffix : suffixes) {
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    return true;
  }
  return false;
}

bool cut(string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

/// Removes leading digits from the text.
bool cut_digits(string_view& text) {
  const auto count = static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  text.remove_prefix(count);
  return count > 0;
}

/// Removes an integer that may be negative.
bool cut_integer(string_view& text) {
  cut(text, '-');
  return cut_digits(text);
}

/// Removes a number with any number of decimals.
bool cut_decimal(string_view& text) { return cut_integer(text) && (!cut(text, '.') || cut_digits(text)); }

/// Three ranges, such as 0-64_0-64_-3-61.
bool is_box(string_view text, bool (*cut_number)(string_view&) = cut_integer) {
  for (int d = 0; d < 3; ++d) {
    if (d > 0 && !cut(text, '_')) return false;
    if (!cut_number(text) || !cut(text, '-') || !cut_number(text)) return false;
  }
  return text.empty();
}

bool is_hexadecimal(string_view text) { return !text.empty() && std::ranges::all_of(text, is_hexadecimal_digit); }

string_view without_compression(string_view name) {
  constexpr std::array<string_view, 6> compressions = {".gz", ".br", ".zstd", ".bz2", ".xz", ".lzma"};
  cut_suffix(name, compressions);
  return name;
}

}  // namespace

bool is_chunk_name(string_view name) noexcept {
  if (is_box(without_compression(name))) return true;
  constexpr std::array<string_view, 3> shards = {".shard", ".index", ".data"};
  return cut_suffix(name, shards) && is_hexadecimal(name);
}

bool is_beside_objects(string_view name) noexcept {
  name = without_compression(name);
  constexpr std::array<string_view, 2> of_boxes = {".frags", ".spatial"};
  if (cut_suffix(name, of_boxes)) return is_box(name, cut_decimal);  // of nanometres
  constexpr std::array<string_view, 1> of_shards = {".labels"};
  if (cut_suffix(name, of_shards)) return is_hexadecimal(name);
  if (!cut_digits(name) || !cut(name, ':')) return false;
  if (is_box(name)) return true;
  if (!cut_digits(name)) return false;
  return name.empty() || (cut(name, ':') && is_box(name));
}

bool is_beside_scales(string_view name) noexcept {
  name = without_compression(name);
  constexpr string_view levels = "levels/";
  if (!name.starts_with(levels)) return false;
  name.remove_prefix(levels.size());
  return cut_digits(name) && cut(name, '/') && cut_integer(name) && name.empty();
}

bool is_beside_chunks(string_view name) noexcept {
  name = without_compression(name);
  constexpr std::array<string_view, 3> documents = {"stats/voxel_counts.im", "stats/voxel_counts.mb",
                                                    "ccl/max_label.json"};
  if (std::ranges::find(documents, name) != documents.end()) return true;
  constexpr string_view counts = "stats/voxel_counts/";
  constexpr std::array<string_view, 1> json = {".json"};
  if (name.starts_with(counts)) return cut_suffix(name, json) && is_box(name.substr(counts.size()));
  constexpr std::array<string_view, 3> steps = {"ccl/faces/", "ccl/equivalences/", "ccl/relabel/"};
  return std::ranges::any_of(
      steps, [&](string_view step) { return name.starts_with(step) && name.find('/', step.size()) == name.npos; });
}

}  // namespace sherd::neuroglancer
