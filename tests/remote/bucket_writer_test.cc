#include "remote/bucket_writer.hpp"

#include <gtest/gtest.h>

namespace sherd::remote {
namespace bucket_writer_test {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(ObjectPart, HasEqualSizesUpToTheThousandth) {
  for (const std::uint64_t number : {1U, 2U, 999U, 1000U}) {
    const ObjectPart part = part_at(number * 8 * kMiB - 1, 8 * kMiB).value();
    EXPECT_EQ(part.number, number);
    EXPECT_EQ(part.begin, (number - 1) * 8 * kMiB);
    EXPECT_EQ(part.size, 8 * kMiB);
  }
}

TEST(ObjectPart, NeedsNoMoreThanTenThousandForTheLargestObject) {
  const std::uint64_t largest = std::uint64_t{5} << 40;
  const ObjectPart last = part_at(largest - 1, 8 * kMiB).value();
  EXPECT_LE(last.number, 10'000U);
  EXPECT_LE(last.size, kMaxPart);
}

TEST(ObjectPart, FollowsTheOneBeforeWithoutGap) {
  std::uint64_t at = 0;
  for (unsigned number = 1; number <= 10'000; ++number) {
    const auto part = part_at(at, kMinPart).value();
    ASSERT_EQ(part.number, number);
    ASSERT_EQ(part.begin, at);
    at += part.size;
  }
  EXPECT_EQ(part_at(at, kMinPart).error().code(), ErrorCode::unsupported);
}

}  // namespace bucket_writer_test
}  // namespace sherd::remote
