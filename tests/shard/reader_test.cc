// Extents joined to few reads, and their bytes handed out again.
#include "shard/reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "store/span.hpp"

namespace sherd {
namespace {

using testing::ElementsAre;

/// Runs as text: the extent, and the tags of what is wanted in it.
std::vector<std::string> joined(std::vector<Wanted> wanted, std::uint64_t gap, std::uint64_t max_run_bytes) {
  std::vector<std::string> lines;
  for (const Run& run : coalesce(wanted, gap, max_run_bytes)) {
    std::string line = std::to_string(run.extent.offset) + "+" + std::to_string(run.extent.length) + ":";
    for (std::size_t i = run.first; i < run.last; ++i) line += " " + std::to_string(wanted[i].tag);
    lines.push_back(line);
  }
  return lines;
}

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

TEST(Coalesce, JoinsExtentsThatTouchInTheOrderOfOffsets) {
  EXPECT_THAT(joined({{{20, 10}, 0}, {{0, 10}, 1}, {{10, 10}, 2}, {{31, 1}, 3}}, 0, kNoLimit),
              ElementsAre("0+30: 1 2 0", "31+1: 3"));
}

TEST(Coalesce, JoinsAcrossAGapNoLargerThanIsAllowed) {
  EXPECT_THAT(joined({{{0, 10}, 0}, {{15, 10}, 1}, {{31, 10}, 2}}, 5, kNoLimit), ElementsAre("0+25: 0 1", "31+10: 2"));
}

TEST(Coalesce, JoinsExtentsThatOverlapOrAreTheSame) {
  EXPECT_THAT(joined({{{0, 30}, 0}, {{5, 10}, 1}, {{25, 10}, 2}, {{0, 30}, 3}}, 0, kNoLimit),
              ElementsAre("0+35: 0 3 1 2"));
}

TEST(Coalesce, EndsARunAtItsLimitUnlessOneExtentIsLonger) {
  EXPECT_THAT(joined({{{0, 10}, 0}, {{10, 10}, 1}, {{20, 10}, 2}}, 0, 20), ElementsAre("0+20: 0 1", "20+10: 2"));
  EXPECT_THAT(joined({{{0, 50}, 0}, {{10, 10}, 1}, {{50, 10}, 2}}, 0, 20), ElementsAre("0+50: 0 1", "50+10: 2"));
}

TEST(Coalesce, OfNothingIsNothing) { EXPECT_THAT(joined({}, 100, kNoLimit), ElementsAre()); }

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
  const auto runs = coalesce(wanted, 0, kNoLimit);
  int visits = 0;
  const auto refused = read_runs(source, runs, wanted, [&](const Wanted&, std::span<const std::byte>) -> Result<void> {
    ++visits;
    return invalid_argument("enough");
  });
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(visits, 1);
  wanted = {{{8, 4}, 0}};
  const auto beyond = coalesce(wanted, 0, kNoLimit);
  const auto short_read = read_runs(source, beyond, wanted, [](const auto&, auto) { return Result<void>(); });
  EXPECT_EQ(short_read.error().code(), ErrorCode::corrupt);
}

}  // namespace
}  // namespace sherd
