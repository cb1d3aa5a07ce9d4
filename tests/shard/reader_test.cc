// Which ranges of an object are read together, and how their bytes are distributed afterwards.
#include "shard/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "store/span.hpp"

namespace sherd {
namespace reader_test {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

/// The extents, tagged with their numbers.
std::vector<Wanted> wanted(std::initializer_list<Extent> extents) {
  std::vector<Wanted> all;
  for (const Extent extent : extents) all.push_back({extent, all.size()});
  return all;
}

std::vector<Extent> extents_of(const std::vector<Run>& runs) {
  std::vector<Extent> extents;
  for (const Run& run : runs) extents.push_back(run.extent);
  return extents;
}

std::vector<Extent> coalesced(std::vector<Wanted> ranges, std::uint64_t gap, std::uint64_t max_run_bytes = kAny) {
  return extents_of(coalesce(ranges, gap, max_run_bytes));
}

TEST(Coalesce, OfNothingIsNothing) { EXPECT_THAT(coalesced({}, 10), IsEmpty()); }

TEST(Coalesce, SortsByOffsetAndSaysWhichRangesARunHas) {
  auto ranges = wanted({{300, 10}, {100, 10}, {112, 10}});
  const auto runs = coalesce(ranges, 2, kAny);
  ASSERT_THAT(extents_of(runs), ElementsAre(Extent{100, 22}, Extent{300, 10}));
  EXPECT_EQ(runs[0].first, 0U);
  EXPECT_EQ(runs[0].last, 2U);
  EXPECT_EQ(runs[1].first, 2U);
  EXPECT_EQ(runs[1].last, 3U);
  EXPECT_EQ(ranges[0].tag, 1U);
  EXPECT_EQ(ranges[1].tag, 2U);
  EXPECT_EQ(ranges[2].tag, 0U);
}

TEST(Coalesce, JoinsRangesThatAreNoFartherApartThanTheGap) {
  EXPECT_THAT(coalesced(wanted({{0, 10}, {15, 10}}), 5), ElementsAre(Extent{0, 25}));
  EXPECT_THAT(coalesced(wanted({{0, 10}, {16, 10}}), 5), ElementsAre(Extent{0, 10}, Extent{16, 10}));
  EXPECT_THAT(coalesced(wanted({{0, 10}, {10, 10}}), 0), ElementsAre(Extent{0, 20})) << "adjacent ranges are joined";
}

TEST(Coalesce, JoinsRangesThatOverlapOrContainEachOther) {
  EXPECT_THAT(coalesced(wanted({{0, 10}, {5, 10}}), 0), ElementsAre(Extent{0, 15}));
  EXPECT_THAT(coalesced(wanted({{0, 100}, {5, 10}, {50, 10}}), 0), ElementsAre(Extent{0, 100}));
  EXPECT_THAT(coalesced(wanted({{7, 9}, {7, 9}}), 0), ElementsAre(Extent{7, 9}));
}

TEST(Coalesce, EndsARunBeforeItGetsLongerThanItMay) {
  EXPECT_THAT(coalesced(wanted({{0, 10}, {10, 10}, {20, 10}, {30, 10}}), 0, 20),
              ElementsAre(Extent{0, 20}, Extent{20, 20}));
  EXPECT_THAT(coalesced(wanted({{0, 10}, {12, 10}}), 5, 21), ElementsAre(Extent{0, 10}, Extent{12, 10}))
      << "the gap counts, too";
}

TEST(Coalesce, ReadsALargeRangeAndThoseInsideItWithOneRead) {
  EXPECT_THAT(coalesced(wanted({{0, 100}, {100, 1}}), 0, 20), ElementsAre(Extent{0, 100}, Extent{100, 1}));
  EXPECT_THAT(coalesced(wanted({{0, 100}, {40, 20}}), 0, 20), ElementsAre(Extent{0, 100}));
}

TEST(Coalesce, KeepsRangesOfOneOffsetInTheOrderOfTheirTags) {
  std::vector<Wanted> ranges{{{5, 1}, 2}, {{5, 3}, 0}, {{5, 2}, 1}};
  EXPECT_THAT(extents_of(coalesce(ranges, 0, kAny)), ElementsAre(Extent{5, 3}));
  EXPECT_EQ(ranges[0].tag, 0U);
  EXPECT_EQ(ranges[1].tag, 1U);
  EXPECT_EQ(ranges[2].tag, 2U);
}

TEST(Coalesce, HasEveryRangeInExactlyOneRunThatContainsIt) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Wanted> ranges(random() % 40);
    for (std::size_t i = 0; i < ranges.size(); ++i) ranges[i] = {{random() % 500, random() % 40}, i};
    const std::uint64_t gap = random() % 10, longest = 1 + random() % 100;
    const auto runs = coalesce(ranges, gap, longest);
    std::size_t next = 0;
    for (const auto& run : runs) {
      ASSERT_EQ(run.first, next);
      ASSERT_LT(run.first, run.last);
      bool is_alone = false;
      for (; next < run.last; ++next) {
        ASSERT_GE(ranges[next].extent.offset, run.extent.offset);
        ASSERT_LE(ranges[next].extent.end(), run.extent.end());
        is_alone |= ranges[next].extent.length >= run.extent.length;
      }
      ASSERT_TRUE(run.extent.length <= longest || is_alone);
    }
    ASSERT_EQ(next, ranges.size());
  }
}

TEST(ReadRuns, HandsEachExtentItsOwnBytes) {
  std::mt19937_64 random(5);
  std::string object(1000, '\0');
  for (char& byte : object) byte = static_cast<char>(random());
  SpanSource source("object", as_bytes(object));
  for (int round = 0; round < 100; ++round) {
    std::vector<Wanted> wanted;
    for (std::size_t i = 0; i < 20; ++i) {
      const std::uint64_t offset = random() % object.size();
      wanted.push_back({{offset, random() % std::min<std::uint64_t>(60, object.size() - offset + 1)}, i});
    }
    const auto runs = coalesce(wanted, random() % 50, 1 + random() % 200);
    std::vector<int> visits(wanted.size(), 0);
    read_runs(source, runs, wanted, [&](const Wanted& each, std::span<const std::byte> bytes) -> Result<void> {
      ++visits[each.tag];
      const std::string expected = object.substr(each.extent.offset, each.extent.length);
      EXPECT_TRUE(std::ranges::equal(bytes, as_bytes(expected))) << each.extent.offset << "+" << each.extent.length;
      return {};
    }).value();
    EXPECT_THAT(visits, testing::Each(1));
  }
}

TEST(ReadRuns, EndsWithTheFailureOfItsVisitorOrOfTheRead) {
  const std::string object(10, 'x');
  SpanSource source("object", as_bytes(object));
  std::vector<Wanted> wanted = {{{0, 1}, 0}, {{1, 1}, 1}};
  const auto runs = coalesce(wanted, 0, kAny);
  int visits = 0;
  const auto refused = read_runs(source, runs, wanted, [&](const Wanted&, std::span<const std::byte>) -> Result<void> {
    ++visits;
    return invalid_argument("enough");
  });
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(visits, 1);
  wanted = {{{8, 4}, 0}};
  const auto beyond = coalesce(wanted, 0, kAny);
  const auto short_read = read_runs(source, beyond, wanted, [](const auto&, auto) { return Result<void>(); });
  EXPECT_EQ(short_read.error().code(), ErrorCode::corrupt);
}

}  // namespace reader_test
}  // namespace sherd
