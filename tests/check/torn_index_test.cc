// Search for an index by its checksum alone: at every position, in any block, and only what is accepted.
#include "check/torn_index.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "base/checksum.hpp"
#include "store/span.hpp"

namespace sherd {
namespace torn_index_test {

using testing::ElementsAre;

std::string noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

std::string sealed(std::string bytes) {
  const std::uint32_t sum = crc32c(as_bytes(bytes));
  bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return bytes;
}

std::vector<std::uint64_t> found_in(const std::string& bytes, std::uint64_t index_bytes, std::uint64_t accepted = 0) {
  SpanSource source("", as_bytes(bytes));
  std::vector<std::uint64_t> seen;
  const auto accept = [&](std::uint64_t end) -> Result<bool> {
    seen.push_back(end);
    return end == accepted;
  };
  const auto found = find_last_index({source, bytes.size(), index_bytes}, accept).value();
  EXPECT_EQ(found.value_or(0), accepted);
  return seen;
}

TEST(TornIndex, IsFoundAtAnyPosition) {
  for (const std::size_t words : {5U, 16U, 68U, 1000U})
    for (const std::size_t before : {0U, 1U, 7U, 300U})
      for (const std::size_t after : {0U, 1U, 3U, 999U}) {
        const std::string index = sealed(noise(words, 1));
        const std::string bytes = noise(before, 2) + index + noise(after, 3);
        EXPECT_THAT(found_in(bytes, index.size(), before + index.size()), ElementsAre(before + index.size()));
      }
}

TEST(TornIndex, OfSeveralTheLastAcceptedOneCounts) {
  const std::string index = sealed(noise(64, 1));
  const std::string bytes = index + noise(10, 2) + index + noise(5, 3) + index + noise(1, 4);
  const std::uint64_t n = index.size();
  EXPECT_THAT(found_in(bytes, n, 3 * n + 15), ElementsAre(3 * n + 15));
  EXPECT_THAT(found_in(bytes, n, 2 * n + 10), ElementsAre(3 * n + 15, 2 * n + 10));
  EXPECT_THAT(found_in(bytes, n), ElementsAre(3 * n + 15, 2 * n + 10, n));
}

TEST(TornIndex, IsFoundAcrossTheBlocksThatAreRead) {
  const std::string index = sealed(noise(500, 1));
  constexpr std::size_t kBlock = std::size_t{4} << 20;
  for (const std::size_t after : {kBlock - 504, kBlock - 1, kBlock, kBlock + 1, kBlock + 503, kBlock + 504}) {
    const std::string bytes = noise(100, 2) + index + noise(after, 3);
    EXPECT_THAT(found_in(bytes, index.size(), 100 + index.size()), ElementsAre(100 + index.size())) << after;
  }
}

TEST(TornIndex, IsNotFoundInASmallerObject) {
  const std::string index = sealed(noise(64, 1));
  EXPECT_THAT(found_in(index.substr(1), index.size()), ElementsAre());
  EXPECT_THAT(found_in("", index.size()), ElementsAre());
}

TEST(WithHead, ReplacesOnlyTheFirstBytes) {
  SpanSource source("k", as_bytes("0123456789"));
  const std::string head = "abc";
  WithHead changed(source, as_bytes(head));
  std::string whole(10, ' '), part(3, ' '), rest(4, ' ');
  const RangeRead ranges[] = {{0, std::as_writable_bytes(std::span(whole))},
                              {2, std::as_writable_bytes(std::span(part))},
                              {5, std::as_writable_bytes(std::span(rest))}};
  changed.read(ranges).value();
  EXPECT_EQ(whole, "abc3456789");
  EXPECT_EQ(part, "c34");
  EXPECT_EQ(rest, "5678");
  EXPECT_EQ(changed.size().value(), 10U);
}

}  // namespace torn_index_test
}  // namespace sherd
