// Gaps against a search through all of them.
#include "shard/gaps.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sherd {
namespace gaps_test {

std::optional<std::uint64_t> first_fit(std::vector<Extent>& gaps, std::uint64_t length) {
  for (Extent& gap : gaps) {
    if (gap.length < length) continue;
    const std::uint64_t offset = gap.offset;
    gap = {offset + length, gap.length - length};
    return offset;
  }
  return std::nullopt;
}

TEST(Gaps, AreTakenFromTheFirstThatIsLongEnough) {
  std::mt19937_64 random(7);
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<Extent> all;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      at += 1 + random() % 9;
      all.push_back({at, 1 + random() % 50});
      at = all.back().end();
    }
    Gaps gaps(all);
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t length = 1 + random() % 60;
      ASSERT_EQ(gaps.take(length), first_fit(all, length)) << count << " gaps, " << length << " bytes";
    }
  }
}

TEST(Gaps, AreInitiallyNone) { EXPECT_EQ(Gaps().take(1), std::nullopt); }

}  // namespace gaps_test
}  // namespace sherd
