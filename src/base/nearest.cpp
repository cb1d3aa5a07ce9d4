// Restricted Damerau-Levenshtein distance: letters inserted, removed, replaced, or swapped with the next.
#include "base/nearest.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace sherd {
namespace {

/// Longer words are not names; comparing them would take long.
constexpr std::size_t kLongestWord = 64;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances between the prefixes of a and of b.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  auto& [before, last, row] = rows;
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = lowered(a[i - 1]), y = lowered(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == lowered(b[j - 2]) && lowered(a[i - 2]) == y)
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last.back();
}

std::string_view only_one_that_begins_with(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kShortest = 4;
  std::string_view found;
  for (const std::string_view name : known) {
    if (word.size() < kShortest || !name.starts_with(word)) continue;
    if (!found.empty()) return {};
    found = name;
  }
  return found;
}

}  // namespace

std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.empty() || word.size() > kLongestWord) return {};
  // One edit in three letters: "ls" is not a misspelt "rm", and "remove" is not "resize".
  std::size_t least = (word.size() + 2) / 3;
  std::string_view nearest;
  for (const std::string_view name : known) {
    const std::size_t distance = edit_distance(word, name);
    if (distance > least || (distance == least && !nearest.empty())) continue;
    least = distance;
    nearest = name;
  }
  return nearest.empty() ? only_one_that_begins_with(word, known) : nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view nearest = nearest_name(word, known);
  return nearest.empty() ? std::string() : "; did you mean '" + std::string(nearest) + "'?";
}

}  // namespace sherd
