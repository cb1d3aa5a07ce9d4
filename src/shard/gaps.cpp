// Finds the first of many gaps that is large enough: a tree has the maximum length for each half of them, and
// recursively for the halves of those. Gaps only shrink, so the tree keeps its form.
#include "shard/gaps.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace sherd {

Gaps::Gaps(std::vector<Extent> by_offset) : gaps_(std::move(by_offset)) {
  const std::size_t leaves = std::bit_ceil(gaps_.size());
  longest_.resize(2 * leaves);
  std::ranges::transform(gaps_, longest_.begin() + static_cast<std::ptrdiff_t>(leaves), &Extent::length);
  for (std::size_t i = leaves; --i > 0;) longest_[i] = std::max(longest_[2 * i], longest_[2 * i + 1]);
}

std::optional<std::uint64_t> Gaps::take(std::uint64_t length) noexcept {
  assert(length > 0);
  if (gaps_.empty() || longest_[1] < length) return std::nullopt;
  const std::size_t leaves = longest_.size() / 2;
  std::size_t i = 1;
  while (i < leaves) i = longest_[2 * i] >= length ? 2 * i : 2 * i + 1;
  Extent& gap = gaps_[i - leaves];
  const std::uint64_t offset = gap.offset;
  gap = {offset + length, gap.length - length};
  longest_[i] = gap.length;
  while ((i /= 2) > 0) longest_[i] = std::max(longest_[2 * i], longest_[2 * i + 1]);
  return offset;
}

}  // namespace sherd
