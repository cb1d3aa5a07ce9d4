// Computes parts of a typed selection, and slabs that cut through few chunks.
#include "cli/slabs.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace sherd::cli {
namespace {

// A chunk's length in elements of the selection: with step 2, every other element counts.
Shape along(const Selection& selection, const Shape& lengths) {
  if (lengths.size() != selection.axes().size()) return {};
  Shape seen;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    const auto step = std::get<Range>(selection.axes()[d]).step;
    const auto stride = step < 0 ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
    seen.push_back(std::max<std::uint64_t>(1, lengths[d] / stride));
  }
  return seen;
}

}  // namespace

Result<TypedSelection> parse_selection(const std::string& text, const Shape& array_shape) {
  // An empty selection: a script probably failed to fill it in, and a write would go to the whole array.
  if (text.find_first_not_of(" \t") == text.npos)
    return invalid_argument("--select: is empty; write '...', or leave it out, for all elements");
  std::vector<std::size_t> dropped;
  SHERD_TRY(selection, Selection::parse(text, array_shape, &dropped).in([] { return "--select"; }));
  Shape kept;
  const Shape all = selection.shape();
  for (std::size_t d = 0; d < all.size(); ++d)
    if (std::find(dropped.begin(), dropped.end(), d) == dropped.end()) kept.push_back(all[d]);
  return TypedSelection{std::move(selection), std::move(kept)};
}

BlockRequest slabs(const Array& array, const Selection& selection, std::uint64_t bytes) {
  return {.shape = selection.shape(),
          .coarse = along(selection, array.shards().value_or(Shape{})),
          .fine = along(selection, array.chunks()),
          .elements = std::max<std::uint64_t>(1, bytes / array.dtype().size()),
          .random_access = false};
}

Selection part_of(const Selection& selection, const Box& box) {
  std::vector<Selection::Axis> axes;
  for (std::size_t d = 0; d < box.shape.size(); ++d) {
    const Range& range = std::get<Range>(selection.axes()[d]);
    // Negative steps are additions modulo 2^64; the results are inside the array.
    const std::uint64_t start = range.start + static_cast<std::uint64_t>(range.step) * box.origin[d];
    axes.emplace_back(Range{start, box.shape[d], range.step});
  }
  return Selection::orthogonal(std::move(axes));
}

}  // namespace sherd::cli
